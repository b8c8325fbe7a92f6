#!/usr/bin/env bash
# Each published crate by itself, with its default features, as `cargo test -p CRATE` has it: no other package of the
# workspace turns on what its tests need.
#
# usage: tests/full/alone.sh [--small | CRATE …]
#
# Runs the tests of each crate. `--small`: compiles them all, runs those of the crates without IO, and a planted test that
# needs a feature which is off must be found.
set -euo pipefail
cd "$(dirname "$0")/../.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/alone
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
trap 'rm -rf "$CARGO_TARGET_DIR"' EXIT

crates=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])')

if [ "${1:-}" != --small ]; then
    for crate in ${*:-$crates}; do
        echo "$crate"
        cargo test --quiet -p "$crate"
    done
    exit
fi
for crate in $crates; do
    echo "$crate"
    cargo check --quiet -p "$crate" --tests
done
cargo test --quiet -p toolkit-docstring -p toolkit-schema --lib --tests
cargo test --quiet -p toolkit-core --lib
planted=toolkit-schema/tests/planted.rs
mkdir -p "$(dirname "$planted")"
trap 'rm -rf "$CARGO_TARGET_DIR" "$planted"' EXIT
echo 'use toolkit_schema::CompiledSchema as _;' >"$planted"
if cargo check --quiet -p toolkit-schema --tests 2>/dev/null; then
    echo "a test that needs a feature which is off was compiled"
    exit 1
fi
echo "the tests of $(wc -w <<<"$crates") crates compile alone"
