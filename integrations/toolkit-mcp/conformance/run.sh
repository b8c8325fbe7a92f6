#!/usr/bin/env bash
# Runs the official conformance suite against a server whose tools are `#[tool]` functions, with both versions of the
# protocol and with each extension, and prints a table. Fails if a scenario fails unexpectedly, or passes unexpectedly.
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

# `--suite all` leaves out the scenarios of extensions, so each of them runs by its name.
printf '\nextensions\n'
suite=$modules/conformance/dist/index.js
for scenario in $(node "$suite" list --server | sed -n 's/^  - \([^ ]*\) \[extension\]$/\1/p'); do
    log=$tools/conformance-$scenario.log
    is_expected=1
    node "$suite" server --url "$url" --scenario "$scenario" \
        --expected-failures "$here/expected-extensions.yml" >"$log" 2>&1 || is_expected=0
    # That each message fits the schema is checked in any scenario.
    passed=$(grep -v wire-schema-valid "$log" | grep -c SUCCESS || true)
    failing=$(sed -n 's/^Passed: [^,]*, \([0-9]*\) failed.*/\1/p' "$log")
    case $passed/${failing:-0} in
    0/0) outcome="checked nothing" ;;
    */0) outcome="passed: $passed checks" ;;
    *) outcome="failed: $failing of $((passed + failing)) checks" ;;
    esac
    if [ "$is_expected" = 0 ]; then
        outcome="$outcome, UNEXPECTED"
        failed=1
    fi
    printf '  %-32s %s\n' "$scenario" "$outcome"
done
exit "$failed"
