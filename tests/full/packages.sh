#!/usr/bin/env bash
# Packages the published crates, and compiles the packages outside of the repository, as a user of the registry does.
#
# usage: tests/full/packages.sh [--small]
#
# Each package is compiled with all features. `--small`: only the facade with its default features, and a planted fault.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/full/common.sh

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/packages
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT

# The name and the folder of each published crate.
published=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"], os.path.dirname(package["manifest_path"]))')
names=$(printf '%s\n' "$published" | cut -d ' ' -f 1)

rm -rf "$target/package"
# shellcheck disable=SC2046 # one argument for each name
cargo package --quiet --no-verify --allow-dirty --exclude-lockfile --target-dir "$target" $(printf -- '-p %s ' $names)
for crate in "$target"/package/*.crate; do tar xzf "$crate" -C "$outside"; done

# A package must hold what its sources include. Only the chapters of the guide, whose examples are tests, may stay outside.
printf '%s\n' "$published" | python3 -c '
import os, pathlib, re, sys
outside = pathlib.Path(sys.argv[1])
missing = []
for line in sys.stdin:
    name, folder = line.split(" ", 1)
    folder = pathlib.Path(folder.strip())
    package = next(outside.glob(f"{name}-[0-9]*"))
    for source in package.rglob("*.rs"):
        text = source.read_text()
        for found in re.finditer(r"include(?:_str|_bytes)?!\(\"([^\"]+)\"\)", text):
            there = os.path.normpath((folder / source.relative_to(package)).parent / found[1])
            inside = os.path.normpath(source.parent / found[1])
            is_chapter = "doctest" in text[:found.start()].rsplit("\n\n", 1)[-1]
            if os.path.exists(there) and not os.path.exists(inside) and not is_chapter:
                missing.append(f"{name}: {source.relative_to(package)} includes {found[1]}, which is not in the package")
if missing:
    sys.exit("\n".join(missing))' "$outside"

# The packages are the sources of each other; all else comes from the registry, in the versions of the repository.
{
    printf '[workspace]\nresolver = "3"\nmembers = ["*-[0-9]*"]\n\n[patch.crates-io]\n'
    for name in $names; do printf '%s = { path = "%s" }\n' "$name" "$(basename "$outside/$name"-[0-9]*)"; done
} >"$outside/Cargo.toml"
cp Cargo.lock "$outside"
compile() { (cd "$outside" && cargo check --quiet --offline --target-dir "$target" "$@"); }

if [ "${1:-}" = --small ]; then
    compile -p toolkit-ai
    rm "$outside"/toolkit-ai-*/src/docs/tool.md
    planted 'tool\.md' compile -p toolkit-ai
    echo "$(printf '%s\n' "$names" | wc -l) packages; the facade compiles from its package"
    exit
fi
for name in $names; do
    echo "$name"
    compile -p "$name" --all-features
done
