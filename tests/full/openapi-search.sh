#!/usr/bin/env bash
# Asks the tool search for the operations of GitHub's document (npm `@octokit/openapi`) with fifty questions. Their author knew
# the service's documentation and not the names of the tools. At least 45 must find their operation among the first five.
# Fifty more in everyday words, which avoid those of the documentation, show how far a search by words reaches.
#
# `--small` asks a question of a small document, and a planted one that must find nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-target}
folder=$target/openapi-search
mkdir -p "$folder"
cargo build --quiet --workspace --all-features --example operation_search
search() { "$target/debug/examples/operation_search" "$@"; }

if [ "${1:-}" = --small ]; then
    own=integrations/toolkit-openapi/tests/documents/openapi-3.0.json
    cat >"$folder/small.json" <<'QUESTIONS'
[
  {"question": "Show me an order", "endpoint": "GET /orders/{id}"},
  {"question": "zzz qqq", "endpoint": "GET /orders/{id}"}
]
QUESTIONS
    search "$own" "$folder/small.json" | tee "$folder/small.txt"
    grep -q '^1 of 2 ' "$folder/small.txt" || { echo "openapi search: one question must be found, the planted one not"; exit 1; }
    exit 0
fi
npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts @octokit/openapi@23.0.2 >"$folder/install.log"
document=$folder/node_modules/@octokit/openapi/generated/api.github.com.json
search "$document" tests/full/openapi-search-everyday.json
search "$document" tests/full/openapi-search.json | tee "$folder/found.txt"
found=$(sed -n 's/^\([0-9]*\) of .*/\1/p' "$folder/found.txt")
[ "$found" -ge 45 ] || { echo "openapi search: only $found questions find their operation"; exit 1; }
