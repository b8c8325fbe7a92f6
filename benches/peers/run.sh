#!/usr/bin/env bash
# The same tools with toolkit, written by hand, and with other frameworks: what a call, a list and a build cost.
#
#     benches/peers/run.sh               every step, at most two hours on two idle cores
#     benches/peers/run.sh STEP…         some of: crates compile counts times tokens report
#     benches/peers/run.sh --small       the floor and toolkit, unoptimised, one tool; a planted fault must be found
#
# Each measurement is a file in target/peers/results, and is not made again while the file is there: a second run goes on
# where the first one stopped. To measure a contestant again, remove its folder. CONTESTANTS names those to measure,
# ROUNDS (3) is how often the program with 200 tools is built; the least is kept.
#
# Writes results.json, results.md and the charts beside this file. Needs valgrind, Python 3, and for tokens npm.
set -euo pipefail
cd "$(dirname "$0")"

here=$PWD
repo=$(cd ../.. && pwd)
mkdir -p "${CARGO_TARGET_DIR:-$repo/target}/peers"
target=$(cd "${CARGO_TARGET_DIR:-$repo/target}/peers" && pwd)
results=$target/results
contestants=${CONTESTANTS:-plain floor toolkit llm-tool tools-rs rmcp rig adk-rust swiftide}
rounds=${ROUNDS:-3}
tools="add search_web create_order"
tokenizer=gpt-tokenizer@4.0.0

export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_PROFILE_DEV_DEBUG

# measured FILE COMMAND…: keeps what the command prints, unless it has been measured.
measured() {
    local file=$results/$1
    shift
    if [ -s "$file" ]; then return; fi
    mkdir -p "$(dirname "$file")"
    "$@" >"$file.part"
    mv "$file.part" "$file"
    echo "${file#"$results"/}: $(head -c 60 "$file" | head -n 1)"
}

# cargo_for CONTESTANT ARGUMENTS…: each has a target folder of its own, so that features are not shared.
cargo_for() {
    local contestant=$1
    shift
    CARGO_TARGET_DIR=$target/build/$contestant nice -n 19 cargo "$@"
}

# programs_of CONTESTANT: what calls tools. toolkit is measured through its registry and through a dispatcher.
programs_of() {
    case $1 in
    plain) ;;
    toolkit) echo toolkit dispatcher ;;
    *) echo "$1" ;;
    esac
}

program() {
    case $1 in
    dispatcher) echo "$target/build/toolkit/release/dispatcher" ;;
    *) echo "$target/build/$1/release/peer-$1" ;;
    esac
}

# build CONTESTANT: its programs, which check their results before anything is measured.
build() {
    local name
    if [ "$1" = plain ]; then return; fi
    cargo_for "$1" build --quiet --release -p "peer-$1"
    for name in $(programs_of "$1"); do "$(program "$name")" check; done
}

# Instructions or allocations of a program.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

allocations() {
    valgrind --tool=dhat --dhat-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Total: .* in \([0-9,]*\) blocks.*/\1/p' | tr -d ,
}

# one_of HALF COUNTER COMMAND…: what one repetition costs, from the difference of twice as many and of HALF.
one_of() {
    local half=$1 more less
    shift
    more=$("$@" $((2 * half)))
    less=$("$@" "$half")
    echo $(((more - less) / half))
}

counts() {
    local name tool counter
    build "$1"
    for name in $(programs_of "$1"); do
        for counter in instructions allocations; do
            for tool in $tools; do
                measured "$name/$counter/$tool" one_of 500 $counter "$(program "$name")" call "$tool"
            done
            measured "$name/$counter/list" one_of 50 $counter "$(program "$name")" list
        done
    done
}

times() {
    local name tool
    build "$1"
    for name in $(programs_of "$1"); do
        for tool in $tools; do measured "$name/nanoseconds/$tool" "$(program "$name")" time "$tool"; done
        measured "$name/milliseconds/at-once" "$(program "$name")" at-once
    done
}

# write_many CONTESTANT COUNT: a program with this many tools, and the dependencies that the contestant has.
write_many() {
    local folder=$target/many/$1 start=contestants/$1/many.rs manifest=contestants/$1/Cargo.toml
    if [ "$1" = plain ]; then start=plain.rs manifest=harness/Cargo.toml; fi
    mkdir -p "$folder/src"
    cp Cargo.lock "$folder/Cargo.lock"
    {
        printf '[package]\nname = "many-%s"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n' "$1"
        printf '[profile.release]\nstrip = true\n[dependencies]\n'
        if [ "$1" = plain ]; then
            grep '^tokio = ' "$manifest"
        else
            sed -n '/^\[dependencies\]/,$p' "$manifest" | sed -e 1d -e '/^harness = /d' -e "s|\.\./\.\./\.\./\.\.|$repo|"
        fi
    } >"$folder/Cargo.toml"
    { cat "$start"; awk -v kind="$1" -v count="$2" -f generate.awk; } >"$folder/src/main.rs"
}

