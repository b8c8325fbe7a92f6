//! Healthy responses in the API formats.

use super::server::{Step, chunk, respond, stream_end, stream_head};
use serde_json::{Value, json};

/// An API format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Chat,
    Responses,
    Messages,
    Gemini,
    Ollama,
}

/// The place of a cut in a stream of two calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    BeforeTheFirstCall,
    InArguments,
    AfterTheFirstCall,
}

const ADD: [(&str, i64, i64); 2] = [("call_1", 1, 2), ("call_2", 3, 4)];

fn arguments(a: i64, b: i64) -> String {
    json!({"a": a, "b": b}).to_string()
}

impl Speech {
    /// Returns an answer of text.
    pub(crate) fn text(self, stream: bool) -> Vec<Step> {
        if stream { self.streamed(&self.text_events()) } else { json_response(&self.whole_text()) }
    }

    /// Returns an answer with two calls of `add`.
    pub(crate) fn calls(self, stream: bool) -> Vec<Step> {
        if stream { self.streamed(&self.call_events().concat()) } else { json_response(&self.whole_calls()) }
    }

    fn streamed(self, events: &[Value]) -> Vec<Step> {
        let mut steps = vec![stream_head()];
        steps.extend(events.iter().map(|event| chunk(&self.event(event))));
        steps.push(stream_end());
        steps
    }

    /// Returns the bytes of an event.
    pub(crate) fn event(self, event: &Value) -> String {
        match event {
            _ if self == Self::Ollama => format!("{event}\n"),
            Value::String(text) => format!("data: {text}\n\n"),
            event => match event["type"].as_str() {
                Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
                None => format!("data: {event}\n\n"),
            },
        }
    }

    /// Returns the head and the events of two calls, up to a cut.
    pub(crate) fn cut_calls(self, cut: Cut) -> Vec<Step> {
        let [start, first, second, _] = self.call_events();
        let events = match cut {
            Cut::BeforeTheFirstCall => start,
            Cut::InArguments => [&start[..], &first[..first.len() / 2]].concat(),
            Cut::AfterTheFirstCall => [&start[..], &first[..], &second[..second.len() / 2]].concat(),
        };
        let mut steps = vec![stream_head()];
        steps.extend(events.iter().map(|event| chunk(&self.event(event))));
        steps
    }

    /// Returns the head and the first events of a text.
    pub(crate) fn half_a_text(self) -> Vec<Step> {
        let events = self.text_events();
        let mut steps = vec![stream_head()];
        steps.extend(events[..events.len() / 2].iter().map(|event| chunk(&self.event(event))));
        steps
    }

    /// Returns the error event of a stream.
    pub(crate) fn error_event(self) -> String {
        let error = json!({"message": "overloaded", "type": "overloaded_error", "code": 503});
        self.event(&match self {
            Self::Responses => json!({"type": "error", "code": "server_error", "message": "overloaded"}),
            Self::Messages => json!({"type": "error", "error": error}),
            Self::Ollama => json!({"error": "overloaded"}),
            _ => json!({"error": error}),
        })
    }

    fn whole_text(self) -> Value {
        match self {
            Self::Chat => chat(json!({"role": "assistant", "content": "done"}), "stop"),
            Self::Responses => responses(json!([message_item()])),
            Self::Messages => messages(json!([{"type": "text", "text": "done"}]), "end_turn"),
            Self::Gemini => gemini(json!([{"text": "done"}]), Some("STOP")),
            Self::Ollama => ollama(json!({"content": "done"}), true),
        }
    }

