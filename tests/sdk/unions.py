#!/usr/bin/env python3
"""Checks that no part of a response, no tool and no finish reason of the SDKs' types is unknown or lost.

usage: unions.py WIRE_DUMP FOLDER

The SDKs list the types of the items, content blocks, steps and tools of each API. For each type, this script makes a
response with such a part beside a text, and a request with such a tool. It also makes a response with each field of a
message and of its text, and with `tests/sdk/made.py` a request with each field of a tool result and of its contents, and a stream
with each type of delta. WIRE_DUMP (`examples/wire_dump --replay`) reads and writes them. The part must be in the message
for the next request to the same API, unchanged, and so must be what a stream said. For another API, the part must be
reported as lost, unless its text or its call is sent. The tool and the result must be sent unchanged. Each finish reason
must be in the table of toolkit-llm/src/tests/reports.rs.
"""

import json
import pathlib
import subprocess
import sys

import anthropic.types as anthropic
import anthropic.types.beta as anthropic_beta
import cohere.types
import google.genai._gaos.types.interactions as interactions
import ollama
import openai.types.responses as responses
from google.genai import types as google
from made import OF_USER, SAID, UNKNOWN, camel, converse, literals, results, streams, tags
from mistralai.client.models import AssistantMessage, ChatCompletionChoice
from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

ROOT = pathlib.Path(__file__).parents[2]
REASONS = ROOT / "toolkit-llm/src/tests/reports.rs"

# The types whose text is sent to every API, and reasoning, which only the same model can use.
CARRIED = {"text", "thinking", "redacted_thinking", "message", "reasoning", "model_output", "thought", "reasoningContent",
           "citationsContent"}
# The fields of messages and texts that every API receives, or that describe only the message itself.
CARRIED_FIELDS = {"role", "type", "id", "status", "phase", "content", "text", "refusal", "tool_calls", "function_call",
                  "tool_plan", "thinking", "tool_name"}
# The fields of a part of Gemini that are no content.
GEMINI_ATTRIBUTES = {"thought", "thoughtSignature", "mediaResolution", "videoMetadata", "partMetadata", "functionResponse"}
# The program's own tools.
OWN_TOOLS = {"function", "custom", "namespace"}
# Fields that some part of an API requires.
FIELDS = {"id": "x_1", "call_id": "c_1", "name": "n", "input": {}, "arguments": "{}", "execution": "server"}


def parts():
    """Yields the format, the type and a response with each part, and the index of the part in the response."""
    text = {"type": "text", "text": "Hello."}
    said = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}]}
    for kind in tags(responses.ResponseOutputItem):
        item = {"type": kind, **FIELDS, "summary": [], "encrypted_content": "e"}
        item = {**said, "id": "x"} if kind == "message" else item
        yield "openai_responses", kind, {"id": "r", "object": "response", "status": "completed", "output": [item, said]}, 0
    for kind in tags(anthropic.ContentBlock) | tags(anthropic_beta.BetaContentBlock):
        block = {"type": kind, **FIELDS, "text": "a", "thinking": "a", "signature": "s", "tool_use_id": "x_1"}
        body = {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [block, text]}
        yield "anthropic", kind, body, 0
    for kind in set(map(camel, google.Part.model_fields)) - {"text"} - GEMINI_ATTRIBUTES:
        part = {kind: {"name": "n", "args": {}, "x": 1}}
        content = {"role": "model", "parts": [{"text": "Hello."}, part]}
        yield "gemini", kind, {"candidates": [{"finishReason": "STOP", "content": content}]}, 1
    for kind in tags(interactions.Step) - OF_USER - UNKNOWN:
        step = {"type": kind, **FIELDS, "arguments": {}, "call_id": None, "content": [text], "summary": []}
        step = {name: value for name, value in step.items() if value is not None}
        body = {"id": "i", "object": "interaction", "status": "completed", "steps": [step, {"type": "model_output", "content": [text]}]}
        yield "gemini_interactions", kind, body, 0
    for kind in set(converse("ContentBlock").members) - {"text", "toolResult"}:
        block = {kind: {"toolUseId": "x_1", "name": "n", "input": {}}}
        message = {"role": "assistant", "content": [block, {"text": "Hello."}]}
        yield "bedrock", kind, {"stopReason": "end_turn", "output": {"message": message}}, 0


def fields():
    """Yields the format, the name and a response with each field of a message and of its text, and the field."""
    value, text = [{"x": 1}], {"type": "text", "text": "Hello."}
    chat = set(ChatCompletionMessage.model_fields) | set(AssistantMessage.model_fields)
    for name in chat - CARRIED_FIELDS:
        field = {name: {"id": "x"} if name == "audio" else value}
        message = {"role": "assistant", "content": "Hello.", **field}
        yield "openai_chat", name, {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}, field
    for name in set(ollama.Message.model_fields) - CARRIED_FIELDS:
        message = {"role": "assistant", "content": "Hello.", name: value}
        yield "ollama", name, {"model": "m", "done": True, "message": message}, {name: value}
    for name in set(cohere.types.AssistantMessageResponse.model_fields) - CARRIED_FIELDS:
        message = {"role": "assistant", "content": [text], name: value}
        yield "cohere", name, {"finish_reason": "COMPLETE", "message": message}, {name: value}
    for name in (set(anthropic.TextBlock.model_fields) | set(anthropic_beta.BetaTextBlock.model_fields)) - CARRIED_FIELDS:
        body = {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{**text, name: value}]}
        yield "anthropic", name, body, {name: value}
    for name in set(responses.ResponseOutputText.model_fields) - CARRIED_FIELDS:
        said = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Hello.", name: value}]}
        yield "openai_responses", name, {"id": "r", "status": "completed", "output": [said]}, {name: value}
    for name in set(interactions.TextContent.model_fields) - CARRIED_FIELDS:
        step = {"type": "model_output", "content": [{**text, name: value}]}
        yield "gemini_interactions", name, {"id": "i", "status": "completed", "steps": [step]}, {name: value}


