"""The server of the interop table on FastMCP with fastmcp-tasks. Argument: stdio, or a port for HTTP at /mcp."""

import asyncio
import sys

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

mcp = FastMCP("interop-fastmcp")
mcp.add_extension(TasksExtension())


@mcp.tool
async def echo(text: str) -> str:
    return text


@mcp.tool(task=TaskConfig(mode="required"))
async def crunch(seconds: float, ctx: Context) -> str:
    await ctx.report_progress(1, 2)
    await asyncio.sleep(seconds)
    return f"crunched {seconds}"


@mcp.tool(task=True)
async def crunch_optional(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return f"crunched {seconds}"


@mcp.tool(task=True)
async def broken() -> str:
    await asyncio.sleep(0.2)
    raise ValueError("no good")


def question() -> mcp_types.InputRequiredResult:
    schema = {"type": "object", "properties": {"approve": {"type": "boolean"}}, "required": ["approve"]}
    params = mcp_types.ElicitRequestFormParams(message="Deploy?", requested_schema=schema)
    return mcp_types.InputRequiredResult(
        input_requests={"approve": mcp_types.ElicitRequest(params=params)}, request_state="state-1"
    )


@mcp.tool(task=True)
async def deploy(ctx: Context) -> str:
    if not ctx.input_responses:
        return question()
    return f"answered {ctx.input_responses}"


@mcp.tool
async def deploy_now(ctx: Context) -> str:
    if not ctx.input_responses:
        return question()
    return f"answered {ctx.input_responses}"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        mcp.run(transport="stdio", show_banner=False)
    else:
        mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
