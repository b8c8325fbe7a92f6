#!/usr/bin/env bash
# Checks the library with the lowest versions that its manifests permit, as a user's lock file may have them. The option that
# resolves them is not stable, so `RUSTC_BOOTSTRAP` turns it on for the resolution alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
copy=$target/minimal-versions
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name target -exec rm -rf {} +
git ls-files -z | tar c --null -T - | tar x -C "$copy"
cd "$copy"
# Only what is published, without its tests, decides about versions.
sed -i '/^members = /{s/, "tests[^"]*"//g; s/, "benches"//}' Cargo.toml
for manifest in Cargo.toml toolkit-*/Cargo.toml integrations/*/Cargo.toml; do
    awk '/^\[/ { skipped = /^\[dev-dependencies/ || /^\[\[/ } !skipped' "$manifest" >manifest.new
    mv manifest.new "$manifest"
done
RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions
CARGO_TARGET_DIR=$copy/target cargo check --quiet -p toolkit-ai -p toolkit-agent-stores -p toolkit-evals -p toolkit-nats -p toolkit-cli --all-features
rm -rf "$copy/target"
echo "minimal versions: the published crates compile"
