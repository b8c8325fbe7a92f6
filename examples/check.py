#!/usr/bin/env python3
"""Runs the commands of `README.md` and compares what they print: `check.py [NAME…]`, all examples by default.

A block `console` begins with a command. The lines below it are printed in this order, among others; `…` stands for any
text. Features are not those of the command but all, because CI has built the examples with them."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
BLOCK = re.compile(r"^```console\n\$ (.+)\n((?:.*\n)*?)```$", re.MULTILINE)


def with_all_features(command: str) -> list[str]:
    words = re.sub(r" --(all-features|features \S+)", "", command).split()
    at = words.index("run") + 1
    return [*words[:at], "--quiet", "--all-features", *words[at:]]


def missing_line(printed: str, expected: list[str]) -> str | None:
    """Returns the first expected line that is not printed after those before it."""
    lines = iter(printed.splitlines())
    for line in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in line.rstrip().split("…")))
        if not any(pattern.fullmatch(candidate.rstrip()) for candidate in lines):
            return line
    return None


def check(command: str, expected: list[str]) -> str | None:
    """Returns what is wrong with an example."""
    run = subprocess.run(
        with_all_features(command), cwd=FOLDER.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if run.returncode != 0:
        return f"exit status {run.returncode}\n{run.stderr}"
    missing = missing_line(run.stdout + run.stderr, expected)
    return missing and f"does not print `{missing}`, but:\n{run.stdout}{run.stderr}"


def main() -> None:
    text = (FOLDER / "README.md").read_text()
    examples = {re.search(r"--example (\S+)", command)[1]: (command, lines) for command, lines in BLOCK.findall(text)}
    assert missing_line("one\ntwo 2 s\n", ["two … s"]) is None and missing_line("one\n", ["two"]) == "two"
    failed = False
    for name in sys.argv[1:] or examples:
        command, lines = examples[name]
        fault = check(command, lines.splitlines())
        failed |= fault is not None
        print(f"{name}: {fault or 'as described'}", flush=True)
    sys.exit(failed)


main()
