#!/bin/sh
# Instructions and allocations of one call, counted by valgrind: the same on every run, on a noisy machine too.
#
# Each case of `instructions.rs` runs 1000 and 500 times; a 500th of the difference is one call. Cases that take long
# run less often. A call is polled once, without a runtime, by hand and by us alike; runs of agents have a runtime. Allocations are blocks as `dhat` counts them: one that grows
# counts once.
#
#     benches/callgrind.sh            every case
#     benches/callgrind.sh add list   the cases whose name starts with one of these
#     benches/callgrind.sh --small    do the cases run? Needs no valgrind
set -eu
cd "$(dirname "$0")/.."

# Compiles the benchmark with the given command of cargo, and prints the path of the program.
compiled() {
    if ! said=$("$@" --bench instructions --no-run 2>&1); then
        echo "$said" >&2
        return 1
    fi
    path=$(echo "$said" | sed -n 's/.*Executable.*(\(.*\))$/\1/p')
    [ -x "$path" ] && echo "$path"
}

if [ "${1:-}" = --small ]; then
    # Unoptimised, and each case once: with the dependencies that the tests of the workspace are built with.
    runner=$(compiled cargo test --workspace --all-features)
    cases=$("$runner" list | cut -d ' ' -f 1)
    for name in $cases; do "$runner" "$name" 1 >/dev/null; done
    echo "$(echo "$cases" | wc -w) cases run"
    exit 0
fi

if ! command -v valgrind >/dev/null; then
    echo "skipped: valgrind is not installed"
    exit 0
fi

runner=$(compiled cargo bench -p toolkit-benches)

instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$runner" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

allocations() {
    valgrind --tool=dhat --dhat-out-file=/dev/null "$runner" "$1" "$2" 2>&1 |
        sed -n 's/.*Total: .* in \([0-9,]*\) blocks.*/\1/p' | tr -d ,
}

per_call() {
    half=$(($3 / 2))
    echo $((($("$1" "$2" "$3") - $("$1" "$2" "$half")) / half))
}

wanted() {
    name=$1
    shift
    [ $# -eq 0 ] && return 0
    for prefix; do
        case $name in "$prefix"*) return 0 ;; esac
    done
    return 1
}

"$runner" list | while read -r name count target; do
    if wanted "$name" "$@"; then
        echo "$name $target $(per_call instructions "$name" "$count") $(per_call allocations "$name" "$count")"
    fi
done | awk '
    BEGIN {
        row = "%-26s %12s %11s %13s %6s  %s\n"
        printf row, "case", "instructions", "allocations", "floor", "ratio", "target"
    }
    {
        name = $1; floor = $2; instructions = $8; allocations = $9
        counted[name] = instructions; allocated[name] = allocations
        beside = ratio = "-"; target = ""
        if (floor in counted) {
            beside = counted[floor] " / " allocated[floor]
            ratio = sprintf("%.2f", instructions / counted[floor])
            most = $3 != "-" ? $3 * counted[floor] : $4 != "-" ? $4 + counted[floor] : $5
            blocks = $6 == "-" ? $7 : $6 + allocated[floor]
        } else {
            most = $5; blocks = $7
        }
        if (most != "-" && most != "") {
            met = instructions <= most && allocations <= blocks
            bound = blocks < 1e8 ? sprintf("%.0f / %d", most, blocks) : sprintf("%.0f", most)
            target = bound (met ? " met" : " MISSED")
            missed += !met
        }
        printf row, name, instructions, allocations, beside, ratio, target
    }
    END { exit missed > 0 }'
