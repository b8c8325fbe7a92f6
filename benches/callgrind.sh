#!/bin/sh
# Instructions and allocations of one call, counted by valgrind: nearly the same on every run, on a noisy machine too.
#
# A case of `instructions.rs` does its work once, and then as often as its count says inside of `counted_calls`, where
# instructions are counted; a call is the share of one. Allocations are blocks as `dhat` counts them, in the difference of a
# whole count and half of it: a block that grows counts once. A call is polled once, without a runtime, by hand and by us
# alike; runs of agents have a runtime. `targets.txt` says what a case may cost.
#
#     benches/callgrind.sh            every case
#     benches/callgrind.sh add list   the cases whose name starts with one of these
#     benches/callgrind.sh --check    those that CI counts, and a case with a twentieth more, which must be found
#
# `--growth` counts the work of `growth.rs` at two sizes, in one process with a count for each. Fails if four times the input
# costs more than 4.5 times as much, or what the case allows. The case `planted` is quadratic, and must be found.
#
#     benches/callgrind.sh --growth             every kind of work
#     benches/callgrind.sh --growth yaml call   those whose name starts with one of these
set -eu
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo "callgrind: valgrind is not installed"
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Compiles a benchmark, and prints the path of its program.
compile() {
    said=$(cargo bench -p toolkit-benches "$@" --no-run 2>&1) || { echo "$said" >&2; return 1; }
    echo "$said" | sed -n 's/.*Executable.*(\(.*\))$/\1/p'
}

# Prints the table of the growth of each kind of work. Fails if one grows faster than it may, or if the planted one does not.
growth() {
    runner=$(compile --bench growth --features jsonschema)
    valgrind --tool=callgrind --toggle-collect='*counted_work*' --dump-before='*end_of_count*' --combine-dumps=yes \
        --dump-line=no --callgrind-out-file="$folder/counts" "$runner" "$@" >"$folder/sizes" 2>"$folder/said" ||
        { cat "$folder/said" >&2; return 1; }
    sed -n 's/^totals: //p' "$folder/counts" >"$folder/totals"
    awk -v selected=$# '
        BEGIN { row = "%-52s %7s %12s %12s %7s  %s\n"; printf row, "case", "size", "instructions", "for 4 x size", "ratio", "" }
        FNR == NR { total[FNR] = $1; next }
        FNR % 2 { small = total[FNR]; size = $2; next }
        {
            ratio = small ? total[FNR] / small : 0
            verdict = ""
            if ($1 == "planted") { selected = 0; planted = ratio > $3; verdict = planted ? "found" : "NOT FOUND" }
            else if (ratio == 0 || ratio > $3) { verdict = "MORE THAN " $3; missed++ }
            else if ($3 != 4.5) verdict = "<= " $3
            printf row, $1, size, small, total[FNR], sprintf("%.2f", ratio), verdict
        }
        END { exit missed > 0 || !selected && !planted }' "$folder/totals" "$folder/sizes"
}

if [ "${1:-}" = --growth ]; then
    shift
    growth "$@"
    exit 0
fi
runner=$(compile --bench instructions)
"$runner"

instructions() {
    counted=$(valgrind --tool=callgrind --toggle-collect='*counted_calls*' --callgrind-out-file=/dev/null \
        "$runner" "$1" "$2" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p')
    echo $((counted / $2))
}

blocks() {
    valgrind --tool=dhat --dhat-out-file=/dev/null "$runner" "$1" "$2" 2>&1 |
        sed -n 's/.*Total: .* in \([0-9,]*\) blocks.*/\1/p' | tr -d ,
}

allocations() {
    half=$(($2 / 2))
    echo $((($(blocks "$1" "$2") - $(blocks "$1" "$half")) / half))
}

# The rows of `targets.txt`: those that CI counts, or all.
targets() {
    awk -v all="$1" '!/^#/ && NF && (all == "all" || $6 == "ci")' benches/targets.txt
}

# Prints a line `case instructions allocations` for each case on standard input.
counts() {
    "$runner" list >"$folder/list"
    while read -r name; do
        count=$(awk -v name="$name" '$1 == name { print $2 }' "$folder/list")
        [ -n "$count" ] || { echo "no case \`$name\`" >&2; return 1; }
        echo "$name $(instructions "$name" "$count") $(allocations "$name" "$count")"
    done
}

# Prints the table of the counts in the file $2 beside the targets in the file $1. Fails if a case costs more than it may.
table() {
    awk '
        BEGIN {
            row = "%-26s %12s %11s %16s %6s  %s\n"
            printf row, "case", "instructions", "allocations", "floor", "ratio", "target"
        }
        FNR == NR { floor[$1] = $2; most[$1] = $3; blocks[$1] = $4; goal[$1] = $5; next }
        { counted[$1] = $2; allocated[$1] = $3; order[++cases] = $1 }
        END {
            for (i = 1; i <= cases; i++) {
                name = order[i]; beside = ratio = "-"; verdict = ""
                if (name in floor && floor[name] in counted) {
                    beside = counted[floor[name]] " / " allocated[floor[name]]
                    ratio = sprintf("%.3f", counted[name] / counted[floor[name]])
                    more = allocated[name] - allocated[floor[name]]
                    if (most[name] != "-" && ratio + 0 > most[name]) { verdict = "MORE THAN " most[name]; missed++ }
                    if (blocks[name] != "-" && more > blocks[name]) { verdict = verdict " BLOCKS " blocks[name]; missed++ }
                    if (verdict == "" && most[name] != "-") verdict = "<= " most[name]
                    if (goal[name] != "-" && ratio + 0 > goal[name]) verdict = verdict ", wanted " goal[name]
                }
                printf row, name, counted[name], allocated[name], beside, ratio, verdict
            }
            exit missed > 0
        }' "$1" "$2"
}

if [ "${1:-}" = --check ]; then
    targets ci >"$folder/targets"
    awk '{ print $1; print $2 }' "$folder/targets" | awk '!seen[$0]++' | counts >"$folder/counts"
    table "$folder/targets" "$folder/counts"
    # The planted case, with the target of the case that it slows down.
    sed -n 's|^add/registry |add/planted |p' "$folder/targets" >"$folder/planted"
    { grep '^add/map_boxed ' "$folder/counts"; echo add/planted | counts; } >"$folder/planted-counts"
    if table "$folder/planted" "$folder/planted-counts"; then
        echo "callgrind: a case with a twentieth more instructions was not found"
        exit 1
    fi
    exit 0
fi
targets all >"$folder/targets"
"$runner" list | cut -d ' ' -f 1 | while read -r name; do
    [ $# -gt 0 ] || echo "$name"
    for prefix; do
        case $name in "$prefix"*) echo "$name" && break ;; esac
    done
done | counts >"$folder/counts"
table "$folder/targets" "$folder/counts"
