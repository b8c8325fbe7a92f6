//! Where a payload holds messages of the model, and the calls in them.

use super::call::WireCall;
use crate::WireError;
use crate::path::{element, field};
use serde_json::{Map, Value};

pub(super) type Fields = Map<String, Value>;

/// One message of the model.
pub(super) struct Message<'a> {
    /// What came; `None` for calls that came without a message.
    pub(super) fields: Option<&'a Fields>,
    pub(super) calls: Vec<WireCall<'a>>,
}

/// The messages of a whole response body (one for each choice that holds one), of one choice, of one
/// message, or the message that bare calls would have come in.
pub(super) fn messages(payload: &Value) -> Result<Vec<Message<'_>>, WireError> {
    match payload {
        Value::Array(calls) => bare_calls(calls),
        Value::Object(fields) if fields.contains_key("choices") => body(fields),
        Value::Object(fields) if Message::is(fields) => message(fields),
        Value::Object(_) if WireCall::is(payload) => {
            Ok(vec![Message::of_calls(std::slice::from_ref(payload))])
        }
        Value::Object(choice) => match choice.get("message") {
            Some(Value::Object(fields)) => Ok(vec![Message::read(fields, "message")?.of_choice(payload)]),
            _ => Err(no_message(choice)),
        },
        _ => Err(WireError::new("", "a response, a message or a call")),
    }
}

fn bare_calls(calls: &[Value]) -> Result<Vec<Message<'_>>, WireError> {
    match calls {
        [] => Ok(Vec::new()),
        // One call that can be recognised vouches for the broken ones beside it.
        calls if calls.iter().any(WireCall::is) => Ok(vec![Message::of_calls(calls)]),
        _ => Err(WireError::new("[0]", "a call with `function`")),
    }
}

/// One message that can be read vouches for the broken ones beside it.
fn body(fields: &Fields) -> Result<Vec<Message<'_>>, WireError> {
    let choices = fields.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut messages = Vec::with_capacity(choices.len());
    let mut broken = None;
    let mut is_vouched_for = false;
    for (index, choice) in choices.iter().enumerate() {
        let Some(message) = choice.get("message").and_then(Value::as_object) else { continue };
        let path = field(&element("choices", index), "message");
        match Message::read(message, &path) {
            Ok(message) => {
                is_vouched_for = true;
                messages.push(message.of_choice(choice));
            }
            Err(error) => {
                broken.get_or_insert(error);
                messages.push(Message::of_broken_calls(message));
            }
        }
    }
    match broken {
        Some(error) if !is_vouched_for => Err(error),
        _ if messages.is_empty() => Err(no_message(fields)),
        _ => Ok(messages),
    }
}

/// A message that was given alone. Those of other roles and other APIs look much like one of the
/// model's; to find no calls in them would hide a mistake.
fn message(fields: &Fields) -> Result<Vec<Message<'_>>, WireError> {
    if fields.get("type").is_some_and(|kind| kind == "message") {
        return Err(WireError::new("type", "no such field, which messages of other APIs have"));
    }
    match fields.get("role") {
        None | Some(Value::Null) => {}
        Some(role) if role == "assistant" => {}
        Some(_) => return Err(WireError::new("role", "`assistant`, which marks messages of the model")),
    }
    Ok(vec![Message::read(fields, "")?])
}

impl<'a> Message<'a> {
    fn is(fields: &Fields) -> bool {
        ["role", "content", "tool_calls", "function_call"].iter().any(|name| fields.contains_key(*name))
    }

    fn of_calls(calls: &'a [Value]) -> Self {
        Self { fields: None, calls: calls.iter().map(WireCall::new).collect() }
    }

    /// Whatever stands in the place of a list of calls is one call, which nothing can run.
    fn of_broken_calls(fields: &'a Fields) -> Self {
        Self {
            fields: Some(fields),
            calls: fields.get("tool_calls").map(WireCall::new).into_iter().collect(),
        }
    }

    /// Takes note of why the model stopped.
    fn of_choice(mut self, choice: &Value) -> Self {
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        if reason.is_some_and(is_cut)
            && let Some(last) = self.calls.last_mut()
        {
            *last = last.stopped();
        }
        self
    }

    fn read(fields: &'a Fields, path: &str) -> Result<Self, WireError> {
        let mut calls: Vec<WireCall<'a>> = match fields.get("tool_calls") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(calls)) => calls.iter().map(WireCall::new).collect(),
            Some(_) => return Err(WireError::new(field(path, "tool_calls"), "a list of calls")),
        };
        if let Some(legacy) = legacy_call(fields)
            && !calls.iter().any(|call| call.asks_the_same(&legacy))
        {
            calls.push(legacy);
        }
        Ok(Self { fields: Some(fields), calls })
    }
}

/// The `function_call` that `tool_calls` replaced in November 2023. Some servers still write it, and
/// some write it beside `tool_calls`, for the same call.
fn legacy_call(fields: &Fields) -> Option<WireCall<'_>> {
    let call = fields.get("function_call")?;
    call.as_object().is_some_and(|fields| !fields.is_empty()).then(|| WireCall::new(call))
}

/// Whether the model was stopped before it had said all. `model_length` is Mistral's.
pub(super) fn is_cut(finish_reason: &str) -> bool {
    matches!(finish_reason, "length" | "max_tokens" | "model_length" | "content_filter")
}

fn no_message(fields: &Fields) -> WireError {
    let expected = match reported_error(fields) {
        Some(error) => format!("a message of the model (the service reported an error: {error})"),
        None => "a message of the model".to_owned(),
    };
    WireError::new("choices[0].message", expected)
}

/// What the service says went wrong: `{"error": {"message"}}` of OpenAI, a text as some servers have
/// it, an `error` within a choice (OpenRouter), or the `{"object": "error", "message"}` of older vLLM.
pub(super) fn reported_error(fields: &Fields) -> Option<String> {
    let in_choice = || {
        fields
            .get("choices")?
            .as_array()?
            .iter()
            .find_map(|choice| choice.get("error").filter(|error| !error.is_null()))
    };
    let is_error = fields.get("object").is_some_and(|object| object == "error");
    let in_body = fields.get("error").filter(|error| !error.is_null());
    let error = in_body.or_else(in_choice).or_else(|| fields.get("message").filter(|_| is_error))?;
    match error.get("message").unwrap_or(error) {
        Value::String(message) => Some(message.clone()),
        _ => Some(error.to_string()),
    }
}
