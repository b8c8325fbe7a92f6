#!/usr/bin/env python3
"""Writes results.json, results.md and the charts from the files of `run.sh`: report.py RESULTS FOLDER."""

import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent
TOOLS = ["add", "search_web", "create_order"]
# A name for the reader, and the package whose version is shown.
NAMES = {
    "floor": ("by hand", None),
    "toolkit": ("toolkit", None),
    "dispatcher": ("toolkit, dispatcher", None),
    "llm-tool": ("llm-tool", "llm-tool"),
    "tools-rs": ("tools-rs", "tools-rs"),
    "rmcp": ("rmcp", "rmcp"),
    "rig": ("rig", "rig-core"),
    "adk-rust": ("adk-rust", "adk-core"),
    "swiftide": ("swiftide", "swiftide"),
}
THEMES = {
    "light": {"text": "#1f2328", "faint": "#59636e", "line": "#d1d9e0", "ours": "#0969da", "floor": "#8c959f", "peer": "#c8cfd6", "back": "#ffffff"},
    "dark": {"text": "#e6edf3", "faint": "#9198a1", "line": "#3d444d", "ours": "#4493f8", "floor": "#6e7681", "peer": "#3d444d", "back": "#0d1117"},
}


def read(results, contestant, what):
    """The number that was measured, or None."""
    path = results / contestant / what
    if not path.is_file():
        return None
    value = float(path.read_text())
    return int(value) if value.is_integer() and not what.endswith(("cold", "warm")) else value


def version(package):
    found = re.search(rf'name = "{package}"\nversion = "(.*)"', (HERE / "Cargo.lock").read_text())
    return found[1] if found else None


def measured(results):
    """Everything that was measured, by contestant; what is missing is null."""
    plain = {what: read(results, "plain", what) for what in ["check/warm", "release/warm", "bytes"]}
    table = {}
    for contestant, (name, package) in NAMES.items():
        def one(what):
            return read(results, contestant, what)

        def above_plain(what):
            value = one(what)
            return None if value is None or plain[what] is None else round(value - plain[what], 2)

        table[contestant] = {
            "name": name,
            "version": version(package) if package else None,
            "instructions": {tool: one(f"instructions/{tool}") for tool in [*TOOLS, "list"]},
            "allocations": {tool: one(f"allocations/{tool}") for tool in [*TOOLS, "list"]},
            "nanoseconds": {tool: one(f"nanoseconds/{tool}") for tool in TOOLS},
            "milliseconds_at_once": one("milliseconds/at-once"),
            "tokens": one("tokens"),
            "crates": one("crates"),
            "cpu_seconds": {
                "check_above_plain": above_plain("check/warm"),
                "release_above_plain": above_plain("release/warm"),
                "check_cold": one("check/cold"),
                "release_cold": one("release/cold"),
            },
            "bytes_above_plain": above_plain("bytes"),
        }
    return table


