"""The server of the interop table on the official Python SDK 1.x with its experimental tasks (2025-11-25)."""

import contextlib
import sys

import anyio
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

server = Server("interop-python-sdk")
server.experimental.enable_tasks()

FORM = {"type": "object", "properties": {"approve": {"type": "boolean"}}, "required": ["approve"]}


def text(value: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=value)])


def tool(name: str, support: str, properties: dict) -> types.Tool:
    return types.Tool(
        name=name,
        inputSchema={"type": "object", "properties": properties},
        execution=types.ToolExecution(taskSupport=support),
    )


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        tool("echo", "forbidden", {"text": {"type": "string"}}),
        tool("crunch", "required", {"seconds": {"type": "number"}}),
        tool("deploy", "required", {}),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "echo":
        return text(arguments["text"])
    context = server.request_context
    context.experimental.validate_task_mode(types.TASK_REQUIRED)

    async def crunch(task) -> types.CallToolResult:
        await task.update_status("crunching")
        await anyio.sleep(arguments["seconds"])
        return text(f"crunched {arguments['seconds']}")

    async def deploy(task) -> types.CallToolResult:
        answer = await task.elicit(message="Deploy?", requestedSchema=FORM)
        return text(f"answered {answer.action} {answer.content}")

    return await context.experimental.run_task(crunch if name == "crunch" else deploy)


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(port: int) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Mount

    manager = StreamableHTTPSessionManager(app=server)

    @contextlib.asynccontextmanager
    async def lifespan(_app):
        async with manager.run():
            yield

    app = Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(over_stdio)
    else:
        over_http(int(sys.argv[1]))
