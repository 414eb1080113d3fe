//! The server of the interop table on tower-mcp (Rust). `stdio`, or a port for HTTP.
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tower_mcp::{
    BoxError, CallToolResult, HttpTransport, McpRouter, StdioTransport, TaskContext, TaskOutcome, ToolBuilder,
    protocol::{InputRequest, InputRequests},
    schemars::JsonSchema,
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Crunch {
    seconds: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

fn question() -> InputRequests {
    let request: InputRequest = serde_json::from_value(json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Deploy?",
            "requestedSchema": {
                "type": "object",
                "properties": {"approve": {"type": "boolean"}},
                "required": ["approve"]
            }
        }
    }))
    .expect("a form elicitation");
    let mut requests = InputRequests::default();
    requests.insert("approve".into(), request);
    requests
}

fn router() -> McpRouter {
    let echo = ToolBuilder::new("echo")
        .description("Answers at once")
        .handler(|input: Echo| async move { Ok(CallToolResult::text(input.text)) })
        .build();
    let crunch = ToolBuilder::new("crunch")
        .description("Works for a while")
        .live_task_handler(|task: TaskContext, input: Crunch| async move {
            task.working("crunching").await?;
            tokio::select! {
                () = task.cancelled() => Ok(TaskOutcome::Cancelled { message: None }),
                () = tokio::time::sleep(Duration::from_secs_f64(input.seconds)) => {
                    Ok(TaskOutcome::Completed(CallToolResult::text(format!("crunched {}", input.seconds))))
                }
            }
        })
        .build();
    let deploy = ToolBuilder::new("deploy")
        .description("Asks first")
        .live_task_handler(|task: TaskContext, _input: Nothing| async move {
            let answers = task.require_input(question()).await?;
            let told = serde_json::to_string(&answers).unwrap_or_default();
            Ok(TaskOutcome::Completed(CallToolResult::text(format!("answered {told}"))))
        })
        .build();
    McpRouter::new()
        .server_info("interop-tower-mcp", "0.0.0")
        .tool(echo)
        .tool(crunch)
        .tool(deploy)
        .with_tasks()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "stdio".into());
    if port == "stdio" {
        StdioTransport::new(router()).run().await?;
        return Ok(());
    }
    println!("listening");
    HttpTransport::new(router()).serve(&format!("127.0.0.1:{port}")).await?;
    Ok(())
}
