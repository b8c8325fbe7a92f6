"""Tool results and streams that are made from the SDKs' types, for `unions.py`."""

import json
import typing

import anthropic.types.beta as anthropic_beta
import botocore.session
import google.genai._gaos.types.interactions as interactions
import openai.types.responses as responses
import typing_extensions
from google.genai import types as google

# How the SDKs call a type that they do not know, and steps of the user.
UNKNOWN = {"UNKNOWN"}
OF_USER = {"user_input", "function_result"}
# What each delta says.
SAID = "said in a delta"
TEXT_FIELDS = {"text", "thinking", "signature", "content", "encrypted_content", "data", "result"}
TEXT = {"type": "text", "text": "a"}
# The part that each delta of a stream continues. Other deltas have the name of their part.
CONTINUED = {
    "text_delta": TEXT, "citations_delta": TEXT, "compaction_delta": {"type": "compaction"},
    "thinking_delta": {"type": "thinking", "thinking": ""}, "signature_delta": {"type": "thinking", "thinking": "a"},
    "input_json_delta": {"type": "tool_use", "id": "x_1", "name": "n", "input": {}},
    "thought_summary": {"type": "thought"}, "thought_signature": {"type": "thought"},
    "arguments_delta": {"type": "function_call", "id": "x_1", "name": "n", "arguments": {}},
    **dict.fromkeys(("text", "text_annotation_delta", "image", "audio", "video", "document"),
                    {"type": "model_output", "content": [TEXT]}),
}


def literals(kind):
    """Returns the strings of all `Literal`s in a type."""
    if typing.get_origin(kind) is typing.Literal:
        return set(map(str, typing.get_args(kind)))
    return set().union(*map(literals, typing.get_args(kind)), set())


def members(kind):
    """Returns the models and dictionaries in a union."""
    if hasattr(kind, "model_fields") or typing_extensions.is_typeddict(kind):
        return {kind}
    return set().union(*map(members, typing.get_args(kind)), set())


def names(kind):
    """Returns the names of the fields of a model or a dictionary."""
    return set(kind.model_fields) if hasattr(kind, "model_fields") else set(typing.get_type_hints(kind))


def tags(kind):
    """Returns the values of `type` in the members of a union of models or dictionaries."""
    if hasattr(kind, "model_fields"):
        field = kind.model_fields.get("type")
        return literals(field.annotation) if field else set()
    if typing_extensions.is_typeddict(kind):
        return literals(typing.get_type_hints(kind, include_extras=True).get("type", str))
    return set().union(*map(tags, typing.get_args(kind)), set())


def camel(name):
    first, *words = name.split("_")
    return first + "".join(map(str.title, words))


def converse(shape):
    return botocore.session.get_session().get_service_model("bedrock-runtime").shape_for(shape)


def contents(kind):
    """Yields a content of each type in a union, with each of its fields."""
    for member in members(kind):
        for tag in tags(member) - UNKNOWN:
            for name in sorted(names(member) - {"type"}):
                yield f"{tag}.{name}", {"type": tag, name: "a" if name == "text" else [{"x": 1}]}


# Requests with a tool result that has further fields.
def of_anthropic(fields):
    block = {"type": "tool_result", "tool_use_id": "c_1", "content": "x", **fields}
    return "anthropic", {"messages": [{"role": "user", "content": [block]}]}


def of_responses(fields):
    return "openai_responses", {"input": [{"type": "function_call_output", "call_id": "c_1", "output": "x", **fields}]}


def of_gemini(fields):
    result = {"id": "c_1", "name": "n", "response": {"output": "x"}, **fields}
    return "gemini", {"contents": [{"role": "user", "parts": [{"functionResponse": result}]}]}


def results():
    """Yields the name, the format and a request with each field of a tool result and of its contents, for APIs whose requests are read."""
    output = responses.response_input_item_param.FunctionCallOutput
    block = anthropic_beta.BetaToolResultBlockParam
    for request, result, field, kinds in [
        (of_anthropic, block, "content", members(typing.get_type_hints(block)["content"])),
        (of_responses, output, "output", members(responses.ResponseFunctionCallOutputItemParam)),
    ]:
        assert kinds, result
        for name, content in [each for kind in kinds for each in contents(kind)]:
            yield name, *request({field: [content]})
        for name in names(result) - {"type", "tool_use_id", "call_id", "name", field}:
            yield name, *request({name: True if name == "is_error" else "x"})
    for name in set(map(camel, google.FunctionResponse.model_fields)) - {"id", "name", "response", "parts"}:
        yield name, *of_gemini({name: "x"})
    media = {"mimeType": "image/png", "data": "eA=="}
    for name in map(camel, google.FunctionResponsePart.model_fields):
        yield name, *of_gemini({"parts": [{"inlineData": media, name: media}]})


def delta(kind):
    """Returns a delta of a type, which says SAID in one of its fields."""
    tag, = tags(kind)
    if tag == "thought_summary":
        return {"type": tag, "content": {"type": "text", "text": SAID}}
    fields = names(kind) - {"type", "is_error"}
    for name in sorted(fields & TEXT_FIELDS):
        return {"type": tag, name: SAID}
    said = {"q": SAID}
    if tag in ("input_json_delta", "arguments_delta"):
        said = json.dumps(said)
    name = sorted(fields)[0]
    return {"type": tag, name: [said] if name == "annotations" else said}


def streams():
    """Yields the format, the name and the events of a stream with each delta, and with each item at its end."""
    message = {"type": "message", "role": "assistant", "content": []}
    for kind in members(anthropic_beta.BetaRawContentBlockDelta):
        tag, = tags(kind)
        yield "anthropic", tag, [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": CONTINUED.get(tag, {"type": tag})},
            {"type": "content_block_delta", "index": 0, "delta": delta(kind)},
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": TEXT},
            {"type": "content_block_stop", "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    for kind in members(interactions.StepDeltaData):
        for tag in tags(kind) - UNKNOWN - OF_USER:
            yield "gemini_interactions", tag, [
                {"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}},
                {"event_type": "step.start", "index": 0, "step": CONTINUED.get(tag, {"type": tag, "id": "x_1"})},
                {"event_type": "step.delta", "index": 0, "delta": delta(kind)}, {"event_type": "step.stop", "index": 0},
                {"event_type": "interaction.completed", "interaction": {"id": "i", "status": "completed"}}]
    for kind in tags(responses.ResponseOutputItem) - {"message"}:
        item = {"type": kind, "id": "x_1", "call_id": "c_1", "name": "n", "input": SAID, "arguments": "{}",
                "execution": "server", "summary": [], "encrypted_content": "e", "said": SAID}
        text = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "a", "annotations": []}]}
        body = {"id": "r", "object": "response", "output": []}
        yield "openai_responses", kind, [
            {"type": "response.created", "response": {**body, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": kind, "id": "x_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 1, "item": text},
            {"type": "response.completed", "response": {**body, "status": "completed"}}]
