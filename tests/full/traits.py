#!/usr/bin/env python3
"""Compares the traits of all public types with their record: `Send`, `Sync`, `Unpin`, and the derived ones.

usage: tests/full/traits.py [--bless] [FOLDER]

FOLDER has the pages of `cargo doc` for the workspace, with all features: `target/doc` unless it is given. The record is
`tests/public-api/traits.txt`; `--bless` writes it. A type whose line is missing, and a line without a type, are faults, too.
"""

import pathlib
import re
import subprocess
import json
import sys

RECORD = pathlib.Path("tests/public-api/traits.txt")
AUTO = ("Send", "Sync", "Unpin")
# The traits that `derive` implements, and those that programs expect of errors and of values that are stored.
DERIVED = (
    "Clone", "Copy", "Debug", "Default", "Deserialize", "Display", "Eq", "Error", "Hash", "Ord", "PartialEq", "PartialOrd",
    "Serialize", "Stream", "IntoFuture",
)


def crates():
    """Returns the folders of the published crates."""
    data = json.loads(subprocess.check_output(["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"]))
    names = (package["name"] for package in data["packages"] if package["publish"] is None)
    return sorted(name.replace("-", "_") for name in names)


def traits(page):
    """Returns the traits of the type of a page: `!Sync` if it lacks one, and `Send?` if that depends on its parameters."""
    found = {}
    for head in re.findall(r'<h3 class="code-header">(impl.*?)</h3>', page, re.DOTALL):
        text = " ".join(re.sub(r"<[^>]*>", "", head).replace("&lt;", "<").replace("&gt;", ">").replace("\xa0", " ").split())
        match = re.search(r"(!?)([A-Z]\w*)(?:<[^>]*>)? for ", text)
        # A blanket implementation is no decision about this type.
        if not match or re.match(r"&|[A-Z]{1,2}(where\b|\s|$)", text[match.end() :]):
            continue
        sign, name = match.groups()
        depends = name in AUTO and re.search(r"where|: (?:Send|Sync|Unpin)\b", text)
        found.setdefault(name, sign + name + ("?" if depends else ""))
    auto = [found.get(name, "no " + name) for name in AUTO]
    return " ".join(auto) + "; " + " ".join(name for name in DERIVED if name in found)


def lines(folder):
    for crate in crates():
        for page in sorted((folder / crate).rglob("*.html")):
            kind, _, name = page.stem.partition(".")
            if kind not in ("struct", "enum", "union") or not name:
                continue
            text = page.read_text()
            # The facade shows the pages of the other crates again, and a hidden path leads to the public one.
            if 'http-equiv="refresh"' in text or crate == "toolkit_ai" and not is_own(text):
                continue
            path = "::".join([*page.relative_to(folder).parts[:-1], name])
            yield f"{path}: {traits(text)}"


def is_own(text):
    """Returns whether the source of a page's item is in the facade."""
    source = re.search(r'class="src[^"]*" href="[./]*src/(\w+)/', text)
    return source and source[1] == "toolkit_ai"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--bless"]
    found = list(lines(pathlib.Path(arguments[0] if arguments else "target/doc")))
    if "--bless" in sys.argv:
        RECORD.write_text("".join(line + "\n" for line in found))
    record = RECORD.read_text().splitlines()
    for line in sorted(set(record) - set(found)):
        print("-", line)
    for line in sorted(set(found) - set(record)):
        print("+", line)
    print(f"{len(found)} types")
    # A type that has lost `Send` would be seen.
    planted = "".join(found).replace("Send Sync", "!Send Sync", 1)
    if set(record) != set(found) or len(found) < 100 or planted == "".join(found):
        sys.exit(1)


if __name__ == "__main__":
    main()
