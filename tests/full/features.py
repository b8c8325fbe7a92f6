#!/usr/bin/env python3
"""Checks published crates as programs with few features compile them, each crate by itself.

    tests/full/features.py [--test] [CRATE …]    these crates, or all; `--test` runs their tests, too

The tests of a crate must compile with its default features, so that they need nothing that another package turns on. Its
library must compile without features, with each feature alone, and with each pair of features that one `cfg` names. A
feature that no source of its crate names only turns on features of other crates, where it is checked.
"""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A longer list in one `cfg` is of a family, such as all providers: one pair is as good as another.
FAMILY = 3


def conditions(text):
    """Yields the inside of each `cfg(..)` and `cfg_attr(..)`."""
    for start in re.finditer(r"\bcfg(?:_attr)?!?\(", text):
        depth, at = 1, start.end()
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield text[start.end() : at - 1]


def named(sources):
    """Returns the features that these sources name, and the pairs that one condition of the library names."""
    features, pairs = set(), set()
    for condition in itertools.chain.from_iterable(map(conditions, sources)):
        here = sorted(set(re.findall(r"feature = \"([^\"]+)\"", condition)))
        features.update(here)
        # A check compiles neither documentation nor tests.
        if len(here) <= FAMILY and not re.search(r"\b(doctest|test)\b", condition):
            pairs.update(itertools.combinations(here, 2))
    return features, pairs


def cargo(*arguments, **options):
    return subprocess.run(["cargo", *arguments], cwd=ROOT, **options)


def check(package):
    """Checks all lists of features of a package, and returns their number."""
    name = package["name"]
    sources = [path.read_text() for path in Path(package["manifest_path"]).parent.joinpath("src").rglob("*.rs")]
    features, pairs = named(sources)
    lists = [(feature,) for feature in package["features"] if feature in features] + sorted(pairs)
    cargo("clippy", "--quiet", "-p", name, "--no-default-features", "--", "-D", "warnings", check=True)
    cargo("check", "--quiet", "-p", name, "--tests", check=True)
    for chosen in lists:
        print(f"{name}: {', '.join(chosen)}", flush=True)
        cargo("check", "--quiet", "-p", name, "--no-default-features", "--features", ",".join(chosen), check=True)
    return len(lists) + 2


def check_planted():
    """A test that needs a feature which is off must be found."""
    planted = ROOT / "toolkit-schema/tests/planted.rs"
    planted.parent.mkdir(exist_ok=True)
    planted.write_text("use toolkit_schema::CompiledSchema as _;\n")
    try:
        found = cargo("check", "--quiet", "-p", "toolkit-schema", "--tests", capture_output=True, text=True)
    finally:
        planted.unlink()
    if found.returncode == 0 or "CompiledSchema" not in found.stderr:
        sys.exit("a test that needs a feature which is off was compiled")


def main():
    arguments = sys.argv[1:]
    metadata = cargo("metadata", "--no-deps", "--format-version", "1", check=True, capture_output=True)
    packages = {it["name"]: it for it in json.loads(metadata.stdout)["packages"] if it["publish"] is None}
    chosen = [name for name in arguments if name != "--test"] or list(packages)
    for name in chosen:
        count = check(packages[name])
        if "--test" in arguments:
            cargo("test", "--quiet", "-p", name, check=True)
        print(f"{name}: {count} lists of features compile")
    if "toolkit-schema" in chosen:
        check_planted()


main()
