"""Reads recorded answers with the official SDKs of the providers.

`answer(exchange)` returns the text of an answer, and its tool calls as a list of `(id, name, arguments)`, with the
arguments as JSON text. The readers yield both: pieces of text as strings, and calls as tuples. The SDK gets the recorded bytes as the answer to a request, so its own reader of streams is used.
"""

import json

import anthropic
import botocore.awsrequest
import botocore.session
import cohere
import httpx2
import ollama
import openai
from anthropic.lib.streaming._beta_messages import accumulate_event
from google import genai
from google.genai import types as google
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.lib.streaming.responses._responses import ResponseStreamState


class Answer(httpx2.BaseTransport):
    """Answers each request with the recorded bytes."""

    def handle_request(self, request):
        return httpx2.Response(200, headers={"content-type": self.kind}, content=self.data)


ANSWER = Answer()
HTTP = httpx2.Client(transport=ANSWER)
OPENAI = openai.OpenAI(api_key="x", base_url="http://127.0.0.1:1/v1", max_retries=0, http_client=HTTP)
ANTHROPIC = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1:1", max_retries=0, http_client=HTTP)
GOOGLE = genai.Client(api_key="x", http_options=google.HttpOptions(base_url="http://127.0.0.1:1", httpx_client=HTTP))
MESSAGES = [{"role": "user", "content": "x"}]

# The calls of the Responses API that the program answers, beside functions.
CLIENT_ITEMS = {"custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call"}


def text(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def openai_chat(is_stream):
    completions = OPENAI.chat.completions
    if is_stream:
        state = ChatCompletionStreamState()
        for chunk in completions.create(model="m", messages=MESSAGES, stream=True):
            state.handle_chunk(chunk)
        completion = state.current_completion_snapshot
    else:
        completion = completions.create(model="m", messages=MESSAGES)
    for choice in completion.choices[:1]:
        # A spoken answer has its text in the transcript.
        content = choice.message.content or getattr(choice.message.audio, "transcript", None) or ""
        # Mistral's reasoning models answer with a list.
        yield content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    for choice in completion.choices:
        if older := choice.message.function_call:
            yield None, older.name, older.arguments
        for call in choice.message.tool_calls or []:
            if getattr(call, "custom", None):
                yield call.id, call.custom.name, json.dumps({"input": call.custom.input})
            else:
                yield call.id, call.function.name, call.function.arguments or ""


def openai_responses(is_stream):
    if is_stream:
        state = ResponseStreamState(input_tools=[], text_format=openai.omit)
        response = None
        for event in OPENAI.responses.create(model="m", input="x", stream=True):
            state.handle_event(event)
            response = getattr(event, "response", response)
        snapshot = state._ResponseStreamState__current_snapshot
        # Some servers leave the output of the last event empty.
        response = response if response.output else snapshot
    else:
        response = OPENAI.responses.create(model="m", input="x")
    for item in response.output:
        if item.type == "message":
            yield from (part.text for part in item.content if part.type == "output_text")
        if item.type == "function_call":
            yield item.call_id, item.name, item.arguments
        elif item.type == "custom_tool_call":
            yield item.call_id, item.name, json.dumps({"input": item.input})
        elif item.type in CLIENT_ITEMS or item.type == "tool_search_call" and item.execution == "client":
            yield item.call_id, None, None
        elif item.type == "mcp_approval_request":
            yield item.id, None, None


def anthropic_(is_stream):
    messages = ANTHROPIC.beta.messages
    if is_stream:
        message, buffers = None, {}
        for event in messages.create(model="m", max_tokens=9, messages=MESSAGES, stream=True):
            message = accumulate_event(
                event=event, current_snapshot=message, json_bufs=buffers, request_headers=httpx2.Headers()
            )
    else:
        message = messages.create(model="m", max_tokens=9, messages=MESSAGES)
    for block in message.content:
        if block.type == "text":
            yield block.text
        if block.type == "tool_use":
            yield block.id, block.name, text(block.input)


def gemini(is_stream):
    models = GOOGLE.models
    if is_stream:
        responses = models.generate_content_stream(model="m", contents="x")
    else:
        responses = [models.generate_content(model="m", contents="x")]
    for response in responses:
        for candidate in (response.candidates or [])[:1]:
            parts = candidate.content and candidate.content.parts or []
            yield "".join(part.text for part in parts if part.text and not part.thought)
        for call in response.function_calls or []:
            yield call.id, call.name, text(call.args or {})


def gemini_interactions(is_stream):
    if not is_stream:
        for step in GOOGLE.interactions.create(model="m", input="x").steps or []:
            if step.type == "model_output":
                yield from (block.text for block in step.content or [] if block.type == "text")
            elif step.type == "function_call":
                yield step.id, step.name, text(step.arguments or {})
        return
    # The SDK has no accumulator, so the pieces are joined here.
    calls = {}
    for event in GOOGLE.interactions.create(model="m", input="x", stream=True):
        if event.event_type == "step.start" and event.step.type == "function_call":
            calls[event.index] = [event.step, ""]
        elif event.event_type == "step.delta" and event.delta.type == "text":
            yield event.delta.text
        elif event.event_type == "step.delta" and event.index in calls:
            calls[event.index][1] += event.delta.arguments or ""
    for call, arguments in calls.values():
        yield call.id, call.name, arguments or "{}"


class Raw:
    """The body of a response, as botocore reads it."""

    def __init__(self, data):
        self.data = data

    def stream(self, amt=1024, decode_content=None):
        yield self.data

    def read(self, amt=None):
        data, self.data = self.data, b""
        return data

    def release_conn(self):
        pass

    def close(self):
        pass


def bedrock(is_stream):
    session = botocore.session.get_session()
    client = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url="http://127.0.0.1:1",
                                   aws_access_key_id="x", aws_secret_access_key="x")

    def answer(request, **_):
        headers = {"content-type": ANSWER.kind}
        return botocore.awsrequest.AWSResponse(request.url, 200, headers, Raw(ANSWER.data))

    client.meta.events.register("before-send", answer)
    messages = [{"role": "user", "content": [{"text": "x"}]}]
    if not is_stream:
        message = client.converse(modelId="m", messages=messages)["output"]["message"]
        for block in message["content"]:
            yield block.get("text", "")
            yield from (part["text"] for part in block.get("citationsContent", {}).get("content", []))
            if "toolUse" in block:
                yield block["toolUse"]["toolUseId"], block["toolUse"]["name"], text(block["toolUse"]["input"])
        return
    # The SDK has no accumulator, so the pieces are joined here.
    blocks = {}
    for event in client.converse_stream(modelId="m", messages=messages)["stream"]:
        if "contentBlockStart" in event:
            start = event["contentBlockStart"]
            if "toolUse" in start["start"]:
                blocks[start["contentBlockIndex"]] = [start["start"]["toolUse"], ""]
        if "contentBlockDelta" in event:
            delta = event["contentBlockDelta"]
            yield delta["delta"].get("text", "")
            if "toolUse" in delta["delta"]:
                blocks[delta["contentBlockIndex"]][1] += delta["delta"]["toolUse"]["input"]
    for call, arguments in blocks.values():
        yield call["toolUseId"], call["name"], arguments or "{}"


