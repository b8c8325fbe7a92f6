#!/usr/bin/env bash
# What tools cost at compile time, beside the same functions without tools and beside the twin that every
# framework with derived argument structs is: a struct per tool with `Deserialize` and `JsonSchema`.
#
#     plain    the functions alone
#     ours     tools that are listed and called
#     structs  the same, each tool with one struct of `ToolParams`
#     twin     a derived struct for each function, called by hand
#     one      ours, which also publishes the tools to one API (only the size)
#     four     ours, which also publishes the tools to the four APIs that are on by default (only the size)
#
# User CPU seconds of the one crate that holds the tools; its dependencies are fetched and built before, in the
# versions of the workspace's own Cargo.lock. The least of several rounds, because other work on the machine only ever
# adds.
#
#     benches/compile/run.sh              200 tools
#     benches/compile/run.sh 50           another number
#     benches/compile/run.sh --series     50, 200 and 800 tools: does the cost grow in proportion?
#     benches/compile/run.sh --size       200 tools: only the sizes, which are the same on every run
#     benches/compile/run.sh --small      8 tools once, without release: do the programs compile and work?
#
# ROUNDS (5) is how often each is measured. Fails if a target is missed.
set -euo pipefail
cd "$(dirname "$0")/../.."

repo=$PWD
mkdir -p "${CARGO_TARGET_DIR:-target}/compile"
target=$(cd "${CARGO_TARGET_DIR:-target}/compile" && pwd)
crates=$target/crates
rounds=${ROUNDS:-5}
timed="plain ours structs twin"
kinds="$timed one four"

export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never CARGO_TARGET_DIR=$target/build
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS

# version_of PACKAGE: that of the library's own dependencies. Tests may bring another one of the same name.
version_of() {
    (cd "$repo" && unset CARGO_TARGET_DIR &&
        cargo tree --quiet --locked -p toolkit-ai -e normal --prefix none --no-dedupe) |
        awk -v wanted="$1" '$1 == wanted { print substr($2, 2); exit }'
}

# All crates have the same dependencies, so that they are built once, with the same features; `one` has a single API.
generate() {
    local count=$1 kind
    mkdir -p "$crates"
    {
        echo '[workspace]'
        printf 'members = [%s]\n' "$(printf '"%s", ' $kinds)"
        echo 'resolver = "3"'
        echo '[profile.release]'
        echo 'strip = true'
    } >"$crates/Cargo.toml"
    cp Cargo.lock "$crates/Cargo.lock"
    for kind in $kinds; do
        mkdir -p "$crates/$kind/src"
        {
            echo '[package]'
            echo "name = \"$kind\""
            echo 'version = "0.0.0"'
            echo 'edition = "2024"'
            echo '[dependencies]'
            if [ "$kind" = one ]; then
                echo "toolkit-ai = { path = \"$repo\", default-features = false, features = [\"api-openai-chat\"] }"
            else
                echo "toolkit-ai = { path = \"$repo\" }"
            fi
            echo "serde = { version = \"=$(version_of serde)\", features = [\"derive\"] }"
            echo "serde_json = \"=$(version_of serde_json)\""
            echo "schemars = \"=$(version_of schemars)\""
        } >"$crates/$kind/Cargo.toml"
        awk -v kind="$kind" -v count="$count" -f benches/compile/generate.awk >"$crates/$kind/src/main.rs"
    done
}

cargo_quietly() {
    cargo "$@" --quiet --manifest-path "$crates/Cargo.toml"
}

# runs_well PROFILE COUNT KIND...: the programs with tools list and call them.
runs_well() {
    local kind listed expected profile=$1 count=$2 program
    shift 2
    for kind; do
        if [ "$kind" = plain ]; then continue; fi
        program=$CARGO_TARGET_DIR/$profile/$kind
        expected=$count
        if [ "$kind" = four ]; then expected=$((4 * count)); fi
        # A line begins with the name, a definition has it as a member.
        listed=$("$program" | grep -oE '^tool_|"name":"tool_' | wc -l)
        if [ "$listed" != "$expected" ]; then
            echo "$kind lists $listed tools" >&2
            exit 1
        fi
        # tool_0 has one parameter, a bool or a number, and adds it to 0.
        if [ "$("$program" tool_0 '{"limit":true}')" != 1 ]; then
            echo "a call of tool_0 does not return 1 in $kind" >&2
            exit 1
        fi
    done
}

# user_seconds KIND COMMAND...: of one compilation of that crate.
user_seconds() {
    local TIMEFORMAT=%U kind=$1
    shift
    touch "$crates/$kind/src/main.rs"
    { time cargo_quietly "$@" -p "$kind" >"$target/log" 2>&1; } 2>&1 || { cat "$target/log" >&2; return 1; }
}

# build COUNT KIND...: compiles these crates, each with its own features, and makes sure that they do what they should.
build() {
    local count=$1 kind
    shift
    for kind; do cargo_quietly build --release -p "$kind"; done
    runs_well release "$count" "$@"
}

