#!/usr/bin/env bash
# The requests of the OpenAPI client, compared with those of FastMCP for GitHub's whole document, and checked by Prism.
# With `--small`: 20 operations with all styles, compared with recorded requests of FastMCP, without npm and pip; and a
# fault in the document that must be found. Without it, `--record` writes these recorded requests again.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

work=$(mktemp -d)
mock=
trap '[ -z "$mock" ] || kill "$mock" 2>/dev/null; rm -rf "$work"' EXIT

cargo build --quiet --workspace --all-features --example openapi_calls
target=$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
check=(tests/full/openapi_requests.py --driver "$target/debug/examples/openapi_calls")
small=(--document tests/full/openapi-small.json)
facts=tests/full/openapi-small.requests.json

if [ "${1:-}" = --small ]; then
    python3 "${check[@]}" "${small[@]}" --facts "$facts" --least 20
    planted "^FAULT queryJoined: {'query'" python3 "${check[@]}" "${small[@]}" --facts "$facts" --plant
    exit
fi

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet fastmcp
python="$work/venv/bin/python"
"$python" "${check[@]}" "${small[@]}" --fastmcp --least 20 ${1:+--record "$facts"}

npm install --silent --prefix "$work" @octokit/openapi @stoplight/prism-cli
document="$work/node_modules/@octokit/openapi/generated/api.github.com.json"
"$python" "${check[@]}" --document "$document" --fastmcp --least 1000

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/node_modules/.bin/prism" mock -h 127.0.0.1 -p "$port" "$document" >"$work/prism.log" 2>&1 &
mock=$!
for _ in $(seq 120); do
    ! grep -q "is listening" "$work/prism.log" || break
    sleep 1
done
"$python" "${check[@]}" --document "$document" --mock "http://127.0.0.1:$port" --mock-log "$work/prism.log" --least 1000
