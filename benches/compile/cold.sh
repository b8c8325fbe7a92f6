#!/usr/bin/env bash
# What a cold `cargo build` costs: a program with one tool, a library that needs only the core, and 200 tools; and the floor, a
# program with `serde`, its derive and the parts of `tokio` that calls of tools need.
# Everything is compiled once, then only the project's crates and the program, without optimisation and with debug
# information, on two cores.
#
#     benches/compile/cold.sh                 this checkout
#     benches/compile/cold.sh ../old          this one and another in turn, program by program
#     benches/compile/cold.sh --small         do the programs compile? Without a measurement
#
# Prints `program checkout wall user system` for each build, how much more than the floor one tool costs with dependencies, and
# the medians of user and system together for the builds without them, which are the same on both sides. ROUNDS (3) is how often those are built. On a machine
# with other work only the CPU seconds mean something.
set -euo pipefail
cd "$(dirname "$0")/../.."

rounds=${ROUNDS:-3}
work=${CARGO_TARGET_DIR:-$PWD/target}/cold
generate=$PWD/benches/compile/generate.awk
declare -A checkouts=([here]=$PWD)
sides=here
small=
many=200
if [ "${1:-}" = --small ]; then
    small=1
    many=4
elif [ $# -gt 0 ]; then
    checkouts[other]=$(cd "$1" && pwd)
    sides="other here"
fi
programs="floor one integration many"

export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR CARGO_PROFILE_DEV_DEBUG

# write SIDE PROGRAM: a package of its own, with the versions that the checkout is locked to.
write() {
    local from=${checkouts[$1]} folder=$work/$1/$2
    mkdir -p "$folder/src"
    cp "$from/Cargo.lock" "$folder/Cargo.lock"
    {
        printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' "$2"
        case $2 in
        floor)
            printf 'serde = { version = "1", features = ["derive"] }\n'
            printf 'tokio = { version = "1", default-features = false, features = ["rt", "sync", "time"] }\n'
            ;;
        integration) echo "toolkit-core = { path = \"$from/toolkit-core\" }" ;;
        *) echo "toolkit-ai = { path = \"$from\" }" ;;
        esac
        if [ "$2" = many ]; then
            printf 'serde = { version = "1", features = ["derive"] }\nserde_json = "1"\nschemars = "1"\n'
        fi
    } >"$folder/Cargo.toml"
    case $2 in
    one)
        {
            printf 'use toolkit_ai::prelude::*;\n\n/// Add two integers.\n///\n/// :param a: The first number\n'
            printf '/// :param b: The second number\n#[tool]\nfn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\n'
            printf 'fn main() {\n    println!("{}", ToolRegistry::from_tools(tools![add]).unwrap().len());\n}\n'
        } >"$folder/src/main.rs"
        ;;
    floor)
        printf '#[derive(serde::Deserialize)]\nstruct Add {\n    a: i64,\n    b: i64,\n}\n\n' >"$folder/src/main.rs"
        printf 'fn main() {\n    let _ = |add: Add| add.a + add.b;\n}\n' >>"$folder/src/main.rs"
        ;;
    integration)
        echo 'pub fn registry() -> toolkit_core::ToolRegistry { toolkit_core::ToolRegistry::new() }' >"$folder/src/lib.rs"
        ;;
    many) awk -v kind=ours -v count="$many" -f "$generate" >"$folder/src/main.rs" ;;
    esac
}

# build SIDE PROGRAM: everything the first time, afterwards the crates that have a path.
build() {
    local target=$work/build/$1/$2
    (
        cd "$work/$1/$2"
        export CARGO_TARGET_DIR=$target
        # What cargo says while it waits for a lock is no part of the measurement.
        if [ -d "$target" ]; then
            own=$(cargo tree --offline --prefix none -e normal,build 2>"$work/log" | sed -n 's/^\([a-z-]*\) .*(.*\/.*).*/-p \1/p' | sort -u)
            # shellcheck disable=SC2086
            cargo clean --quiet --offline $own >"$work/log" 2>&1 || exit 1
        fi
        time cargo build --quiet --offline -j 2 >"$work/log" 2>&1
    ) || { cat "$work/log" >&2; return 1; }
}

rm -rf "$work"
for side in $sides; do
    for program in $programs; do
        write "$side" "$program"
        host=$(rustc -vV | sed -n 's/^host: //p')
        (cd "$work/$side/$program" && cargo fetch --quiet --target "$host")
    done
done
if [ -n "$small" ]; then
    # One folder for all, so that dependencies are compiled once. Nothing is generated from a check, so it is quick.
    for program in $programs; do
        (cd "$work/here/$program" && CARGO_TARGET_DIR=$work/build cargo check --quiet --offline)
    done
    echo "$programs: they compile"
    exit 0
fi
TIMEFORMAT='%R %U %S'
for ((round = 0; round <= rounds; round++)); do
    for program in $programs; do
        [ "$round" = 0 ] || [ "$program" != floor ] || continue
        for side in $sides; do
            seconds=$(build "$side" "$program" 2>&1) || { echo "$seconds" >&2; exit 1; }
            if [ "$round" = 0 ]; then
                echo "$program $side $seconds with dependencies" | tee -a "$work/whole"
            else
                echo "$program $side $seconds" | tee -a "$work/lines"
            fi
        done
    done
done
echo
awk '{ spent[$1, $2] = $4 + $5; sides[$2] }
    END { for (side in sides) printf "one tool %s: %.2f of the floor\n", side, spent["one", side] / spent["floor", side] }' "$work/whole"
sort -k1,2 <(awk '{ print $1, $2, $4 + $5 }' "$work/lines") | awk '
    { key = $1 " " $2; list[key, ++n[key]] = $3 }
    END {
        for (key in n) {
            for (i = 2; i <= n[key]; i++)
                for (j = i; j > 1 && list[key, j] < list[key, j - 1]; j--) {
                    kept = list[key, j]; list[key, j] = list[key, j - 1]; list[key, j - 1] = kept
                }
            printf "%s: %.1f CPU-s\n", key, list[key, int((n[key] + 1) / 2)]
        }
    }' | sort
