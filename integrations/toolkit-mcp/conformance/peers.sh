#!/usr/bin/env bash
# Lists and calls the tools of the conformance server with other clients: the MCP inspector and FastMCP.
#
# Names the missing part and fails if it cannot run.
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
"$tools/python/bin/python" - "$server" <<'PYTHON' | check "FastMCP calls every tool over stdio" "all tools called"
import asyncio, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

# The tools that are not called, with the reason.
SAMPLING = "it asks for a model, which this client does not offer"
FORM = "its form has fields that FastMCP's client cannot fill in"
ROUNDS = "it asks with `input_required`, which FastMCP's client does not know"
EXCLUDED = {
    "test_sampling": SAMPLING,
    "test_missing_capability": SAMPLING,
    "test_trigger_tool_change": "it changes the list of tools, which is then no longer the list that was read",
    "test_streaming_elicitation": FORM,
    "test_elicitation_sep1034_defaults": FORM,
    "test_elicitation_sep1330_enums": FORM,
}

async def main():
    reports = []
    async def progress(done, total, message):
        reports.append(done)
    async def elicit(message, response_type, params, context):
        return {"username": "a", "email": "b"}
    async with Client(StdioTransport(sys.argv[1], []), elicitation_handler=elicit) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        called, excluded = set(), {name for name in tools if name in EXCLUDED or "input_required" in name}
        for name in sorted(tools.keys() - excluded):
            arguments = {
                "test_custom_header": {"region": "north"},
                "test_elicitation": {"message": "?"},
                "json_schema_2020_12_tool": {"phone": "1", "email": "a@example.com"},
            }.get(name, {})
            result = await client.call_tool(name, arguments, raise_on_error=False, progress_handler=progress)
            assert result.is_error == (name == "test_error_handling"), (name, result)
            called.add(name)
        for name in sorted(excluded):
            print("not called:", name, "because", EXCLUDED.get(name, ROUNDS))
        assert EXCLUDED.keys() <= tools.keys(), EXCLUDED.keys() - tools.keys()
        assert called | excluded == tools.keys() and len(called) >= 13, (called, excluded)
        assert reports == [0, 50, 100], reports
        print("all tools called:", *sorted(called))

asyncio.run(main())
PYTHON
