"""Compares the requests of toolkit-openapi with those of FastMCP, and has a mock server check them.

    openapi_requests.py --driver PROGRAM --document FILE [--fastmcp] [--record FILE] [--facts FILE] [--plant]
                        [--mock URL --mock-log FILE] [--least N]

`--fastmcp` makes the requests of FastMCP here, `--facts` reads them from a file that `--record` has written, and
`--mock` sends all calls to Prism, whose log says what is wrong with a request. `--plant` changes the document for toolkit only, so that
the comparison must fail.
"""

import argparse
import asyncio
import base64
import copy
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from openapi_arguments import BYTES, Generator

PLACES = {"path": 0, "query": 1, "header": 3, "cookie": 4}


# -- Requests in a form that can be compared ---------------------------------------------------------------------------


def normal(method, target, headers, body):
    """A request without what does not matter: spellings of percent-encoding, the order of names, boundaries."""
    path, _, query = target.partition("?")
    headers = {name.lower(): value for name, value in headers}
    media_type = headers.get("content-type", "")
    return {
        "method": method,
        # Encoded slashes stay encoded: the number of segments matters.
        "path": [unquote(segment) for segment in path.split("/")],
        # The order matters among values of one name only.
        "query": named(query),
        "headers": headers,
        "body": content(media_type, body),
    }


def named(text):
    """The names and values of a query or a form. JSON in a value is the same in every spelling."""
    texts = ([unquote(part.replace("+", " ")) for part in pair.partition("=")[::2]] for pair in text.split("&") if pair)
    return sorted(([name, canonical(value)] for name, value in texts), key=lambda pair: pair[0])


def canonical(text):
    try:
        return json.loads(text) if text.startswith(("{", "[")) else text
    except ValueError:
        return text


def content(media_type, body):
    if not body:
        return None
    if "json" in media_type:
        return json.loads(body)
    if media_type.startswith("application/x-www-form-urlencoded"):
        return named(body.decode())
    if media_type.startswith("multipart/"):
        message = BytesParser().parsebytes(f"Content-Type: {media_type}\r\n\r\n".encode() + body)
        return [[part.get_param("name", header="content-disposition"), part.get_payload(decode=True).decode("latin-1")] for part in message.get_payload()]
    return body.decode("latin-1")


# -- Our requests ------------------------------------------------------------------------------------------------------


class Recorder:
    """A server that keeps the last request."""

    def __init__(self):
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_request(self):
                length = int(self.headers.get("content-length") or 0)
                recorder.last = normal(self.command, self.path, self.headers.items(), self.rfile.read(length))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD = handle_request

            def log_message(self, *_):
                pass

        self.last = None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


class Driver:
    """The example `openapi_calls` with a document."""

    def __init__(self, program, document, url):
        self.process = subprocess.Popen([program, document, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.tools = {}
        while "tools" not in (line := self.line()):
            if "issue" in line:
                sys.exit(f"an issue of the document: {line['issue']}")
            self.tools[line["operation"]] = (line["tool"], line["arguments"])

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the driver has ended")
        return json.loads(line)

    def call(self, tool, arguments):
        self.process.stdin.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        return self.line()


def our_arguments(known, values, body):
    """The arguments by our names: the first of a name keeps it, and others are told apart by their place."""
    taken = set()

    def name_of(name, place):
        if name in taken:
            name = f"{name}_in_{place}"
        taken.add(name)
        return name

    arguments = {}
    for place, name, value in sorted(values, key=lambda value: PLACES[value[0]]):
        arguments[name_of(name, place)] = value
    if body is None:
        return arguments
    _, value, members = body
    whole = {"body", "body_in_body"} & (known - taken)
    if whole and known - taken == whole and members != {"body"}:
        arguments[whole.pop()] = value
    else:
        for name, member in value.items():
            arguments[name_of(name, "body")] = member
    return arguments


# -- FastMCP's requests ------------------------------------------------------------------------------------------------


class Theirs:
    """FastMCP, with a transport that keeps the last request."""

    def __init__(self, document):
        import httpx2
        from fastmcp import FastMCP

        def handle(request):
            self.last = normal(request.method, request.url.raw_path.decode(), request.headers.items(), request.read())
            return httpx2.Response(200, json={})

        client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle), base_url="http://service")
        server = FastMCP.from_openapi(document, client=client, validate_output=False)
        self.tools = {}
        for provider in server.providers:
            for tool in getattr(provider, "_tools", {}).values():
                route = tool._route
                self.tools[(route.method.lower(), route.path)] = tool

    def request(self, method, path, values, body):
        from fastmcp.server.providers.openapi.components import _prepare_parameter_map

        tool = self.tools[(method, path)]
        _, names = _prepare_parameter_map(tool._route)
        by_place = {(entry["location"], entry["openapi_name"]): name for name, entry in names.items()}
        arguments = {by_place[(place, name)]: value for place, name, value in values}
        if body is not None:
            members = body[1]
            if isinstance(members, dict) and all(("body", name) in by_place for name in members):
                arguments.update({by_place[("body", name)]: value for name, value in members.items()})
            else:
                whole = [name for name, entry in names.items() if entry["location"] == "body"]
                arguments[whole[0] if whole else "body"] = members
        self.last = None
        asyncio.run(tool.run(arguments))
        return self.last


