#!/usr/bin/env python3
"""Writes the tables of errors of the book, from the documentation of the types. A preprocessor of mdBook, named by `book.toml`.

    python3 docs/errors.py PAGE    prints a page with its tables

A page names types in a line: ``Table in the book: [`Name`](path of the source), …``. Each variant of an enum has rows with its
messages and its documentation. A message is what `Display` or a function that creates the error writes, up to the semicolon;
the functions may be those of a struct in the same line. List items such as ``- `message`: advice`` are further rows.
"""

import json
import re
import sys
from pathlib import Path

MARKER = re.compile(r"^Table in the book: .*$", re.MULTILINE)
TYPE = re.compile(r"\[`(\w+)`\]\(([^)]+\.rs)\)")
ITEM = re.compile(r"- (`+)(.+?)\1: (.+)$")
STRING = r'"((?:[^"\\]|\\[\s\S])*)"'
# A variable part of a message.
GAP = "…"


def documented(source, name):
    """Yields the variants of an enum, each with the paragraphs and list items of its documentation."""
    found = re.search(rf"^( *)pub enum {name} \{{\n(.*?)^\1\}}", source, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"there is no enum `{name}`")
    indent = " " * (len(found[1]) + 4)
    blocks, is_new = [], True
    for line in found[2].splitlines():
        text = line.strip()
        if line.startswith(f"{indent}///"):
            text = text[3:].strip()
            if is_new or text.startswith("- "):
                blocks.append("")
            blocks[-1] = f"{blocks[-1]} {text}".strip()
            is_new = not text
        elif variant := re.match(rf"{indent}([A-Z]\w*)", line):
            yield variant[1], [plain(block) for block in blocks if block]
            blocks, is_new = [], True


def plain(text):
    """Replaces links to items of the source by their texts, outside of code."""
    return re.sub(r"(`+.+?`+)|\[([^\[\]]+)\](?:\((?!\w+://)[^)]*\))?", lambda part: part[1] or part[2], text)


def message(literal):
    """The fixed words of a format string up to its semicolon, or nothing."""
    text = re.sub(r"\\\n\s*", "", literal).replace('\\"', '"')
    text = re.sub(r"(?<!\{)\{[^{}]*\}", GAP, text).split("; ")[0]
    text = re.sub(rf" \([^()]*{GAP}[^()]*\)", "", text)
    text = re.sub(rf"^(?:{GAP}[ :]*)+|(?:: |(?<! )){GAP}$", "", text).strip()
    return text if " " in text else ""


def written(sources, name):
    """Returns the messages that sources write for each variant of an enum."""
    program = re.sub(r"^ *//.*\n", "", "\n".join(sources), flags=re.MULTILINE)
    program = re.sub(rf"\.with_brief\((?:format!\()?{STRING}", "", program)
    literals = []
    for block in re.findall(rf"^impl (?:[\w:]+ for )?{name} \{{\n(.*?)^\}}", program, re.MULTILINE | re.DOTALL):
        for arm in re.split(r"^ +(?=Self::\w+[^;]*?=> )", block, flags=re.MULTILINE)[1:]:
            shown = re.search(rf"(?:write!\(\s*f,|write_str\()\s*{STRING}", arm)
            literals.append((re.match(r"Self::(\w+)", arm)[1], shown[1] if shown else ""))
    for function in re.split(r"\bfn ", program):
        variants = re.findall(rf"\b{name}::(\w+)", function)
        texts = [text for text in re.findall(STRING, function) if message(text)]
        if len(variants) == 1 and texts:
            literals.append((variants[0], texts[0]))
    messages = {}
    for variant, literal in literals:
        if text := message(literal):
            # A message that two arms write has one row.
            messages.setdefault(variant, {})[text] = None
    return messages


def quoted(text):
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def rows(source, name, sources):
    """Yields the rows of an enum, with the messages that any of the sources writes."""
    messages = written(sources, name)
    for variant, blocks in documented(source, name):
        items = [ITEM.match(block) for block in blocks if block.startswith("- ")]
        if None in items:
            raise ValueError(f"`{name}::{variant}`: a list item is no message with advice")
        text = " ".join(block for block in blocks if not block.startswith("- "))
        lines = [(words, text) for words in messages.get(variant, {})]
        for item in items:
            advice = item[3][0].upper() + item[3][1:]
            lines.append((item[2], advice if lines else f"{text} {advice}"))
        for words, advice in lines or [("", text)]:
            cells = f"`{variant}`", quoted(words) if words else "", advice
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def with_tables(page, folder):
    """A page of this folder with the tables in place of the markers."""

    def table(marker):
        types = TYPE.findall(marker[0])
        try:
            texts = {path: (folder / path).read_text(encoding="utf-8") for _, path in types}
            sources = {path: text.split("#[cfg(test)]\nmod ")[0] for path, text in texts.items()}
            lines = ["| kind | message | cause, and what to do |", "| --- | --- | --- |"]
            for name, path in types:
                if not re.search(rf"^pub struct {name}\b", sources[path], re.MULTILINE):
                    lines += rows(sources[path], name, sources.values())
        except (OSError, ValueError) as fault:
            sys.exit(f"errors.py: {marker[0]}: {fault}")
        return "\n".join(lines)

    return MARKER.sub(table, page)


def chapters(items):
    for chapter in (item["Chapter"] for item in items if isinstance(item, dict) and "Chapter" in item):
        yield chapter
        yield from chapters(chapter["sub_items"])


def main(arguments):
    if arguments[:1] == ["supports"]:
        return
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if arguments:
        page = Path(arguments[0])
        print(with_tables(page.read_text(encoding="utf-8"), page.parent), end="")
        return
    context, book = json.load(sys.stdin)
    pages = Path(context["root"], context["config"]["book"]["src"])
    for chapter in chapters(book["items"]):
        if chapter["path"]:
            chapter["content"] = with_tables(chapter["content"], (pages / chapter["path"]).parent)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