def tools():
    """Yields the format and the definition of each hosted tool, for APIs whose requests are read."""
    unions = {"openai_responses": tags(responses.ToolParam),
              "anthropic": tags(anthropic.ToolUnionParam) | tags(anthropic_beta.BetaToolUnionParam)}
    for format, kinds in unions.items():
        for kind in kinds - OWN_TOOLS - UNKNOWN:
            yield format, {"type": kind, "name": "n"}
    for kind in set(map(camel, google.Tool.model_fields)) - {"functionDeclarations"}:
        yield "gemini", {kind: {}}


def reasons():
    """Returns the finish reasons of all APIs."""
    found = literals(Choice.model_fields["finish_reason"].annotation) | literals(responses.ResponseStatus)
    found |= literals(responses.response.IncompleteDetails.model_fields["reason"].annotation)
    found |= literals(anthropic.StopReason) | literals(anthropic_beta.BetaStopReason)
    found |= {reason.value for reason in google.FinishReason}
    found |= literals(ChatCompletionChoice.model_fields["finish_reason"].annotation)
    found |= set(map(str, converse("StopReason").enum))
    found |= literals(cohere.types.ChatFinishReason) | literals(interactions.InteractionStatus)
    return found


def part(body, index):
    """Returns a part of a response."""
    if "candidates" in body:
        return body["candidates"][0]["content"]["parts"][index]
    if "stopReason" in body:
        return body["output"]["message"]["content"][index]
    return next(body[name] for name in ("output", "content", "steps") if name in body)[index]


def objects(value):
    """Yields all objects in a JSON value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else []:
        yield from objects(inner)


def main():
    dump, folder = map(pathlib.Path, sys.argv[1:])
    checks = [(format, kind, {"format": format, "body": body}, index) for format, kind, body, index in parts()]
    bodies = {format: body for format, _, body, _ in parts()}
    for format, name, body, field in fields():
        checks.append((format, name, {"format": format, "body": body}, field))
    for format, tool in tools():
        checks.append((format, tool, {"format": format, "body": bodies[format], "request": {"tools": [tool]}}, None))
    for name, format, request in results():
        checks.append((format, name, {"format": format, "body": bodies[format], "request": request}, "result"))
    for format, name, events in streams():
        stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        checks.append((format, name, {"format": format, "stream": stream}, "stream"))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "unions.jsonl"
    file.write_text("".join(json.dumps(check) + "\n" for _, _, check, _ in checks))
    output = subprocess.run([dump, "--replay", file], stdout=subprocess.PIPE, check=True, text=True).stdout
    faults = []
    for (format, kind, check, index), line in zip(checks, output.splitlines(), strict=True):
        read = json.loads(line)
        if "error" in read:
            faults.append(f"{format}: {kind}: {read['error']}")
        elif index == "stream":
            if SAID not in json.dumps(read["native"]):
                faults.append(f"{format}: the stream of {kind} is sent back as {json.dumps(read['native'])[:200]}")
        elif index == "result":
            sent = [message for piece in read["written"]["messages"] for message in piece["written"]]
            if sent not in check["request"].values():
                faults.append(f"{format}: the result with {kind} is sent as {json.dumps(sent)[:300]}")
        elif index is None:
            written = read["written"]["tools"].get("tools")
            if written != check["request"]["tools"]:
                faults.append(f"{format}: the tool {kind} is sent as {json.dumps(read['written'])[:200]}")
        elif isinstance(index, dict):
            if not any(index.items() <= found.items() for found in objects(read["native"])):
                faults.append(f"{format}: the field `{kind}` is not sent back: {json.dumps(read['native'])[:200]}")
            if read["text"] != "Hello." or kind not in read["lost"]:
                faults.append(f"{format}: the field `{kind}` is lost for other APIs without a report")
        else:
            came, sent = part(check["body"], index), json.dumps(read["native"])
            # Calls are written again, with arguments and ids that the API accepts.
            if not read["calls"] and came not in objects(read["native"]):
                faults.append(f"{format}: `{kind}` is not sent back: {sent[:200]}")
            is_told = kind in CARRIED or kind.endswith("etadata") or kind in read["lost"]
            if not is_told and not read["calls"]:
                faults.append(f"{format}: `{kind}` is lost for other APIs without a report")
    table = REASONS.read_text()
    faults += [f"the reason `{reason}` is not in {REASONS.name}" for reason in reasons() if f'"{reason}"' not in table]
    print("\n".join(["FAULT " + fault for fault in faults]))
    print(f"unions: {len(checks)} parts, fields, tools, results and streams, {len(reasons())} finish reasons, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
