#!/usr/bin/env python3
"""Public methods that nobody shows.

Compares `tests/public-api/unshown.txt` with the records beside it: a method that no page, example, doc test or other crate
names must be in the list, with the task that it is for, and a method that is shown or gone must not. A method counts as
shown wherever its name stands.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/public-api/unshown.txt"
# No interface of programs.
INTERNAL = {"toolkit-http", "toolkit-docstring", "toolkit-macros"}
# Methods of traits of the standard library and of well-known crates.
TRAITS = set(
    "add_assign borrow call clone cmp default deref deref_mut drop eq extend fmt from from_iter from_str hash index "
    "inline_schema into_future into_iter json_schema layer next partial_cmp poll poll_frame poll_next poll_ready "
    "schema_id schema_name serialize size_hint source sub_assign try_from visit".split()
)
METHOD = re.compile(r"pub (?:const )?(?:async )?fn toolkit_\w+(?:::\w+)*?::(\w+)::([a-z]\w*)(?:<.*)?\(")


def words(text):
    return set(re.findall(r"\w+", text))


def shown():
    """The names in pages, examples and doc tests, and for each crate those in its source."""
    everywhere, crates = set(), {}
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        if path.suffix not in {".md", ".rs"} or "target" in parts or "decisions" in parts or path.name == "CHANGELOG.md":
            continue
        text = path.read_text()
        if path.suffix == ".md" or "examples" in parts:
            everywhere |= words(text)
            continue
        lines = [line.strip() for line in text.splitlines()]
        docs = "\n".join(line[3:] for line in lines if line.startswith(("///", "//!")))
        for program in re.findall(r"```(?!text|json|toml)[^\n]*\n(.*?)```", docs, re.S):
            everywhere |= words(program)
        if "src" in parts and "tests" not in parts and path.name != "tests.rs":
            crate = next((part for part in parts if part.startswith("toolkit-")), "toolkit-ai")
            code = "\n".join(line for line in lines if not line.startswith("//"))
            crates.setdefault(crate, set()).update(words(code))
    return everywhere, crates


def unshown():
    everywhere, crates = shown()
    found = set()
    for record in sorted((ROOT / "tests/public-api").glob("toolkit-*.txt")):
        crate = record.stem
        if crate in INTERNAL:
            continue
        others = set().union(*(names for name, names in crates.items() if name != crate))
        for line in record.read_text().splitlines():
            method = METHOD.match(line)
            if method and method[2] not in TRAITS | everywhere | others:
                found.add(f"{crate} {method[1]}::{method[2]}")
    return found


def listed():
    found = set()
    for line in LIST.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        crate, rest = line.split(" ", 1)
        methods, task = rest.rsplit(": ", 1)
        if not task:
            sys.exit(f"no task: {line}")
        for owner, names in re.findall(r"(\w+)::\{([^}]*)\}", methods):
            found |= {f"{crate} {owner}::{name}" for name in names.split(", ")}
    return found


def main():
    wanted, present = unshown(), listed()
    for method in sorted(wanted - present):
        print(f"{method} is shown nowhere: delete it, show it, or name its task in {LIST.relative_to(ROOT)}")
    for method in sorted(present - wanted):
        print(f"{method} is shown or gone: take it out of {LIST.relative_to(ROOT)}")
    print(f"{len(wanted)} methods are shown nowhere")
    sys.exit(wanted != present)


main()
