#!/usr/bin/env bash
# Runs the official conformance suite against a server whose tools are `#[tool]` functions, with both versions of the
# protocol, and prints a table. Fails if a scenario fails unexpectedly, or passes unexpectedly.
#
# Names the missing part and fails if it cannot run.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. integrations/toolkit-mcp/conformance/prepare.sh
start_server

failed=0
for version in 2025-11-25 2026-07-28; do
    log=$tools/conformance-$version.log
    if ! node "$tools/npm/node_modules/.bin/conformance" server --url "$url" --suite all --spec-version "$version" \
        --expected-failures "$here/expected-$version.yml" >"$log" 2>&1; then
        failed=1
    fi
    printf '\n%s\n' "$version"
    sed -n 's/^\([✓✗~]\) \([a-z0-9-]*\): \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \3 \4 \2/p' "$log" |
        awk '{ printf "  %s %3d passed %2d failed  %s\n", $1, $2, $3, $4 }'
    grep -E '^Total:|[Uu]nexpected|[Ss]tale' "$log" || true
done
exit "$failed"
