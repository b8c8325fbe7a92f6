#!/usr/bin/env bash
# Runs the client: against `server-everything` and FastMCP, whose tools it lists and
# calls one by one, and in the client scenarios of the official conformance suite, with both versions of the protocol.
# Prints a table.
#
# Names the missing part and stops if it cannot run: with a fault where CI is `true`.
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

# calls NAME EXPECTED ARGUMENT…: calls every tool; EXPECTED lists the tools that must fail.
calls() {
    local name=$1 expected=$2 found called
    shift 2
    timeout 120 "$client" "$@" >"$log" 2>&1 || true
    found=$(sed -n 's/^\([^ ]*\) .*: FAILED: .*/\1/p' "$log" | sort | tr '\n' ' ')
    called=$(grep -c '^[A-Za-z_-]* {.*}: ' "$log" || true)
    if [ "$found" = "$expected" ] && [ "$called" -gt 0 ]; then
        row "$name" "passed: $called tools called"
    else
        row "$name" "FAILED: failing tools \`$found\`, expected \`$expected\`"
        cat "$log"
        failed=1
    fi
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
refused="gzip-file-as-resource simulate-research-query "
calls "server-everything, child process" "$refused" stdio node "$everything" stdio
served 8137 node "$everything" streamableHttp
calls "server-everything, HTTP" "$refused" http://127.0.0.1:8137/mcp
kill "$served_pid"
calls "FastMCP, child process" "fail " stdio "$python" "$peer"
served 8138 "$python" "$peer" --http 8138
calls "FastMCP, HTTP" "fail " http://127.0.0.1:8138/mcp
kill "$served_pid"

# The scenarios `auth/…` drive the OAuth flow of a browser; a token source of the program does that. The scenarios
# `sep-2640…` are an extension for skills.
scenarios="initialize tools_call elicitation-sep1034-client-defaults sse-retry request-metadata
    sep-2322-client-request-state http-standard-headers http-custom-headers http-invalid-tool-headers
    json-schema-ref-no-deref json-schema-2020-12-preservation"
for version in 2025-11-25 2026-07-28; do
    for scenario in $scenarios; do
        if timeout 90 node "$suite" client --command "$client" --scenario "$scenario" --spec-version "$version" \
            >"$log" 2>&1; then
            # Some scenarios are for one version only.
            grep '^SKIPPED: ' "$log" >/dev/null && continue
            row "conformance $version $scenario" "passed: $(sed -n 's/^Passed: \([^,]*\),.*/\1/p' "$log") checks"
        else
            row "conformance $version $scenario" "FAILED"
            cat "$log"
            failed=1
        fi
    done
done
exit "$failed"