def number(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def ratio(value, floor):
    return "" if value is None or not floor else f" ({value / floor:.2f})"


def markdown(table):
    """The tables, one row for each contestant."""
    floor = table["floor"]

    def rows(head, cells, skip=()):
        lines = ["| " + " | ".join(["", *head]) + " |", "| " + " | ".join(["---"] * (len(head) + 1)) + " |"]
        for contestant, row in table.items():
            values = cells(row)
            if contestant not in skip and any(value.strip(" –/") for value in values):
                name = row["name"] + (f" {row['version']}" if row["version"] else "")
                lines.append("| " + " | ".join([name, *values]) + " |")
        return "\n".join(lines)

    def call(row, tool):
        count = row["instructions"][tool]
        text = f"{number(count)} / {number(row['allocations'][tool])}"
        return text + ratio(count, floor["instructions"][tool])

    def build(row):
        seconds = row["cpu_seconds"]
        size = row["bytes_above_plain"]
        return [
            number(seconds["check_above_plain"], 2),
            number(seconds["release_above_plain"], 1),
            number(seconds["check_cold"], 1),
            number(seconds["release_cold"], 1),
            number(None if size is None else size / 1e6, 2),
            number(row["crates"]),
        ]

    calls = rows(["`add`", "`search_web`", "`create_order`", "list of four definitions"],
                 lambda row: [call(row, tool) for tool in [*TOOLS, "list"]])
    times = rows(["`add`, ns", "`search_web`, ns", "`create_order`, ns", "10,000 at once, ms", "tokens of four definitions"],
                 lambda row: [*(number(row["nanoseconds"][tool]) for tool in TOOLS),
                              number(row["milliseconds_at_once"], 1), number(row["tokens"])])
    builds = rows(["check", "release", "check, cold", "release, cold", "size, MB", "crates"], build, skip=["dispatcher"])
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return f"""# Results

Written by `run.sh` on {date.today()}, {rustc}. A dash is what has not been measured.

Instructions / allocations of one call, and the ratio of the instructions to the floor:

{calls}

Medians of times on this machine, and tokens of the vocabulary `o200k_base`:

{times}

200 tools, user and system CPU seconds. The first two are of that crate alone, over the same functions without tools; so is
the size of the stripped binary. "Cold" is with all dependencies. The last column counts the crates below the program:

{builds}
"""


def chart(title, unit, groups, theme):
    """Horizontal bars in groups; a bar is (name, value, text, kind)."""
    colors = THEMES[theme]
    left, wide, high, y = 170, 470, 18, 52
    parts = []

    def text(x, y, value, color, size=12, anchor="start", weight="normal"):
        parts.append(f'<text x="{x}" y="{y}" fill="{colors[color]}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}">{value}</text>')

    text(16, 26, title, "text", 15, weight="bold")
    text(16, 43, unit, "faint", 11)
    for head, bars in groups:
        y += 22
        text(16, y, head, "text", 12, weight="bold")
        y += 8
        most = max(value for _, value, _, _ in bars)
        for name, value, label, kind in bars:
            length = max(2, round(wide * value / most))
            text(left - 8, y + 13, name, "text" if kind == "ours" else "faint", anchor="end", weight="bold" if kind == "ours" else "normal")
            parts.append(f'<rect x="{left}" y="{y + 2}" width="{length}" height="{high - 4}" rx="2" fill="{colors[kind]}"/>')
            text(left + length + 6, y + 13, label, "text", 11)
            y += high
    height = y + 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" viewBox="0 0 720 {height}" role="img" '
            f'aria-label="{title}" font-family="system-ui, sans-serif">'
            f'<rect width="720" height="{height}" fill="{colors["back"]}"/>{"".join(parts)}</svg>\n')


def bars(table, value_of, label, skip=()):
    """The contestants from the least to the most."""
    found = [(row["name"], value_of(row), "ours" if key in ("toolkit", "dispatcher") else "floor" if key == "floor" else "peer")
             for key, row in table.items() if key not in skip and value_of(row) is not None]
    return [(name, value, label(value), kind) for name, value, kind in sorted(found, key=lambda bar: bar[1])]


def charts(table, folder):
    calls = [(f"{tool}", bars(table, lambda row: row["instructions"][tool], "{:,}".format)) for tool in TOOLS]
    builds = [
        ("CPU seconds of a check", bars(table, lambda row: row["cpu_seconds"]["check_above_plain"], "{:.1f}".format)),
        ("CPU seconds of a release build", bars(table, lambda row: row["cpu_seconds"]["release_above_plain"], "{:.1f}".format)),
        ("CPU seconds of a first release build, with all dependencies", bars(table, lambda row: row["cpu_seconds"]["release_cold"], "{:.0f}".format)),
        ("size of the stripped binary, MB", bars(table, lambda row: row["bytes_above_plain"] and row["bytes_above_plain"] / 1e6, "{:.2f}".format)),
        ("crates below the program", bars(table, lambda row: row["crates"], "{:,}".format)),
    ]
    pages = {
        "calls": ("What a call costs", "Instructions from JSON text to JSON text, by name. Less is better.", calls),
        "builds": ("What 200 tools cost to build", "Over the same functions without tools, except for the first build. Less is better.", builds),
    }
    for page, (title, unit, groups) in pages.items():
        groups = [(head, found) for head, found in groups if found]
        for theme in THEMES:
            if groups:
                (folder / f"chart-{page}-{theme}.svg").write_text(chart(title, unit, groups, theme))


def main():
    results, folder = Path(sys.argv[1]), Path(sys.argv[2])
    table = measured(results)
    (folder / "results.json").write_text(json.dumps(table, indent=1) + "\n")
    (folder / "results.md").write_text(markdown(table))
    charts(table, folder)


main()
