#!/usr/bin/env bash
# Starts servers on earlier and current SDKs with the default settings of the client, and calls their tools: at once, and
# after a pause in which the client already sends both of its first requests. Prints a table.
#
# Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. integrations/toolkit-mcp/conformance/prepare.sh

log=$tools/starts.log
failed=0
# The client waits for two seconds before its second request.
pause=4

target=${CARGO_TARGET_DIR:-$root/target}
cargo build --quiet --locked --manifest-path "$here/earlier_rmcp/Cargo.toml" --target-dir "$target" ||
    skip "the server on rmcp 1.8 cannot be built"
if [ ! -d "$tools/python-mcp-1/mcp" ]; then
    "$tools/python/bin/pip" install --quiet --target "$tools/python-mcp-1" mcp==1.30.0 ||
        skip "the Python SDK 1 cannot be installed"
fi
if [ ! -d "$tools/npm-sdk-1/node_modules/@modelcontextprotocol/sdk" ]; then
    mkdir -p "$tools/npm-sdk-1"
    (cd "$tools/npm-sdk-1" && node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --silent --no-audit --no-fund \
        @modelcontextprotocol/sdk@1.32.2) || skip "the TypeScript SDK 1 cannot be installed"
fi
cat >"$tools/python-mcp-1/greeter.py" <<'PYTHON'
from mcp.server.fastmcp import FastMCP

server = FastMCP("greeter")

@server.tool()
def greet() -> str:
    return "hello"

server.run()
PYTHON
cat >"$tools/npm-sdk-1/greeter.mjs" <<'JAVASCRIPT'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "greeter", version: "1" });
server.registerTool("greet", { description: "Greets." }, async () => ({ content: [{ type: "text", text: "hello" }] }));
await server.connect(new StdioServerTransport());
JAVASCRIPT

# starts NAME PROTOCOL TOOL ARGUMENT…: starts a server, at once and slowly, and looks for the protocol and a called tool.
starts() {
    local name=$1 protocol=$2 tool=$3 seconds
    shift 3
    for seconds in 0 "$pause"; do
        timeout 60 "$client" stdio bash -c "sleep $seconds; exec \"\$@\"" - "$@" >"$log" 2>&1 || true
        if grep -q ", protocol $protocol\$" "$log" && grep -q "^$tool {.*}: [^F]" "$log"; then
            printf '%-40s passed: protocol %s\n' "$name, after $seconds s" "$protocol"
        else
            printf '%-40s FAILED\n' "$name, after $seconds s"
            cat "$log"
            failed=1
        fi
    done
}

starts "rmcp 1.8" 2025-11-25 greet "$target/debug/earlier_rmcp"
starts "Python SDK 1.30" 2025-11-25 greet env "PYTHONPATH=$tools/python-mcp-1" "$tools/python/bin/python" \
    "$tools/python-mcp-1/greeter.py"
starts "TypeScript SDK 1.32" 2025-11-25 greet "$(command -v node)" "$tools/npm-sdk-1/greeter.mjs"
starts "FastMCP 4.1" 2026-07-28 add "$tools/python/bin/python" "$here/fastmcp_server.py"
starts "this crate" 2026-07-28 test_simple_text "$server"
exit "$failed"
