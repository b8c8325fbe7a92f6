#!/usr/bin/env bash
# Runs a program with `reqwest` and `rustls` of its own beside this library, with the cryptography of each feature: the
# library must leave the program's clients as they were.
set -euo pipefail
cd "$(dirname "$0")"

target=${CARGO_TARGET_DIR:-../../target}
for feature in aws-lc-rs ring; do
    echo "$feature"
    CARGO_TARGET_DIR=$target/tls cargo run --quiet --features "$feature"
done
