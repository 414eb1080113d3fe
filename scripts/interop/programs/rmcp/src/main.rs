//! The server of the interop table on the official Rust SDK. `stdio`, or a port for HTTP at /mcp.
use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, RoleServer},
    task_manager::{TaskExit, TaskManager, TaskOptions},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};

#[derive(Clone)]
struct Server {
    tasks: TaskManager,
}

fn text(value: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(value.into())])
}

fn question() -> InputRequest {
    serde_json::from_value(json!({
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
    .expect("a form elicitation")
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
            .with_server_info(Implementation::new("interop-rmcp", "0.0.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = |properties: Value| -> Arc<JsonObject> {
            Arc::new(
                json!({"type": "object", "properties": properties})
                    .as_object()
                    .cloned()
                    .unwrap_or_default(),
            )
        };
        let tools = vec![
            Tool::new("echo", "Answers at once", schema(json!({"text": {"type": "string"}}))),
            Tool::new("crunch", "Works for a while", schema(json!({"seconds": {"type": "number"}}))),
            Tool::new("deploy", "Asks first", schema(json!({}))),
        ];
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let speaks_tasks = context.client_capabilities().is_some_and(|caps| caps.supports_tasks());
        match request.name.as_ref() {
            "echo" => {
                let said = arguments["text"].as_str().unwrap_or("").to_owned();
                Ok(CallToolResponse::Complete(text(said)))
            }
            _ if !speaks_tasks => Ok(CallToolResponse::Complete(text("without a task"))),
            "crunch" => {
                let seconds = arguments["seconds"].as_f64().unwrap_or(1.0);
                let options = TaskOptions::new().with_poll_interval_ms(250);
                let task = self.tasks.spawn(options, move |context| {
                    Box::pin(async move {
                        context.set_status_message("crunching");
                        tokio::select! {
                            () = context.cancelled() => Err(TaskExit::Cancelled),
                            () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => {
                                Ok(text(format!("crunched {seconds}")))
                            }
                        }
                    })
                });
                Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
            }
            "deploy" => {
                let options = TaskOptions::new().with_poll_interval_ms(250);
                let task = self.tasks.spawn(options, move |context| {
                    Box::pin(async move {
                        let answer = context.request_input("approve", question()).await?;
                        Ok(text(format!("answered {answer}")))
                    })
                });
                Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
            }
            _ => Err(ErrorData::invalid_params("no such tool", None)),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server { tasks: TaskManager::new() };
    let port = std::env::args().nth(1).unwrap_or_else(|| "stdio".into());
    if port == "stdio" {
        server.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(server.clone()),
        Default::default(),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("listening");
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
