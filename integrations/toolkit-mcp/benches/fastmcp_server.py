"""The tool of the benchmark in FastMCP."""

from fastmcp import FastMCP

server = FastMCP("bench")


@server.tool
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


server.run(show_banner=False)