def cohere_(is_stream):
    import httpx

    transport = httpx.MockTransport(
        lambda request: httpx.Response(200, headers={"content-type": ANSWER.kind}, content=ANSWER.data)
    )
    client = cohere.ClientV2(api_key="x", httpx_client=httpx.Client(transport=transport))
    if not is_stream:
        message = client.chat(model="m", messages=MESSAGES).message
        yield from (part.text for part in message.content or [] if part.type == "text")
        for call in message.tool_calls or []:
            yield call.id, call.function.name, call.function.arguments
        return
    # The SDK has no accumulator, so the pieces are joined here.
    calls = {}
    for event in client.chat_stream(model="m", messages=MESSAGES):
        if event.type == "content-delta":
            yield event.delta.message.content.text or ""
        elif event.type == "tool-call-start":
            calls[event.index] = event.delta.message.tool_calls
        elif event.type == "tool-call-delta":
            calls[event.index].function.arguments += event.delta.message.tool_calls.function.arguments
    for call in calls.values():
        yield call.id, call.function.name, call.function.arguments


def ollama_(is_stream):
    import httpx

    client = ollama.Client(host="http://127.0.0.1:1")
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=ANSWER.data))
    client._client = httpx.Client(transport=transport, base_url="http://127.0.0.1:1")
    answers = client.chat(model="m", messages=MESSAGES, stream=is_stream)
    for answer in answers if is_stream else [answers]:
        yield answer.message.content or ""
        for call in answer.message.tool_calls or []:
            yield None, call.function.name, text(dict(call.function.arguments))


READERS = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic_,
    "gemini": gemini,
    "gemini_interactions": gemini_interactions,
    "bedrock": bedrock,
    "cohere": cohere_,
    "ollama": ollama_,
}


def answer(exchange):
    """Returns the text and the calls that the provider's SDK finds. Raises the error of the SDK."""
    is_stream = "stream" in exchange
    ANSWER.data = exchange["stream"] if is_stream else json.dumps(exchange["body"]).encode()
    if not is_stream:
        ANSWER.kind = "application/json"
    elif exchange["format"] == "bedrock":
        ANSWER.kind = "application/vnd.amazon.eventstream"
    else:
        ANSWER.kind = "text/event-stream"
    found = list(READERS[exchange["format"]](is_stream))
    said = "".join(piece for piece in found if isinstance(piece, str))
    return said, [call for call in found if not isinstance(call, str)]
