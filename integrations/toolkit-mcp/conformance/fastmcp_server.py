"""A server with the Python framework `fastmcp`, as a peer for the client. `--http PORT` serves HTTP."""

import sys
from enum import Enum

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image
from pydantic import BaseModel, Field

mcp = FastMCP("peer")


class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"


class Place(BaseModel):
    city: str = Field(min_length=2)
    country: str = "NO"


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool(annotations={"readOnlyHint": True})
def weather(place: Place, unit: Unit = Unit.C) -> dict[str, str]:
    """The weather at a place."""
    return {"place": f"{place.city}, {place.country}", "unit": unit.value}


@mcp.tool
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG\r\n\x1a\n", format="png")


@mcp.tool
async def count(to: int, context: Context) -> str:
    """Counts with progress."""
    for number in range(to):
        await context.report_progress(number + 1, to)
    return "counted"


@mcp.tool
def fail() -> str:
    """Fails."""
    raise ToolError("the shop is closed")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--http":
        mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
    else:
        mcp.run(show_banner=False)
