#!/usr/bin/env python3
"""Checks that each item of the facade has one path, and one more at most in the prelude.

usage: tests/full/paths.py [FOLDER]

FOLDER has the pages of `cargo doc` for `toolkit-ai`, with all features: `target/doc/toolkit_ai` unless it is given. Two
pages with the same name, declaration and documentation are two paths of one item.
"""

import collections
import pathlib
import re
import sys

# What two crates re-export, so that each of them can be used without the other.
EXCEPTIONS = {"struct.HttpLimits.html", "struct.HttpBody.html"}


def plain(html):
    return html and re.sub(r"<[^>]*>", "", html[1])


def pages(folder):
    """Yields the name of each page of an item, what the page says of it, and the path of the page."""
    for page in sorted(folder.rglob("*.html")):
        path = page.relative_to(folder)
        # `macro.name!.html` leads to the page of the macro.
        if page.name in ("index.html", "all.html") or "!" in page.name or path.parts[0] == "prelude":
            continue
        text = page.read_text()
        # The page of a path that only the crate itself can name leads to the public one.
        if 'http-equiv="refresh"' in text:
            continue
        declaration = plain(re.search(r'<pre class="rust item-decl">(.*?)</pre>', text, re.DOTALL))
        documentation = plain(re.search(r'<div class="docblock">(.*?)</div>', text, re.DOTALL))
        yield page.name, (declaration, documentation), str(path)


def more_than_one(found):
    """Returns the paths of items with several, and the number of items."""
    places = collections.defaultdict(list)
    for name, item, path in found:
        if name not in EXCEPTIONS:
            places[name, item].append(path)
    return [paths for paths in places.values() if len(paths) > 1], len(places)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/doc/toolkit_ai")
    found = list(pages(folder))
    several, count = more_than_one(found)
    for paths in several:
        print("several paths:", ", ".join(paths))
    print(f"{count} items with one path" if not several else f"{len(several)} of {count} items have several paths")
    name, item, _ = found[0]
    if several or not more_than_one([*found, (name, item, "planted/" + name)])[0]:
        sys.exit(1)


if __name__ == "__main__":
    main()