bytes() { wc -c <"$CARGO_TARGET_DIR/release/$1"; }

# Lines `count kind check release bytes`: of each round for the crates that are timed, and one without times for the others.
measure() {
    local kind round
    for kind in $timed; do cargo_quietly check -p "$kind"; done
    # Nothing is looked up from now on.
    export CARGO_NET_OFFLINE=true
    for ((round = 0; round < rounds; round++)); do
        for kind in $timed; do
            echo "$1 $kind" "$(user_seconds "$kind" check)" "$(user_seconds "$kind" build --release)" "$(bytes "$kind")"
        done
    done
    sizes "$1" one four
}

# sizes COUNT KIND...: lines as above, without times.
sizes() {
    local count=$1 kind
    shift
    for kind; do echo "$count $kind - - $(bytes "$kind")"; done
}

# The rows and the targets of the lines on standard input, of which the least of each crate counts.
report() {
    awk '{
        count = $1
        keep(check, $2, $3); keep(release, $2, $4); keep(size, $2, $5)
    }
    function keep(least, kind, value) {
        if (value != "-" && (!(kind in least) || value + 0 < least[kind])) least[kind] = value + 0
    }
    function seconds(value) { return value == "" ? "-" : sprintf("%.2f", value) }
    function over(least, kind) { return (kind in least) ? least[kind] - least["plain"] : "" }
    function row(name, check, release, bytes) {
        printf "%-10s %12s %16s %14s\n", name, check, release, bytes
    }
    # What is missed fails. What is only wanted is printed, as in `targets.txt`.
    function target(name, value, unit, limit, sign, wanted,   met) {
        met = sign * value >= sign * limit
        missed += !met
        printf "%s: %.2f%s (target %s %s%s: %s%s)\n", name, value, unit, (sign == 1 ? ">=" : "<="), limit, unit, \
            (met ? "met" : "MISSED"), (wanted != "" && value > wanted ? ", wanted " wanted : "")
    }
    # Below the resolution of the clock there is no ratio.
    function ratio(name, least,   ours) {
        ours = over(least, "ours")
        target(name, over(least, "twin") / (ours < 0.01 ? 0.01 : ours), "", 5, 1)
    }
    END {
        printf "%d functions\n", count
        row("", "check, CPU-s", "release, CPU-s", "stripped, KB")
        row("plain", seconds(check["plain"]), seconds(release["plain"]), sprintf("%.0f", size["plain"] / 1000))
        n = split("ours structs twin one four", kinds, " ")
        for (k = 1; k <= n; k++) {
            kind = kinds[k]
            if (!(kind in size)) continue
            row(kind " +", seconds(over(check, kind)), seconds(over(release, kind)), \
                sprintf("%.0f", over(size, kind) / 1000))
        }
        print ""
        if ("twin" in check) { ratio("check ratio", check); ratio("release ratio", release) }
        if (count != 200) exit missed > 0
        target("size over plain", over(size, "ours") / 1000000, " MB", 1.74, -1)
        target("size over plain, published to one API", over(size, "one") / 1000000, " MB", 2.15, -1, 1.8)
        target("size over plain, published to four APIs", over(size, "four") / 1000000, " MB", 2.26, -1, 2.1)
        exit missed > 0
    }'
}

run() {
    generate "$1"
    # shellcheck disable=SC2086
    build "$1" $kinds >&2
    measure "$1"
}

size() {
    local published="plain ours one four"
    generate 200
    # shellcheck disable=SC2086
    build 200 $published >&2
    # shellcheck disable=SC2086
    sizes 200 $published | report
}

series() {
    local count
    for count in 50 200 800; do
        run "$count"
    done | awk '
        { for (i = 3; i <= 5; i++) if (!(($1, $2, i) in least) || $i < least[$1, $2, i]) least[$1, $2, i] = $i }
        function over(count, kind, i) { return least[count, kind, i] - least[count, "plain", i] }
        END {
            row = "%6s %14s %16s %16s %16s %14s %14s\n"
            printf row, "tools", "ours + check", "ms for a tool", "ours + release", "ms for a tool", "ours + KB", "twin + s"
            n = split("50 200 800", counts, " ")
            for (k = 1; k <= n; k++) {
                count = counts[k]; check = over(count, "ours", 3); release = over(count, "ours", 4)
                printf row, count, sprintf("%.2f", check), sprintf("%.2f", 1000 * check / count), \
                    sprintf("%.2f", release), sprintf("%.2f", 1000 * release / count), \
                    sprintf("%.0f", over(count, "ours", 5) / 1000), \
                    sprintf("%.2f / %.2f", over(count, "twin", 3), over(count, "twin", 4))
            }
        }'
}

small() {
    generate 8
    cargo_quietly build --workspace
    # shellcheck disable=SC2086
    runs_well debug 8 $kinds
    echo "8 tools: all programs compile and work"
}

case ${1:-200} in
--small) small ;;
--size) size ;;
--series) series ;;
*[!0-9]* | 0) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
*) run "${1:-200}" | report ;;
esac
