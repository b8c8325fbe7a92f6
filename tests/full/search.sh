#!/usr/bin/env bash
# Searches with fresh seeds: runs the random tests again and again, until the time is over or one fails.
#
# usage: tests/full/search.sh [--small | minutes] [seed] [folder ...]
#
# With folders, such as `toolkit-core`, only the test programs of these packages run.
# `--small`: one round of one package with a fixed seed, so that the answer depends on the code alone.
# The first seed is random unless it is given, and each round adds one. `PROPTEST_CASES` sets the number of cases of
# each test. A failure prints its seed; proptest also keeps it in a file `proptest-regressions`, to be committed.
set -euo pipefail
cd "$(dirname "$0")/../.."

most=0
if [ "${1:-}" = --small ]; then most=1 && set -- 2 1 toolkit-schema; fi
seed=${2:-$((RANDOM * 32768 + RANDOM))}

# The modules with random tests, by the name of their file or, for `tests.rs`, of its folder; and the test programs,
# without those that have a harness of their own.
modules=$(grep -rl --include='*.rs' 'proptest! {' toolkit-*/src toolkit-*/tests tests/it integrations/*/src integrations/*/tests |
    sed 's|/tests\.rs$||; s|\.rs$||; s|.*/||' | sort -u)
# Each line is the folder of a package and one of its programs.
mapfile -t programs < <(cargo test --workspace --all-features --no-run --message-format json 2>/dev/null | python3 -c '
import json, os, sys
for message in map(json.loads, sys.stdin):
    if message.get("executable") and message["profile"]["test"]:
        print(os.path.dirname(message["manifest_path"]), message["executable"])' |
    grep -v -E '/(bfcl|conformance|model|tidy|ui)-[^/]*$')
if [ "$#" -gt 2 ]; then
    folders=$(printf '/%s \n' "${@:3}")
    mapfile -t programs < <(printf '%s\n' "${programs[@]}" | grep -F "$folders")
fi
[ "${#programs[@]}" -gt 0 ] && [ -n "$modules" ] || { echo "no random test was found"; exit 1; }
filters=()
for module in $modules; do filters+=("$module::"); done

# The test program of a macro crate links the compiler's own libraries.
LD_LIBRARY_PATH=$(rustc --print target-libdir):$(rustc --print sysroot)/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

end=$((SECONDS + ${1:-10} * 60))
# The seed chooses where a round begins, so that all programs have their turn in short searches.
rounds=0
while [ "$SECONDS" -lt "$end" ]; do
    for number in "${!programs[@]}"; do
        left=$((end - SECONDS))
        [ "$left" -gt 0 ] || break
        read -r folder program <<<"${programs[$(((seed + number) % ${#programs[@]}))]}"
        ended=0
        # This program has no modules.
        case $program in
            */properties-*) chosen=() ;;
            *) chosen=("${filters[@]}") ;;
        esac
        output=$(cd "$folder" && PROPTEST_RNG_SEED=$seed timeout "$left" "$program" -q "${chosen[@]}" 2>&1) || ended=$?
        # 124: the time is over.
        if [ "$ended" != 0 ] && [ "$ended" != 124 ]; then
            printf '%s\n' "$output" | tail -n 60
            echo "$program failed with PROPTEST_RNG_SEED=$seed"
            exit 1
        fi
    done
    seed=$((seed + 1)) rounds=$((rounds + 1))
    [ "$rounds" != "$most" ] || break
done
echo "${#programs[@]} programs, $rounds rounds without a finding"
