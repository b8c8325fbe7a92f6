"""The tool of the benchmark in FastMCP, over stdio, or over HTTP at the port of the first argument."""

import sys

from fastmcp import FastMCP

server = FastMCP("bench")


@server.tool
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


if len(sys.argv) > 1:
    server.run(
        transport="http",
        host="127.0.0.1",
        port=int(sys.argv[1]),
        path="/mcp",
        stateless_http=True,
        json_response=True,
        show_banner=False,
        log_level="error",
        uvicorn_config={"access_log": False},
    )
else:
    server.run(show_banner=False)
