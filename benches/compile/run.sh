#!/usr/bin/env bash
# What tools cost at compile time, beside the same functions without tools and beside the twin that every
# framework with derived argument structs is: a struct per tool with `Deserialize` and `JsonSchema`.
#
# User CPU seconds of the one crate that holds the tools; its dependencies are fetched and built before, in the
# versions of the workspace's own Cargo.lock. The least of several rounds, because other work on the machine only ever
# adds.
#
#     benches/compile/run.sh              200 tools
#     benches/compile/run.sh 50           another number
#     benches/compile/run.sh --series     50, 200 and 800 tools: does the cost grow in proportion?
#     benches/compile/run.sh --small      8 tools once, without release: do the three programs compile and work?
#
# ROUNDS (5) is how often each is measured. Fails if a target is missed.
set -euo pipefail
cd "$(dirname "$0")/../.."

repo=$PWD
mkdir -p "${CARGO_TARGET_DIR:-target}/compile"
target=$(cd "${CARGO_TARGET_DIR:-target}/compile" && pwd)
crates=$target/crates
rounds=${ROUNDS:-5}
kinds="plain ours twin"

export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never CARGO_TARGET_DIR=$target/build
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS

# version_of PACKAGE: that of the library's own dependencies. Tests may bring another one of the same name.
version_of() {
    (cd "$repo" && unset CARGO_TARGET_DIR &&
        cargo tree --quiet --locked -p toolkit-ai -e normal --prefix none --no-dedupe) |
        awk -v wanted="$1" '$1 == wanted { print substr($2, 2); exit }'
}

# All three crates have the same dependencies, so that they are built once, with the same features.
generate() {
    local count=$1 kind
    mkdir -p "$crates"
    {
        echo '[workspace]'
        echo 'members = ["plain", "ours", "twin"]'
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
            echo "toolkit-ai = { path = \"$repo\" }"
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

# runs_well PROFILE COUNT: the programs with tools list and call them.
runs_well() {
    local kind listed program
    for kind in ours twin; do
        program=$CARGO_TARGET_DIR/$1/$kind
        listed=$("$program" | grep -c '^tool_')
        if [ "$listed" != "$2" ]; then
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

# Compiles everything once, and makes sure that the programs do what they should.
warm_up() {
    cargo_quietly check --workspace
    cargo_quietly build --release --workspace
    runs_well release "$1"
    # Nothing is looked up from now on.
    export CARGO_NET_OFFLINE=true
}

# Lines `kind check release bytes`, all measurements.
measure() {
    local kind round
    for ((round = 0; round < rounds; round++)); do
        for kind in $kinds; do
            echo "$kind" "$(user_seconds "$kind" check)" "$(user_seconds "$kind" build --release)" \
                "$(wc -c <"$CARGO_TARGET_DIR/release/$kind")"
        done
    done
}

# One line `count plain-check plain-release plain-bytes ours-… twin-…`.
best() {
    awk -v count="$1" '
        { kind = $1
          for (i = 2; i <= 4; i++) if (!((kind, i) in least) || $i < least[kind, i]) least[kind, i] = $i }
        END {
            printf "%d", count
            n = split("plain ours twin", kinds, " ")
            for (k = 1; k <= n; k++) for (i = 2; i <= 4; i++) printf " %s", least[kinds[k], i]
            print ""
        }'
}

run() {
    generate "$1"
    warm_up "$1" >&2
    measure | best "$1"
}

report() {
    awk '{
        split("plain ours twin", kinds, " ")
        printf "%d functions\n", $1
        row = "%-8s %12s %16s %14s\n"
        printf row, "", "check, CPU-s", "release, CPU-s", "stripped, KB"
        for (k = 1; k <= 3; k++)
            printf row, kinds[k], $(3 * k - 1), $(3 * k), sprintf("%.0f", $(3 * k + 1) / 1000)
        for (i = 2; i <= 4; i++) { ours[i] = $(i + 3) - $i; twin[i] = $(i + 6) - $i }
        printf row, "ours +", sprintf("%.2f", ours[2]), sprintf("%.2f", ours[3]), sprintf("%.0f", ours[4] / 1000)
        printf row, "twin +", sprintf("%.2f", twin[2]), sprintf("%.2f", twin[3]), sprintf("%.0f", twin[4] / 1000)
        print ""
        # Below the resolution of the clock there is no ratio.
        for (i = 2; i <= 3; i++) if (ours[i] < 0.01) ours[i] = 0.01
        line("check ratio", twin[2] / ours[2], "", 5, 1)
        line("release ratio", twin[3] / ours[3], "", 5, 1)
        if ($1 == 200) line("release over plain", ours[3], " CPU-s", 4, -1)
        if ($1 == 200) line("size over plain", ours[4] / 1000000, " MB", 2.4, -1)
        else printf "size over plain: %.2f MB\n", ours[4] / 1000000
    }
    function line(name, value, unit, limit, sign,   met) {
        met = sign * value >= sign * limit
        missed += !met
        printf "%s: %.2f%s (target %s %s%s: %s)\n", name, value, unit, (sign == 1 ? ">=" : "<="), limit, unit, \
            (met ? "met" : "MISSED")
    }
    END { exit missed > 0 }'
}

series() {
    local count
    for count in 50 200 800; do
        run "$count"
    done | awk '
        BEGIN {
            row = "%6s %14s %16s %16s %16s %14s %12s\n"
            printf row, "tools", "ours + check", "ms for a tool", "ours + release", "ms for a tool", "ours + KB", "twin + s"
        }
        { check = $5 - $2; release = $6 - $3
          printf row, $1, sprintf("%.2f", check), sprintf("%.2f", 1000 * check / $1), sprintf("%.2f", release), \
              sprintf("%.2f", 1000 * release / $1), sprintf("%.0f", ($7 - $4) / 1000), \
              sprintf("%.2f / %.2f", $8 - $2, $9 - $3) }'
}

small() {
    generate 8
    cargo_quietly build --workspace
    runs_well debug 8
    echo "8 tools: plain, ours and twin compile and work"
}

case ${1:-200} in
--small) small ;;
--series) series ;;
*[!0-9]* | 0) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
*) run "${1:-200}" | report ;;
esac
