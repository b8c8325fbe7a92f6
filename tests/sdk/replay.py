#!/usr/bin/env python3
"""Replays recorded exchanges with real services, and compares what is read with the providers' SDKs.

usage: replay.py WIRE_DUMP FOLDER [--all] [--cuts N] [--packages NAME,NAME]

The recordings are in the source distributions of published packages, downloaded into FOLDER
(tests/sdk/recordings.py). Each response is read by WIRE_DUMP (`examples/wire_dump`) whole; each stream also byte
by byte, and cut off at N positions. The calls must be those of the provider's own SDK (tests/sdk/accumulators.py).
The tools and histories of the recorded requests are read, written again, and compared with the recording. A
difference needs a rule in `CALL_RULES` or `REQUEST_RULES`, which says why it is meant. With `--all`, a rule without
a difference is a fault, too.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

import accumulators
import recordings

GENERATED_ID = re.compile(r"call_[0-9a-f]{8}_\d+")
ABSENT = "(absent)"

# The fields of a request that a round trip must keep, beside its messages.
TOOL_FIELDS = ("tools", "toolConfig", "tool_choice", "parallel_tool_calls")
MESSAGES = {"openai_responses": "input", "gemini": "contents", "gemini_interactions": "input"}
# APIs whose results are parts of a message of the user: the list of parts, and the test for a result.
RESULT_PARTS = {
    "anthropic": ("content", lambda part: part.get("type") == "tool_result"),
    "gemini": ("parts", lambda part: "functionResponse" in part),
}


# ---------------------------------------------------------------- calls
def value(arguments):
    """Returns arguments as a value: the spelling of JSON does not matter."""
    try:
        return json.loads(arguments) if arguments else {}
    except (TypeError, ValueError):
        return arguments


def own_calls(replayed):
    return [(call["id"], call["name"], value(call["arguments"])) for call in replayed["calls"]]


def sdk_answer(exchange):
    """Returns the text and the calls that the SDK finds, or None and its error."""
    try:
        text, calls = accumulators.answer(exchange)
        return text, [(id, name, name and value(arguments)) for id, name, arguments in calls]
    except Exception as error:
        return None, error


def is_no_json(ours, theirs):
    """The SDK refuses the whole response for arguments that are no JSON, or drops what follows the last whole value."""
    if not any(isinstance(arguments, str) for _, _, arguments in ours):
        return False
    if isinstance(theirs, Exception):
        return isinstance(theirs, ValueError)
    return [call[:2] for call in ours] == [call[:2] for call in theirs] and all(
        a == b or isinstance(a, str) for (*_, a), (*_, b) in zip(ours, theirs)
    )


def is_early(ours, theirs):
    return ours == [] and isinstance(theirs, RuntimeError) and "Unexpected event order" in str(theirs)


def only_ids_differ(ours, theirs):
    if isinstance(theirs, Exception):
        return False
    same = [(name, arguments) for _, name, arguments in ours] == [(name, arguments) for _, name, arguments in theirs]
    pairs = zip(ours, theirs)
    return same and all(a == b or b is None and GENERATED_ID.fullmatch(a) for (a, *_), (b, *_) in pairs)


def only_ids_are_known(ours, theirs):
    """The SDK has items with fields of their own in place of a name and arguments."""
    if isinstance(theirs, Exception):
        return False
    pairs = zip(ours, theirs)
    same = all(a[0] == b[0] and (a == b or b[1] is None and isinstance(a[2], dict)) for a, b in pairs)
    return same and len(ours) == len(theirs)


# A rule: its name, why the difference is meant, and whether it covers a difference of our calls and the SDK's.
CALL_RULES = [
    ("no JSON", "arguments that are no JSON stay as they are: the call is refused, and the model can repeat it",
     is_no_json),
    ("unknown event", "events of later versions of the API are skipped, also before the first known one", is_early),
    ("generated id", "a call without an id gets one, so that its result can be matched", only_ids_differ),
    ("client item", "a call of a tool defined by the provider gets a name and arguments, so that a tool of the "
     "program can answer it", only_ids_are_known),
]


# ---------------------------------------------------------------- requests
def differences(recorded, written, path=""):
    """Yields the path, the recorded value and the written value of each difference."""
    if isinstance(recorded, dict) and isinstance(written, dict):
        for name in [*recorded, *(name for name in written if name not in recorded)]:
            yield from differences(recorded.get(name, ABSENT), written.get(name, ABSENT), f"{path}/{name}")
    elif isinstance(recorded, list) and isinstance(written, list) and len(recorded) == len(written):
        for one, other in zip(recorded, written):
            inner = "strict" if isinstance(one, dict) and is_strict(one) else "*"
            yield from differences(one, other, f"{path}/{inner}")
    elif isinstance(recorded, bool) != isinstance(written, bool) or recorded != written:
        yield path, recorded, written


def is_strict(tool):
    return tool.get("strict") is True or (tool.get("function") or {}).get("strict") is True


def one_spelling(request):
    """Returns the tools of a request in one spelling, where the service reads several."""
    text = json.dumps(request)
    text = text.replace('"function_declarations"', '"functionDeclarations"')
    # Gemini reads the types of schemas in both cases.
    return json.loads(re.sub(r'"type": "([A-Z]+)"', lambda match: match.group(0).lower(), text))


def round_trip(exchange, replayed):
    """Returns the differences of a request after a round trip; None if it has neither tools nor turns."""
    request, written = exchange["request"], replayed["written"]
    # The tools of some APIs are not read.
    tools, pieces = written.get("tools"), written["messages"]
    if not pieces and not written["is_repaired"] and not any(request.get(name) for name in TOOL_FIELDS):
        return None
    if "error" in (tools or {}) or "error" in pieces:
        return [("/error", "a request that the service accepted", (tools or {}).get("error") or pieces["error"])]
    recorded = {name: request[name] for name in TOOL_FIELDS if name in request}
    if exchange["format"] == "gemini":
        recorded, tools = one_spelling(recorded), one_spelling(tools)
    found = [] if tools is None else list(differences(recorded, tools))
    messages = request.get(MESSAGES.get(exchange["format"], "messages"))
    for piece in pieces:
        recorded, wrote = messages[piece["at"]:piece["at"] + piece["count"]], piece["written"]
        if piece["kind"] == "results" and exchange["format"] in RESULT_PARTS:
            field, is_result = RESULT_PARTS[exchange["format"]]
            recorded = [part for message in recorded for part in message[field] if is_result(part)]
            wrote = [part for message in wrote for part in message[field]]
        found.extend(differences(recorded, wrote, f"/{piece['kind']}"))
    if written["is_repaired"]:
        found.append(("/repaired", request.get("messages"), "another history"))
    return found


def added(default):
    return lambda recorded, written: recorded == ABSENT and written == default


def dropped(*values):
    return lambda recorded, written: recorded in values and written == ABSENT


def dropped_any(recorded, written):
    return written == ABSENT


def states_default(recorded, written):
    return ABSENT not in (recorded, written) and written.startswith(f"{recorded}\nBy default ")


def only_empty_texts_dropped(recorded, written):
    return [part for part in recorded if part != {"text": ""}] == written


def repeats_a_role(recorded, written):
    return any(one["role"] == other["role"] for one, other in zip(recorded, recorded[1:]))


DEFAULT = "the default of the API is written or left out"
MEMBER = r"/tools/.*/(input_schema|parameters)(/.*)?"
STRICT = r"/tools/strict/(.*/)?(input_schema|parameters)/(.*/)?"
DESCRIBED = "strict schemas have no defaults, so the description states the default"
INLINED = "in strict schemas, a reference with other keywords beside it is replaced by its target"
# A rule: the formats, the pattern of the path, whether it covers the recorded and the written value, and why the
# difference is meant.
REQUEST_RULES = [
    ("anthropic", "/tool_choice", added({"type": "auto"}), DEFAULT),
    ("openai_chat openai_responses", "/tool_choice", added("auto"), DEFAULT),
    ("gemini", "/toolConfig", added({"functionCallingConfig": {"mode": "AUTO"}}), DEFAULT),
    ("openai_responses", "/model/.*/status", dropped("completed"),
     "the request of the API has no status for calls of custom tools"),
    ("openai_chat", "/model/.*/content", added(None), "some servers require the field beside calls"),
    (None, "/tools|/tool_choice", dropped([], None, "auto"), "without tools, a choice would be refused"),
    (None, ".*/(cache_control|content)", dropped(None), "`null` says nothing, and some servers refuse it"),
    (None, f"{MEMBER}/required", dropped([]), "an empty list requires nothing"),
    (None, f"{STRICT}default", dropped_any, DESCRIBED),
    (None, f"{STRICT}description", states_default, DESCRIBED),
    ("anthropic", f"{STRICT}type", dropped("string"), "the values of `enum` have the type"),
    ("openai_chat openai_responses", rf"{STRICT}(\$ref|\$defs)", dropped_any, INLINED),
    ("openai_chat openai_responses", f"{STRICT}.*", lambda recorded, written: recorded == ABSENT, INLINED),
    ("gemini", "/model/.*/parts", only_empty_texts_dropped, "some models refuse empty texts"),
    ("bedrock", "/repaired", repeats_a_role, "most models behind the API require alternating roles"),
    ("gemini", ".*/parameters", dropped({"properties": {}, "required": [], "type": "object"}),
     "the API refuses objects without properties"),
]


# ---------------------------------------------------------------- report
class Report:
    """Counts what is equal, what a rule covers, and what is a fault."""

    def __init__(self):
        self.rows = collections.defaultdict(collections.Counter)
        self.trips = collections.defaultdict(collections.Counter)
        self.reasons = collections.Counter()
        self.used = set()
        self.faults = []

    def fault(self, exchange, text):
        self.faults.append(f"{exchange['package']}: {exchange['file']}: {exchange['format']}: {text}")

    def add_calls(self, exchange, replayed):
        row = self.rows[exchange["package"], exchange["format"]]
        row["streams" if "stream" in exchange else "bodies"] += 1
        for fault in replayed.get("faults", []):
            self.fault(exchange, fault)
        if "error" in replayed:
            return self.fault(exchange, replayed["error"])
        text, theirs = sdk_answer(exchange)
        if text not in (None, replayed["text"]):
            self.fault(exchange, f"the text is {replayed['text'][:300]!r}, and the SDK reads {text[:300]!r}")
        ours = own_calls(replayed)
        row["calls"] += len(ours)
        if ours == theirs:
            row["equal"] += 1
            return None
        for name, reason, covers in CALL_RULES:
            if covers(ours, theirs):
                row["by a rule"] += 1
                self.used.add(name)
                self.reasons[f"calls: {name}: {reason}"] += 1
                return None
        return self.fault(exchange, f"the calls are {ours}, and the SDK finds {theirs!r}")

    def add_request(self, exchange, replayed):
        found = round_trip(exchange, replayed)
        if found is None:
            return
        row = self.trips[exchange["format"]]
        row["requests"] += 1
        reasons = set()
        for path, recorded, written in found:
            rule = next((rule for rule in REQUEST_RULES if covers(rule, exchange["format"], path, recorded, written)), None)
            if rule is None:
                self.fault(exchange, f"{path}: {json.dumps(recorded)[:300]} is written as {json.dumps(written)[:300]}")
            else:
                self.used.add(rule)
                reasons.add(rule[3])
                self.reasons[f"requests: {rule[1]} ({rule[0] or 'all'}): {rule[3]}"] += 1

        row["unchanged" if not found else "only defaults" if reasons <= {DEFAULT} else "other"] += 1

    def print(self):
        print("| package | format | bodies | streams | calls | equal | by a rule |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for (package, format), row in sorted(self.rows.items()):
            fields = [package, format] + [row[name] for name in ("bodies", "streams", "calls", "equal", "by a rule")]
            print("|", " | ".join(map(str, fields)), "|")
        print("\n| format | requests with tools or turns | unchanged | defaults written | other rules |")
        print("| --- | --- | --- | --- | --- |")
        for format, row in sorted(self.trips.items()):
            fields = [format] + [row[name] for name in ("requests", "unchanged", "only defaults", "other")]
            print("|", " | ".join(map(str, fields)), "|")
        print()
        for reason, count in sorted(self.reasons.items()):
            print(f"{count:5} {reason}")
        for fault in self.faults:
            print("FAULT", fault)


def covers(rule, format, path, recorded, written):
    formats, pattern, test, _ = rule
    return (formats is None or format in formats.split()) and re.fullmatch(pattern, path) and test(recorded, written)


# ---------------------------------------------------------------- run
def line(exchange):
    """Returns an exchange for `wire_dump`. The bytes of a stream become the characters of a string."""
    fields = {name: exchange[name] for name in ("format", "request", "body") if name in exchange}
    if "stream" in exchange:
        fields["stream"] = exchange["stream"].decode("latin-1")
    return json.dumps(fields)


def distinct(exchanges):
    """Leaves out exchanges that were recorded several times."""
    seen = set()
    for exchange in exchanges:
        key = line(exchange)
        if key not in seen:
            seen.add(key)
            yield exchange


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wire_dump", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--packages")
    options = parser.parse_args()
    packages = recordings.PACKAGES if options.all else recordings.QUICK
    packages = options.packages.split(",") if options.packages else packages
    try:
        archives = recordings.download(packages, options.folder)
    except subprocess.CalledProcessError as error:
        print(f"replay: cannot run, {error}")
        sys.exit(3)
    exchanges = [each for name, path in archives.items() for each in recordings.exchanges(name, path)]
    exchanges = list(distinct(exchanges))

    lines, output = options.folder / "exchanges.jsonl", options.folder / "replayed.jsonl"
    lines.write_text("".join(line(exchange) + "\n" for exchange in exchanges))
    with output.open("w") as file:
        command = [options.wire_dump, "--replay", lines, str(options.cuts)]
        subprocess.run(command, stdout=file, check=True)
    report, asked = Report(), set()
    for exchange, text in zip(exchanges, output.read_text().split("\n"), strict=False):
        replayed = json.loads(text)
        report.add_calls(exchange, replayed)
        request = json.dumps([exchange["format"], exchange["request"]])
        if isinstance(exchange["request"], dict) and request not in asked:
            asked.add(request)
            report.add_request(exchange, replayed)
    for name, used in [(rule[0], rule[0]) for rule in CALL_RULES] + [(rule[1], rule) for rule in REQUEST_RULES]:
        if options.all and used not in report.used:
            report.faults.append(f"the rule `{name}` covers nothing")
    report.print()
    print(f"replay: {len(exchanges)} exchanges of {len(archives)} packages, {len(report.faults)} faults")
    sys.exit(1 if report.faults else 0)


if __name__ == "__main__":
    main()
