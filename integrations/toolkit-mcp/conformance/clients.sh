#!/usr/bin/env bash
# Runs the client: against `server-everything` and FastMCP, whose tools it calls one by one, and in all client scenarios
# of the official conformance suite, with both versions of the protocol. Prints a table.
#
# Fails if a tool that FastMCP's client lists was not called, if a call fails or succeeds unexpectedly, or if a scenario
# fails that `expected-client.yml` does not name with a reason.
#
# Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. integrations/toolkit-mcp/conformance/prepare.sh

suite=$modules/conformance/dist/index.js
everything=$modules/server-everything/dist/index.js
python=$tools/python/bin/python
peer=$root/integrations/toolkit-mcp/conformance/fastmcp_server.py
log=$tools/client.log
failed=0
row() { printf '%-62s %s\n' "$1" "$2"; }

# listed ARGUMENT…: prints the names of a server's tools in one line, as another client lists them.
listed() {
    timeout 120 "$python" - "$@" 2>>"$log" <<'PYTHON'
import asyncio, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

# Some servers list tools that ask only for clients that can ask.
async def elicit(message, response_type, params, context):
    return None

async def main():
    server = StdioTransport(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "stdio" else sys.argv[1]
    async with Client(server, elicitation_handler=elicit) as client:
        print(*sorted(tool.name for tool in await client.list_tools()))

asyncio.run(main())
PYTHON
}

# calls NAME EXPECTED LEFT_OUT ARGUMENT…: calls every tool that the server lists, except LEFT_OUT, which run only as tasks;
# EXPECTED lists the tools that must fail.
calls() {
    local name=$1 expected=$2 left_out=$3 found called tools
    shift 3
    timeout 120 "$client" "$@" >"$log" 2>&1 || true
    found=$(sed -n 's/^\([^ ]*\) .*: FAILED: .*/\1/p' "$log" | LC_ALL=C sort | tr '\n' ' ')
    called=$(sed -n 's/^\([A-Za-z_-]*\) {.*}: .*/\1/p' "$log" | LC_ALL=C sort | tr '\n' ' ')
    tools=$(listed "$@" | tr ' ' '\n' | grep -vxF -- "$left_out" | tr '\n' ' ')
    if [ "$called" != "$tools" ] || [ "$called" = " " ]; then
        row "$name" "FAILED: called \`$called\`, but the server lists \`$tools\`"
    elif [ "$found" != "$expected" ]; then
        row "$name" "FAILED: failing tools \`$found\`, expected \`$expected\`"
    else
        row "$name" "passed: $(wc -w <<<"$called") tools listed and called"
        return
    fi
    cat "$log"
    failed=1
}

# served PORT COMMAND ARGUMENT…: starts a server, and waits until it accepts connections.
served() {
    local port=$1
    shift
    PORT=$port "$@" >/dev/null 2>&1 &
    served_pid=$!
    trap 'kill "$served_pid" 2>/dev/null || true' EXIT
    for _ in $(seq 100); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
        sleep 0.2
    done
}

# One tool fetches from the network, which tests do not have. Another can only be called as a task, which is an
# extension of the protocol.
refused="gzip-file-as-resource "
task=simulate-research-query
calls "server-everything, child process" "$refused" "$task" stdio node "$everything" stdio
served 8137 node "$everything" streamableHttp
calls "server-everything, HTTP" "$refused" "$task" http://127.0.0.1:8137/mcp
kill "$served_pid"
calls "FastMCP, child process" "fail " none stdio "$python" "$peer"
served 8138 "$python" "$peer" --http 8138
calls "FastMCP, HTTP" "fail " none http://127.0.0.1:8138/mcp
kill "$served_pid"
bench=$root/integrations/toolkit-mcp/benches/fastmcp_server.py
calls "FastMCP of the benchmark, child process" "" none stdio "$python" "$bench"
served 8139 "$python" "$bench" 8139
calls "FastMCP of the benchmark, HTTP" "" none http://127.0.0.1:8139/mcp
kill "$served_pid"

# scenarios NAME OPTION…: prints the scenarios for clients with these options of the suite.
scenarios() { node "$suite" list --client "$@" | sed -n 's/^  - \([^ ]*\).*/\1/p'; }

# check NAME SCENARIO OPTION…: runs a scenario.
check() {
    local name=$1 scenario=$2 passed failing
    shift 2
    if ! timeout 90 node "$suite" client --command "$client" --scenario "$scenario" "$@" \
        --expected-failures "$here/expected-client.yml" >"$log" 2>&1; then
        row "$name $scenario" "FAILED"
        cat "$log"
        failed=1
        return
    fi
    passed=$(sed -n 's/^Passed: \([0-9]*\)\/.*/\1/p' "$log") failing=$(sed -n 's/^Passed: [^,]*, \([0-9]*\) failed.*/\1/p' "$log")
    case $passed/$failing in
    0/0) row "$name $scenario" "passed: nothing to check" ;;
    */0) row "$name $scenario" "passed: $passed checks" ;;
    *) expected=$((expected + 1)) ;;
    esac
}

expected=0
for version in 2025-11-25 2026-07-28; do
    for scenario in $(scenarios --spec-version "$version"); do
        check "conformance $version" "$scenario" --spec-version "$version"
    done
done
for scenario in $(node "$suite" list --client | sed -n 's/^  - \([^ ]*\) \[extension\]$/\1/p'); do
    check "conformance extension" "$scenario"
done
row "conformance, named in expected-client.yml" "$expected scenarios failed as expected"
exit "$failed"
