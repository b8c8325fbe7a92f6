#!/usr/bin/env bash
# Checks the published crates with each pair of features that one `cfg` of their sources names. Each feature alone and all
# together are checked elsewhere.
set -euo pipefail
cd "$(dirname "$0")/../.."

pairs=$(cargo metadata --no-deps --format-version 1 | python3 -c '
import itertools, json, pathlib, re, sys

def conditions(text):
    """Yields the inside of each `cfg(..)` and `cfg_attr(..)`."""
    for start in re.finditer(r"\bcfg(?:_attr)?!?\(", text):
        depth, at = 1, start.end()
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield text[start.end():at - 1]

for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is not None:
        continue
    pairs = set()
    for source in pathlib.Path(package["manifest_path"]).parent.joinpath("src").rglob("*.rs"):
        for condition in conditions(source.read_text()):
            # A check compiles neither documentation nor tests.
            if not re.search(r"\b(doctest|test)\b", condition):
                features = sorted(set(re.findall(r"feature = \"([^\"]+)\"", condition)))
                # A longer list is of a family, such as all providers: one is as good as another.
                if len(features) <= 3:
                    pairs.update(itertools.combinations(features, 2))
    for pair in sorted(pairs):
        print(package["name"], ",".join(pair))')
[ -n "$pairs" ] || { echo "no cfg with two features was found"; exit 1; }
while read -r package pair; do
    echo "$package: $pair"
    cargo check --quiet -p "$package" --no-default-features --features "$pair"
done <<<"$pairs"
