#!/usr/bin/env bash
# Draws the pictures of the guide: each `NAME.dot` here becomes `NAME.svg`, with Graphviz as a package of npm, which draws
# the same everywhere. `--check` writes nothing, and fails if a picture is not that of its source.
set -euo pipefail
cd "$(dirname "$0")"

tools=${TMPDIR:-/tmp}/toolkit-pictures
version=3.31.0
if ! grep -qs "\"version\": \"$version\"" "$tools/node_modules/@viz-js/viz/package.json"; then
    mkdir -p "$tools"
    npm install --prefix "$tools" --no-audit --no-fund --silent "@viz-js/viz@$version"
fi
NODE_PATH="$tools/node_modules" node render.cjs "$@"
