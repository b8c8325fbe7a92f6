#!/usr/bin/env bash
# Lists and calls the tools of the conformance server with other clients: the MCP inspector and FastMCP.
#
# Names the missing part and stops if it cannot run: with a fault where CI is `true`.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. integrations/toolkit-mcp/conformance/prepare.sh
start_server

inspect() { node "$tools/npm/node_modules/.bin/mcp-inspector" --cli "$@"; }
check() {
    # Not `grep -q`: that would close the pipe early, and the client would fail.
    if grep -- "$2" >/dev/null; then echo "ok: $1"; else echo "FAILED: $1" >&2 && exit 1; fi
}

inspect "$url" --transport http --method tools/list | check "the inspector lists over HTTP" test_simple_text
inspect "$url" --transport http --method tools/call --tool-name test_simple_text |
    check "the inspector calls over HTTP" "simple text response"
inspect "$server" --method tools/list | check "the inspector lists over stdio" test_simple_text
inspect "$server" --method tools/call --tool-name test_custom_header --tool-arg region=north |
    check "the inspector calls over stdio" north
"$tools/python/bin/fastmcp" list "$url" | check "FastMCP lists over HTTP" test_simple_text
"$tools/python/bin/fastmcp" call "$url" test_simple_text | check "FastMCP calls over HTTP" "simple text response"
"$tools/python/bin/python" - "$server" <<'PYTHON' | check "FastMCP calls every plain tool over stdio" "13 tools called"
import asyncio, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main():
    reports = []
    async def progress(done, total, message):
        reports.append(done)
    async def elicit(message, response_type, params, context):
        return {"username": "a", "email": "b"}
    async with Client(StdioTransport(sys.argv[1], []), elicitation_handler=elicit) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        called = 0
        for name in sorted(tools):
            if "input_required" in name or name in ("test_sampling", "test_missing_capability", "test_trigger_tool_change"):
                continue
            arguments = {"test_custom_header": {"region": "north"}, "test_elicitation": {"message": "?"}}.get(name, {})
            if name in ("test_streaming_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"):
                continue
            result = await client.call_tool(name, arguments, raise_on_error=False, progress_handler=progress)
            assert result.is_error == (name == "test_error_handling"), (name, result)
            called += 1
        assert reports == [0, 50, 100], reports
        print(called, "tools called")

asyncio.run(main())
PYTHON
