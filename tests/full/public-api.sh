#!/usr/bin/env bash
# Compares the public interface of each published crate with its record in `tests/public-api`.
#
# usage: tests/full/public-api.sh [--bless] [crate ...]
#
# `--bless` writes the records. The crate `public-api` reads the JSON of rustdoc, and is compiled in the target
# directory. The JSON is not stable, so `RUSTC_BOOTSTRAP` turns it on: for rustdoc alone, as some dependencies compile
# otherwise with it. All crates are documented in one run, with what `cargo doc` has already compiled.
set -euo pipefail
cd "$(dirname "$0")/../.."

# The version that reads format 57, which Rust 1.95 writes.
reader_version=0.52.0

if [ "${1:-}" = --bless ]; then bless=yes && shift; fi
shared=$(realpath -m "${CARGO_TARGET_DIR:-target}")
target=$shared/public-api
records=tests/public-api
mkdir -p "$target/reader/src" "$records"

cat >"$target/reader/Cargo.toml" <<MANIFEST
[package]
name = "reader"
edition = "2024"

[dependencies]
public-api = { version = "=$reader_version", default-features = false }

[workspace]
MANIFEST
cat >"$target/reader/src/main.rs" <<'READER'
//! Prints the public items in a file of rustdoc's JSON, without derived and automatic impls.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the path of a JSON file is missing")?;
    let interface = public_api::Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    interface.items().for_each(|item| println!("{item}"));
    Ok(())
}
READER
cargo build --quiet --manifest-path "$target/reader/Cargo.toml" --target-dir "$target"

# The name of each published crate, and the name of its library.
published=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        kinds = {"lib", "proc-macro"}
        print(package["name"], next(it["name"] for it in package["targets"] if kinds & set(it["kind"])))')

cat >"$target/rustdoc" <<'RUSTDOC'
#!/bin/sh
RUSTC_BOOTSTRAP=1 exec rustdoc "$@" -Z unstable-options --output-format json
RUSTDOC
chmod +x "$target/rustdoc"
RUSTDOC=$target/rustdoc RUSTDOCFLAGS="--cap-lints allow" cargo doc --quiet --workspace --lib --no-deps --all-features

changed=0
while read -r crate library; do
    [ $# = 0 ] || [[ " $* " == *" $crate "* ]] || continue
    "$target/debug/reader" "$shared/doc/$library.json" >"$target/$crate.txt"
    if [ "${bless:-}" = yes ]; then
        cp "$target/$crate.txt" "$records/$crate.txt"
    elif ! diff -u "$records/$crate.txt" "$target/$crate.txt"; then
        changed=1
    fi
    echo "$crate: $(wc -l <"$target/$crate.txt") items"
done <<<"$published"
if [ "$changed" = 1 ]; then
    echo "the public interface changed; if it should, run tests/full/public-api.sh --bless"
    exit 1
fi
