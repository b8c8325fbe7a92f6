#!/usr/bin/env python3
"""Draws `dashboard.svg`: what the chapter about observability shows of spans and metrics.

The numbers are those of a run: 240 conversations of an agent with a scripted model, whose pauses and errors are random,
and with tools of its own and of an MCP server. `--check` writes nothing, and fails if the picture is another one.
"""
import pathlib
import sys

WIDTH, HEIGHT = 760, 560
CALLS = [
    ("search", [("ok", 227), ("timed_out", 13)]),
    ("weather, over MCP", [("ok", 223), ("tool_error", 9)]),
    ("book", [("ok", 146), ("failed", 13), ("invalid_arguments", 11)]),
    ("_OTHER", [("not_found", 8)]),
]
# Requests to the model by duration, in steps of 50 ms.
REQUESTS = [0, 0, 0, 0, 0, 25, 55, 54, 36, 30, 43, 30, 39, 38, 42, 38, 32, 33, 32, 24, 23, 16, 11, 11, 11, 4, 7, 5, 6, 3, 2]
TOKENS = [
    ("input", [("cached", 754_500), ("new", 464_000)]),
    ("output", [("reasoning", 13_000), ("text and calls", 76_071)]),
]
# Name, depth, start and end in seconds, error.
RUN = [
    ("invoke_agent travel", 0, 0.0, 2.221, ""),
    ("chat scripted", 1, 0.0, 0.686, ""),
    ("execute_tool search", 1, 0.686, 0.992, "timed_out"),
    ("execute_tool weather", 1, 0.686, 0.782, ""),
    ("tools/call weather", 2, 0.687, 0.782, ""),
    ("chat scripted", 1, 0.992, 1.380, ""),
    ("execute_tool book", 1, 1.381, 1.491, ""),
    ("chat scripted", 1, 1.491, 1.852, "rate_limited"),
    ("chat scripted", 1, 1.904, 2.221, ""),
]
STYLE = """
.paper{fill:#fff}.panel{fill:#f6f8fa;stroke:#d0d7de}
text{fill:#1f2328;font:12px Helvetica,Arial,sans-serif}
.head{font-weight:bold;font-size:13px}.small{fill:#57606a;font-size:11px}.number{text-anchor:end}
.good{fill:#3f6fc9}.part{fill:#9ab6ea}.bad{fill:#c4682b}.line{stroke:#afb8c1}
@media (prefers-color-scheme:dark){
.paper{fill:#161b22}.panel{fill:#1d242d;stroke:#525c68}
text{fill:#e6edf3}.small{fill:#a5b0bc}
.good{fill:#6c9bf5}.part{fill:#34548f}.bad{fill:#e39352}.line{stroke:#525c68}
}"""


def text(x, y, words, kind=""):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{words}</text>'


def bar(x, y, width, height, kind):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height:g}" class="{kind}"/>'


def panel(x, y, width, height, title, subtitle):
    frame = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="panel"/>'
    return [frame, text(x + 14, y + 22, title, "head"), text(x + 14, y + 38, subtitle, "small")]


def calls():
    parts = panel(12, 12, 362, 202, "Calls by tool and outcome", "gen_ai.execute_tool.duration, count")
    for row, (tool, outcomes) in enumerate(CALLS):
        y, x = 68 + row * 38, 26
        errors = [f"{name} {count}" for name, count in outcomes if name != "ok"]
        parts.append(text(26, y, tool))
        parts.append(text(360, y, ", ".join(errors), "small number"))
        for name, count in outcomes:
            parts.append(bar(x, y + 6, count * 1.39, 12, "good" if name == "ok" else "bad"))
            x += count * 1.39 + 1
    return parts


def requests():
    parts = panel(386, 12, 362, 202, "Requests to the model", "gen_ai.client.inference.duration")
    for index, count in enumerate(REQUESTS):
        parts.append(bar(402 + index * 10.6, 180 - count * 1.8, 9.6, count * 1.8, "good"))
    parts.append('<path d="M402 180.5H732" class="line"/>')
    for seconds in (0, 0.5, 1, 1.5):
        parts.append(text(394 + seconds * 212, 198, f"{seconds:g} s", "small"))
    parts.append(text(734, 62, "median 0.66 s, 95 % within 1.22 s", "small number"))
    parts.append(text(734, 78, "650 answered, 14 rate_limited", "small number"))
    return parts


def tokens():
    parts = panel(12, 226, 736, 92, "Tokens", "gen_ai.client.inference.usage, sums")
    for row, (kind, counts) in enumerate(TOKENS):
        y, x = 282 + row * 22, 92
        parts.append(text(26, y, kind))
        for index, (name, count) in enumerate(counts):
            parts.append(bar(x, y - 10, count / 3000, 12, "part" if index == 0 else "good"))
            x += count / 3000 + 1
        parts.append(text(x + 8, y, ", ".join(f"{name} {count:,}" for name, count in counts), "small"))
    return parts


def run():
    parts = panel(12, 330, 736, 218, "One run", "a tree of spans")
    for row, (name, depth, start, end, error) in enumerate(RUN):
        y = 386 + row * 18
        parts.append(text(26 + depth * 14, y, name))
        parts.append(bar(200 + start * 210, y - 9, (end - start) * 210, 10, "bad" if error else "good"))
        label = f"{(end - start) * 1000:.0f} ms {error}"
        parts.append(text(206 + end * 210, y, label, "small"))
    return parts


described = (
    "Calls by tool and outcome, the durations of requests to a model, tokens by kind, and one run of an agent as a "
    "tree of spans, in which a tool takes too long and a request is repeated."
)
lines = [
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
    'role="img" aria-labelledby="title description">',
    '<title id="title">A dashboard of an agent</title>',
    f'<desc id="description">{described}</desc>',
    f"<style>{STYLE}</style>",
    f'<rect width="{WIDTH}" height="{HEIGHT}" class="paper"/>',
    *calls(),
    *requests(),
    *tokens(),
    *run(),
    "</svg>",
]
picture = pathlib.Path(__file__).with_suffix(".svg")
drawn = "\n".join(lines) + "\n"
if "--check" not in sys.argv:
    picture.write_text(drawn)
elif picture.read_text() != drawn:
    sys.exit(f"{picture} is not what this script draws; run it without `--check`")