# -- The comparison ----------------------------------------------------------------------------------------------------

RULES = {}


def rule(text):
    """A difference that the specification explains: the function makes their request as it should be."""

    def add(function):
        RULES[function] = text
        return function

    return add


@rule("bytes are Base64 in the arguments, since JSON has no bytes; FastMCP sends the Base64 text itself")
def decoded_bytes(expected, node, values, body):
    if body is None or body[0] not in BYTES:
        return False
    expected["body"] = base64.b64decode(expected["body"]).decode("latin-1")
    return True


@rule("a parameter with `content` is one value in its media type (OpenAPI 3.1, 4.8.12.2); FastMCP writes it as a form")
def content_of_parameter(expected, node, values, body):
    names = [parameter["name"] for parameter in node.get("parameters", []) if "content" in parameter]
    given = [[name, value] for _, name, value in values if name in names]
    if given:
        expected["query"] = given
    return bool(given)


def relevant(request, values):
    """The request with the headers that the operation has, and the type of the body without its boundary."""
    wanted = {name.lower() for place, name, _ in values if place == "header"} | {"content-type", "cookie"}
    headers = {name: value.split(";")[0] if name == "content-type" else value for name, value in request["headers"].items() if name in wanted}
    return {**request, "headers": headers}


def compare(options, document, generator):
    recorder = Recorder()
    path = options.document
    if options.plant:
        changed = re.sub(r'"explode": false', '"explode": true', open(path).read())
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            file.write(changed)
        path = file.name
    driver = Driver(options.driver, path, recorder.url)
    theirs = Theirs(document) if options.fastmcp else None
    facts = json.load(open(options.facts)) if options.facts else {}
    recorded = {}
    counts = Counter()
    faults = []
    for operation, method, path, item, node in generator.operations():
        values, body = generator.call(item, node)
        tool, known = driver.tools[operation]
        recorder.last = None
        outcome = driver.call(tool, our_arguments(set(known), values, body))
        if recorder.last is None:
            faults.append(f"{operation}: {outcome}")
            continue
        expected = relevant(theirs.request(method, path, values, body), values) if theirs else facts[operation]
        recorded[operation] = copy.deepcopy(expected)
        applied = [text for change, text in RULES.items() if change(expected, node, values, body)]
        counts["compared"] += 1
        counts.update(applied)
        ours = relevant(recorder.last, values)
        different = {part: (ours[part], expected[part]) for part in expected if ours[part] != expected[part]}
        if different:
            faults.append(f"{operation}: {different}"[:600])
    if options.record:
        with open(options.record, "w") as file:
            json.dump(recorded, file, indent=1, ensure_ascii=False)
            file.write("\n")
    return counts, faults


# What the mock server finds wrong although the document is at fault, with the reason.
OF_DOCUMENT = {
    "must match exactly one schema in oneOf": "a number in a path is an integer and a string at once, and the document allows one",
}


def checked_by_mock(options, document, generator):
    driver = Driver(options.driver, options.document, options.mock)
    counts = Counter()
    faults = []
    for operation, _, _, item, node in generator.operations():
        values, body = generator.call(item, node)
        tool, known = driver.tools[operation]
        outcome = driver.call(tool, our_arguments(set(known), values, body))
        if "has answered" not in outcome.get("error", "has answered"):
            faults.append(f"{operation}: {outcome}"[:600])
    time.sleep(1)
    lines = open(options.mock_log).read().splitlines()
    counts["compared"] = sum("The request passed the validation rules" in line for line in lines)
    for line, following in zip(lines, lines[1:]):
        if "did not pass the validation rules" in line:
            reason = next((reason for text, reason in OF_DOCUMENT.items() if text in following), None)
            if reason:
                counts[reason] += 1
            else:
                faults.append(following)
    return counts, faults


def main():
    parser = argparse.ArgumentParser()
    for name in ("driver", "document"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("facts", "record", "mock", "mock-log"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--fastmcp", action="store_true")
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--least", type=int, default=1)
    options = parser.parse_args()
    document = json.load(open(options.document))
    generator = Generator(document)
    run = checked_by_mock if options.mock else compare
    counts, faults = run(options, document, generator)
    for name, count in counts.items():
        print(f"{count:5} {name}")
    for fault in faults[:20]:
        print("FAULT", fault)
    print(f"{len(faults)} faults")
    if faults or counts["compared"] < options.least:
        sys.exit(1)


if __name__ == "__main__":
    main()
