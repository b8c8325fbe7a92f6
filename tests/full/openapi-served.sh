#!/usr/bin/env bash
# The document of a served registry, read by programs that know nothing of this library: validators check it, and clients
# that generators have made from it call its operations. A planted fault must be found.
#
#     tests/full/openapi-served.sh            all validators and generators
#     tests/full/openapi-served.sh --small    those of Python; CI runs this
#
# Needs Python 3 with `venv` and the registry of Python, and in full Node, `npm` and its registry. The packages are in
# `TOOLKIT_OPENAPI_TOOLS`, or else in the folder `target`.
#
# Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

size=${1:-}
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=${TOOLKIT_OPENAPI_TOOLS:-$target/openapi-tools}
work=$(mktemp -d)

if [ ! -e "$tools/python/complete" ]; then
    rm -rf "$tools/python"
    mkdir -p "$tools"
    { command -v python3 && python3 -m venv "$tools/python"; } >/dev/null || skip "no python3 with venv"
    "$tools/python/bin/pip" install --quiet openapi-spec-validator==0.9.0 openapi-python-client==0.29.1 ||
        skip "the packages of Python cannot be installed"
    touch "$tools/python/complete"
fi
python=$tools/python/bin/python

cargo build --quiet --workspace --all-features --example openapi_server
# The server ends with its standard input, which is the pipe at descriptor 3.
mkfifo "$work/stdin"
TOKEN=secret "$target/debug/examples/openapi_server" 127.0.0.1:0 <"$work/stdin" >"$work/url" &
exec 3>"$work/stdin"
trap 'exec 3>&-; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -s "$work/url" ] && break || sleep 0.1; done
url=$(cat "$work/url")
export URL=${url%/}

"$python" - "$work/openapi.json" <<'PYTHON'
import os, sys, urllib.request

request = urllib.request.Request(os.environ["URL"] + "/openapi.json", headers={"authorization": "Bearer secret"})
with urllib.request.urlopen(request) as answer, open(sys.argv[1], "wb") as file:
    file.write(answer.read())
PYTHON

validate() { "$python" -m openapi_spec_validator "$1" >"$work/log" 2>&1; }

# Makes a client from the document $1 in the folder $2, and calls all operations.
generate_and_call() {
    "$tools/python/bin/openapi-python-client" generate --path "$1" --output-path "$work/$2" --meta none \
        >"$work/log" 2>&1 || return 1
    (cd "$work" && "$python" - "$2" >"$work/log" 2>&1) <<'PYTHON'
import importlib, os, sys

package = sys.argv[1]
load = lambda name: importlib.import_module(f"{package}.{name}")
models = load("models")
client = load("client").AuthenticatedClient(base_url=os.environ["URL"], token="secret")
call = lambda tool, **arguments: load(f"api.default.{tool}").sync_detailed(client=client, **arguments)

answer = call("add", body=models.AddArguments(a=1, b=2))
assert (answer.status_code, answer.parsed) == (200, 3), answer
answer = call("weather", body=models.WeatherArguments(city="Zürich"))
assert answer.parsed == models.WeatherResult(city="Zürich", degrees=21.5), answer
folder = models.NamesArguments.from_dict(
    {"folder": {"name": "a", "folders": [{"name": "b", "folders": []}, {"name": "c", "folders": []}]}}
)
answer = call("names", body=folder)
assert answer.content == b"a b c", answer
answer = call("add", body=models.AddArguments(a=1, b=11))
assert (answer.status_code, answer.parsed.kind, answer.parsed.errors[0].path) == (422, "invalid_arguments", "b"), answer
answer = call("delete_notes")
assert (answer.status_code, answer.parsed.kind) == (403, "denied"), answer
client = load("client").AuthenticatedClient(base_url=os.environ["URL"], token="wrong")
answer = call("delete_notes")
assert (answer.status_code, answer.parsed.status) == (401, 401), answer
PYTHON
}

passed() { echo "ok: $1"; }
failed() {
    echo "FAILED: $1" >&2
    cat "$work/log" >&2
    exit 1
}

validate "$work/openapi.json" && passed "openapi-spec-validator accepts the document" || failed "openapi-spec-validator"
generate_and_call "$work/openapi.json" made && passed "a client of openapi-python-client calls all operations" ||
    failed "openapi-python-client"

# Planted faults: a type that does not exist, and a path that is not served.
sed 's/"type":"integer"/"type":"number of sheep"/' "$work/openapi.json" >"$work/type.json"
sed 's#"/tools/add"#"/tools/ad"#' "$work/openapi.json" >"$work/path.json"
! validate "$work/type.json" && passed "a planted type is refused" || failed "a planted type is accepted"
! generate_and_call "$work/path.json" planted && passed "a planted path is not served" || failed "a planted path is served"
[ "$size" != --small ] || exit 0

command -v npm >/dev/null || skip "no npm"
if [ ! -e "$tools/npm/complete" ]; then
    rm -rf "$tools/npm"
    mkdir -p "$tools/npm"
    (cd "$tools/npm" && npm install --silent --no-audit --no-fund @redocly/cli@2.77.0 \
        @hey-api/openapi-ts@0.99.0 typescript@5.9.3 tsx@4.23.15) ||
        skip "the packages of npm cannot be installed"
    touch "$tools/npm/complete"
fi
bin=$tools/npm/node_modules/.bin
"$bin/redocly" lint --extends=spec "$work/openapi.json" >"$work/log" 2>&1 && passed "redocly accepts the document" ||
    failed "redocly"
! "$bin/redocly" lint --extends=spec "$work/type.json" >"$work/log" 2>&1 && passed "redocly refuses a planted type" ||
    failed "redocly accepts a planted type"
(cd "$tools/npm" && "$bin/openapi-ts" --input "$work/openapi.json" --output "$work/typescript" >"$work/log" 2>&1) ||
    failed "openapi-ts makes no client"
cat >"$work/call.ts" <<'TYPESCRIPT'
import assert from "node:assert";
import { client } from "./typescript/client.gen";
import { add, deleteNotes, names, weather } from "./typescript";

client.setConfig({ baseUrl: process.env.URL, auth: "secret" });
assert.strictEqual((await add({ body: { a: 1, b: 2 } })).data, 3);
assert.deepStrictEqual((await weather({ body: { city: "Zürich" } })).data, { city: "Zürich", degrees: 21.5 });
const folder = { name: "a", folders: [{ name: "b", folders: [] }, { name: "c", folders: [] }] };
assert.strictEqual((await names({ body: { folder } })).data, "a b c");
const invalid = await add({ body: { a: 1, b: 11 } });
assert.strictEqual(invalid.response.status, 422);
assert.strictEqual(invalid.error?.errors?.[0]?.path, "b");
assert.strictEqual((await deleteNotes()).response.status, 403);
const events = await fetch(`${process.env.URL}/tools/weather`, {
    method: "POST",
    headers: { accept: "text/event-stream", authorization: "Bearer secret", "content-type": "application/json" },
    body: JSON.stringify({ city: "Rome" }),
});
const kinds = (await events.text()).split("\n").filter((line) => line.startsWith("event: "));
assert.deepStrictEqual(kinds, [...Array(4).fill("event: progress"), "event: result"]);
TYPESCRIPT
echo '{"type": "module"}' >"$work/package.json"
"$bin/tsx" "$work/call.ts" >"$work/log" 2>&1 && passed "a client of openapi-ts calls all operations" ||
    failed "a client of openapi-ts"
