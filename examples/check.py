#!/usr/bin/env python3
"""Runs the commands of `README.md` and compares what they print: `check.py [NAME…]`, all examples by default.

A block `console` begins with a command. The lines below it are printed in this order, among others; `…` stands for any
text. The programs are those that `cargo test --workspace --all-features` builds, whatever features the command names."""

import json
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
BLOCK = re.compile(r"^```console\n\$ (.+)\n((?:.*\n)*?)```$", re.MULTILINE)


def programs() -> dict[str, str]:
    """Returns the path of each example, by its name."""
    build = ["cargo", "build", "--quiet", "--workspace", "--all-features", "--examples", "--message-format", "json"]
    run = subprocess.run(build, cwd=FOLDER.parent, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, run.stdout.splitlines())
    return {
        message["target"]["name"]: message["executable"]
        for message in messages
        if message.get("executable") and message["target"]["kind"] == ["example"]
    }


def missing_line(printed: str, expected: list[str]) -> str | None:
    """Returns the first expected line that is not printed after those before it."""
    lines = iter(printed.splitlines())
    for line in expected:
        pattern = re.compile(".*".join(re.escape(part) for part in line.rstrip().split("…")))
        if not any(pattern.fullmatch(candidate.rstrip()) for candidate in lines):
            return line
    return None


def check(program: str, command: str, expected: list[str]) -> str | None:
    """Returns what is wrong with an example."""
    _, _, arguments = command.partition(" -- ")
    run = subprocess.run(
        [program, *arguments.split()], cwd=FOLDER.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if run.returncode != 0:
        return f"exit status {run.returncode}\n{run.stderr}"
    missing = missing_line(run.stdout + run.stderr, expected)
    return missing and f"does not print `{missing}`, but:\n{run.stdout}{run.stderr}"


def main() -> None:
    text = (FOLDER / "README.md").read_text()
    examples = {re.search(r"--example (\S+)", command)[1]: (command, lines) for command, lines in BLOCK.findall(text)}
    assert missing_line("one\ntwo 2 s\n", ["two … s"]) is None and missing_line("one\n", ["two"]) == "two"
    built = programs()
    failed = False
    for name in sys.argv[1:] or examples:
        command, lines = examples[name]
        fault = check(built[name], command, lines.splitlines())
        failed |= fault is not None
        print(f"{name}: {fault or 'as described'}", flush=True)
    sys.exit(failed)


main()