    fn whole_calls(self) -> Value {
        let each = |make: fn(&str, i64, i64) -> Value| -> Value {
            ADD.iter().map(|(id, a, b)| make(id, *a, *b)).collect::<Vec<_>>().into()
        };
        match self {
            Self::Chat => {
                let calls = each(|id, a, b| {
                    let function = json!({"name": "add", "arguments": arguments(a, b)});
                    json!({"id": id, "type": "function", "function": function})
                });
                chat(json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
            }
            Self::Responses => responses(each(|id, a, b| call_item(id, &arguments(a, b), "completed"))),
            Self::Messages => messages(each(|id, a, b| tool_use(id, json!({"a": a, "b": b}))), "tool_use"),
            Self::Gemini => gemini(each(|_, a, b| function_call(a, b)), Some("STOP")),
            Self::Ollama => ollama(json!({"content": "", "tool_calls": each(ollama_call)}), true),
        }
    }

    fn text_events(self) -> Vec<Value> {
        match self {
            Self::Chat => vec![
                delta(json!({"role": "assistant", "content": "do"}), None),
                delta(json!({"content": "ne"}), None),
                delta(json!({}), Some("stop")),
                "[DONE]".into(),
            ],
            Self::Responses => {
                let place = json!({"item_id": "msg_1", "output_index": 0, "content_index": 0});
                let part = json!({"type": "output_text", "text": "", "annotations": []});
                let item = json!({"id": "msg_1", "type": "message", "role": "assistant",
                                  "status": "in_progress", "content": []});
                vec![
                    json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
                    json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                    with(&place, json!({"type": "response.content_part.added", "part": part})),
                    with(&place, json!({"type": "response.output_text.delta", "delta": "do"})),
                    with(&place, json!({"type": "response.output_text.delta", "delta": "ne"})),
                    with(&place, json!({"type": "response.output_text.done", "text": "done"})),
                    json!({"type": "response.output_item.done", "output_index": 0, "item": message_item()}),
                    json!({"type": "response.completed", "response": self.whole_text()}),
                ]
            }
            Self::Messages => vec![
                json!({"type": "message_start", "message": messages(json!([]), "")}),
                json!({"type": "content_block_start", "index": 0,
                       "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 0,
                       "delta": {"type": "text_delta", "text": "do"}}),
                json!({"type": "content_block_delta", "index": 0,
                       "delta": {"type": "text_delta", "text": "ne"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                       "usage": {"output_tokens": 2}}),
                json!({"type": "message_stop"}),
            ],
            Self::Gemini => {
                vec![gemini(json!([{"text": "do"}]), None), gemini(json!([{"text": "ne"}]), Some("STOP"))]
            }
            Self::Ollama => vec![
                ollama(json!({"content": "do"}), false),
                ollama(json!({"content": "ne"}), false),
                ollama(json!({"content": ""}), true),
            ],
        }
    }

    /// Returns the events before, of and after the two calls.
    fn call_events(self) -> [Vec<Value>; 4] {
        let calls: Vec<Vec<Value>> =
            ADD.iter().enumerate().map(|(at, (id, a, b))| self.one_call(at, id, *a, *b)).collect();
        let [first, second] = calls.try_into().unwrap();
        let (start, end) = match self {
            Self::Chat => (
                vec![delta(json!({"role": "assistant", "content": null}), None)],
                vec![delta(json!({}), Some("tool_calls")), "[DONE]".into()],
            ),
            Self::Responses => (
                vec![
                    json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
                ],
                vec![json!({"type": "response.completed", "response": self.whole_calls()})],
            ),
            Self::Messages => (
                vec![json!({"type": "message_start", "message": messages(json!([]), "")})],
                vec![
                    json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
                           "usage": {"output_tokens": 2}}),
                    json!({"type": "message_stop"}),
                ],
            ),
            Self::Gemini => (vec![], vec![gemini(json!([]), Some("STOP"))]),
            Self::Ollama => (vec![], vec![ollama(json!({"content": ""}), true)]),
        };
        [start, first, second, end]
    }

    fn one_call(self, at: usize, id: &str, a: i64, b: i64) -> Vec<Value> {
        let text = arguments(a, b);
        let (head, tail) = text.split_at(text.len() / 2);
        match self {
            Self::Chat => {
                let call =
                    |call: Value| delta(json!({"tool_calls": [with(&json!({"index": at}), call)]}), None);
                vec![
                    call(json!({"id": id, "type": "function", "function": {"name": "add", "arguments": ""}})),
                    call(json!({"function": {"arguments": head}})),
                    call(json!({"function": {"arguments": tail}})),
                ]
            }
            Self::Responses => {
                let place = json!({"item_id": format!("fc_{id}"), "output_index": at});
                let of = |kind: &str, field: &str, text: &str| {
                    let kind = format!("response.function_call_arguments.{kind}");
                    with(&place, json!({"type": kind, field: text}))
                };
                vec![
                    json!({"type": "response.output_item.added", "output_index": at,
                           "item": call_item(id, "", "in_progress")}),
                    of("delta", "delta", head),
                    of("delta", "delta", tail),
                    of("done", "arguments", &text),
                    json!({"type": "response.output_item.done", "output_index": at,
                           "item": call_item(id, &text, "completed")}),
                ]
            }
            Self::Messages => {
                let piece = |text: &str| {
                    json!({"type": "content_block_delta", "index": at,
                           "delta": {"type": "input_json_delta", "partial_json": text}})
                };
                vec![
                    json!({"type": "content_block_start", "index": at,
                           "content_block": tool_use(id, json!({}))}),
                    piece(head),
                    piece(tail),
                    json!({"type": "content_block_stop", "index": at}),
                ]
            }
            Self::Gemini => vec![gemini(json!([function_call(a, b)]), None)],
            Self::Ollama => {
                vec![ollama(json!({"content": "", "tool_calls": [ollama_call(id, a, b)]}), false)]
            }
        }
    }
}

/// Returns a whole JSON response.
pub(crate) fn json_response(body: &Value) -> Vec<Step> {
    respond("200 OK", "content-type: application/json\r\n", body.to_string())
}

fn with(fields: &Value, more: Value) -> Value {
    let mut all = more;
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    all
}

fn chat(message: Value, finish: &str) -> Value {
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice],
           "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
}

fn delta(delta: Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
}

fn responses(output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m",
           "output": output, "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}})
}

fn message_item() -> Value {
    let part = json!({"type": "output_text", "text": "done", "annotations": []});
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
}

fn call_item(id: &str, arguments: &str, status: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": "add",
           "arguments": arguments, "status": status})
}

fn messages(content: Value, stop: &str) -> Value {
    let stop = (!stop.is_empty()).then_some(stop);
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
           "stop_reason": stop, "usage": {"input_tokens": 3, "output_tokens": 2}})
}

fn tool_use(id: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "add", "input": input})
}

fn gemini(parts: Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}})
}

fn function_call(a: i64, b: i64) -> Value {
    json!({"functionCall": {"name": "add", "args": {"a": a, "b": b}}})
}

fn ollama(message: Value, done: bool) -> Value {
    let message = with(&json!({"role": "assistant"}), message);
    let body = json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done});
    let end = json!({"done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2});
    if done { with(&end, body) } else { body }
}

fn ollama_call(id: &str, a: i64, b: i64) -> Value {
    json!({"id": id, "function": {"name": "add", "arguments": {"a": a, "b": b}}})
}
