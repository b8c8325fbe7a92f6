#!/usr/bin/env bash
# The matrix of the Model Context Protocol: client stacks against our server, and our client against published servers.
#
#     tests/full/mcp-matrix.sh [clients|servers] [NAME…]    everything, or the rows with these names
#     tests/full/mcp-matrix.sh --small                      two stacks and three servers, from lock files; CI runs this
#
# Rows that are measured are in the cache, `TOOLKIT_MCP_MATRIX`, and are not measured again: remove `results` and
# `client-results` there to begin anew. Needs Python 3 with `venv` and the registries of Python and npm.
#
# Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. integrations/toolkit-mcp/conformance/prepare.sh

matrix=integrations/toolkit-mcp/conformance/matrix
clients=integrations/toolkit-mcp/conformance/matrix/clients.py
servers=integrations/toolkit-mcp/conformance/matrix/servers.py
cargo build --quiet --workspace --all-features --example conformance_matrix
caller=${CARGO_TARGET_DIR:-$root/target}/debug/examples/conformance_matrix
MATRIX_NODE=$(command -v node)
export MATRIX_NODE MATRIX_NPM=$wheel/lib/node_modules/npm/bin/npm-cli.js

if [ "${1:-}" = --small ]; then
    cache=$tools/matrix
    locked=$cache/locked
    if ! cmp -s "$matrix/small/package-lock.json" "$locked/package-lock.json" ||
        ! cmp -s "$matrix/small/requirements.txt" "$locked/requirements.txt"; then
        rm -rf "$locked"
        mkdir -p "$locked"
        python3 -m venv "$locked/venv" >/dev/null || skip "no venv"
        "$locked/venv/bin/pip" install --quiet --no-deps --requirement "$matrix/small/requirements.txt" ||
            skip "the packages of Python cannot be installed"
        cp "$matrix/small/package.json" "$locked"
        cp "$matrix/small/package-lock.json" "$locked/package-lock.json"
        (cd "$locked" && node "$MATRIX_NPM" ci --silent --no-audit --no-fund --ignore-scripts) ||
            skip "the packages of npm cannot be installed"
        # The last file marks a complete installation.
        cp "$matrix/small/requirements.txt" "$locked"
    fi
    export MATRIX_LOCKED=$locked MATRIX_ALL=true
    rm -rf "$cache/results" "$cache/client-results"
    python=$locked/venv/bin/python
    "$python" "$clients" "$matrix/clients.json" "$server" "$cache" "Python SDK 2.3" "TypeScript SDK 1.32"
    "$python" "$servers" "$matrix/servers.json" "$caller" "$cache" everything memory time
    # A server that lists two tools instead of one, and an enum only to the witness: both must be found.
    both() {
        "$python" "$servers" "$matrix/planted.json" "$caller" "$cache" >"$cache/planted.log" 2>&1 && return
        # On one line, so that one pattern finds both.
        tr '\n' ' ' <"$cache/planted.log"
        return 1
    }
    planted "FAULT 1 tools, expected 2.*FAULT .* accepts\|FAULT .* accepts.*FAULT 1 tools, expected 2" both
    exit 0
fi

cache=${TOOLKIT_MCP_MATRIX:-/tmp/toolkit-mcp-matrix}
mkdir -p "$cache"
if [ ! -x "$cache/python/bin/uv" ]; then
    python3 -m venv "$cache/python"
    "$cache/python/bin/pip" install --quiet uv jsonschema==4.26.0 rstr==3.2.2
fi
target=${CARGO_TARGET_DIR:-$root/target}
cargo build --quiet --workspace --all-features --example conformance_rmcp
cargo build --quiet --locked --manifest-path "$here/earlier_rmcp/Cargo.toml" --target-dir "$target"
export MATRIX_UV=$cache/python/bin/uv UV_CACHE_DIR=$cache/uv
export MATRIX_RMCP_1=$target/debug/earlier_rmcp MATRIX_RMCP_3=$target/debug/examples/conformance_rmcp
side=${1:-all}
[ $# -eq 0 ] || shift
failed=0
if [ "$side" != servers ]; then
    "$cache/python/bin/python" "$clients" "$matrix/clients.json" "$server" "$cache" "$@" || failed=1
fi
if [ "$side" != clients ]; then
    "$cache/python/bin/python" "$servers" "$matrix/servers.json" "$caller" "$cache" "$@" || failed=1
fi
exit "$failed"