# cargo_many CONTESTANT COMMAND…
cargo_many() {
    local contestant=$1 command=$2
    shift 2
    cargo_for "$contestant" "$command" --quiet --manifest-path "$target/many/$contestant/Cargo.toml" "$@"
}

# cpu_seconds COMMAND…: user and system together.
cpu_seconds() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$target/log" 2>&1; } 2>"$target/seconds" || { cat "$target/log" >&2; return 1; }
    awk '{ print $1 + $2 }' "$target/seconds"
}

# cold PROFILE CONTESTANT COMMAND…: with all dependencies.
cold() {
    rm -rf "$target/build/$2/$1"
    shift
    cpu_seconds cargo_many "$@"
}

# warm CONTESTANT COMMAND…: that crate alone; the least of several rounds, because other work only ever adds.
warm() {
    local round
    cargo_many "$@" >&2
    for ((round = 0; round < rounds; round++)); do
        touch "$target/many/$1/src/main.rs"
        cpu_seconds cargo_many "$@"
    done | sort -n | head -n 1
}

# works PROGRAM COUNT: the program with many tools lists and calls them.
works() {
    local output arguments='{"limit":true}'
    if [ "$(basename "$1")" = many-plain ]; then
        arguments=true
    elif [ "$("$1" | grep -c '^tool_')" != "$2" ]; then
        echo "$1 does not list $2 tools" >&2
        return 1
    fi
    # The tool adds its boolean to 0. rmcp prints the whole message.
    output=$("$1" tool_0 "$arguments")
    case $output in
    1 | '"1"' | *'"text":"1"'*) ;;
    *)
        echo "tool_0 of $1 returns $output" >&2
        return 1
        ;;
    esac
}

bytes_of_many() { wc -c <"$target/build/$1/release/many-$1"; }

# Without the program itself.
crates_of() {
    cargo_many "$1" tree -e normal,build --prefix none | sed 's/ (.*//' | sort -u | grep -vc '^many-'
}

crates() {
    write_many "$1" 200
    measured "$1/crates" crates_of "$1"
}

compile() {
    write_many "$1" 200
    cargo_many "$1" fetch
    measured "$1/check/cold" cold debug "$1" check
    measured "$1/check/warm" warm "$1" check
    measured "$1/release/cold" cold release "$1" build --release
    measured "$1/release/warm" warm "$1" build --release
    cargo_many "$1" build --release
    works "$target/build/$1/release/many-$1" 200
    measured "$1/bytes" bytes_of_many "$1"
}

# Tokens of a list of definitions, by the vocabulary o200k_base.
tokens_of() {
    "$1" definitions | node -e '
        const { countTokens } = require(process.argv[1] + "/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js")
        console.log(countTokens(require("fs").readFileSync(0, "utf8").trim()))' "$target/npm"
}

tokens() {
    local name
    build "$1"
    for name in $(programs_of "$1"); do
        measured "$name/definitions.json" "$(program "$name")" definitions
        if [ ! -s "$results/$name/tokens" ] && [ ! -d "$target/npm/node_modules/gpt-tokenizer" ]; then
            npm install --silent --no-audit --no-fund --prefix "$target/npm" "$tokenizer"
        fi
        measured "$name/tokens" tokens_of "$(program "$name")"
    done
}

report() { python3 "$repo/benches/peers/report.py" "$results" "$here"; }

small() {
    local built name
    export CARGO_PROFILE_DEV_DEBUG=0
    target=$target/small
    results=$target/results
    built=$target/build/small/debug
    rm -rf "$target"
    trap 'rm -rf "$target"' EXIT
    mkdir -p "$target/report"
    cargo_for small build --quiet -p peer-floor -p peer-toolkit
    for name in peer-floor peer-toolkit dispatcher; do "$built/$name" check; done
    if "$built/wrong" check 2>"$target/log"; then
        echo "a contestant with a wrong result is not found" >&2
        exit 1
    fi
    grep -qx 'add is -8, should be 42' "$target/log"
    for name in floor toolkit; do
        write_many "$name" 4
        cargo_for small build --quiet --manifest-path "$target/many/$name/Cargo.toml"
        works "$built/many-$name" 4
        if command -v valgrind >/dev/null; then
            measured "$name/instructions/add" one_of 10 instructions "$built/peer-$name" call add
        fi
    done
    python3 "$repo/benches/peers/report.py" "$results" "$target/report"
    echo "the floor and toolkit return the same results, and a wrong one is found"
}

if [ "${1:-}" = --small ]; then
    small
    exit 0
fi
if [ $# -eq 0 ]; then set -- crates compile counts times tokens report; fi
for step; do
    case $step in
    crates | compile | counts | times | tokens | report) ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done
for contestant in $contestants; do
    for step; do
        if [ "$step" != report ]; then "$step" "$contestant"; fi
    done
done
case " $* " in *" report "*) report ;; esac
