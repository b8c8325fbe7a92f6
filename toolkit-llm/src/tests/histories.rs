//! Histories in every form that the services accept, which neither a repair nor parsing and encoding changes.

use crate::ApiFormat;
use crate::translate::RequestFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

/// The model's text, the number of calls, and a number that selects the form.
type Turn = (String, usize, usize);

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    vec(("[a-z]{1,9}", 0..3usize, 0..12usize), 1..5)
}

/// Returns the model's messages and the results of a turn, in one of the legal forms.
fn messages(format: ApiFormat, number: usize, (said, calls, form): &Turn) -> (Vec<Value>, Vec<Value>) {
    let ids: Vec<String> = (0..*calls).map(|index| format!("call_{number}_{index}")).collect();
    let each = |write: &dyn Fn(&str) -> Value| ids.iter().map(|id| write(id)).collect::<Vec<Value>>();
    let with = |mut value: Value, is_set: bool, name: &str, field: Value| {
        if is_set {
            value[name] = field;
        }
        value
    };
    let choose = |forms: &[Value]| forms[form % forms.len()].clone();
    let function = json!({"name": "f", "arguments": "{\"a\":1}"});
    let cache = json!({"type": "ephemeral"});
    match format {
        ApiFormat::OpenAiChat | ApiFormat::Cohere => {
            let text = json!([{"type": "text", "text": said}]);
            let message = json!({"role": "assistant", "content": choose(&[json!(said), text])});
            let calls = each(&|id| json!({"id": id, "type": "function", "function": function}));
            let message = with(message, !calls.is_empty(), "tool_calls", json!(calls));
            let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": said});
            (vec![message], each(&result))
        }
        ApiFormat::OpenAiResponses => {
            let part = json!([{"type": "output_text", "text": said, "annotations": []}]);
            let message = choose(&[
                json!({"role": "assistant", "content": said}),
                json!({"role": "assistant", "content": part}),
                json!({"type": "message", "role": "assistant", "content": said}),
                json!({"type": "message", "role": "assistant", "content": part, "id": "m", "status": "completed"}),
            ]);
            let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{\"a\":1}"});
            let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": said, "status": "completed"});
            ([vec![message], each(&call)].concat(), each(&result))
        }
        ApiFormat::Anthropic => {
            let text =
                with(json!({"type": "text", "text": said}), form % 4 == 2, "cache_control", cache.clone());
            let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {"a": 1}});
            let content = if form % 4 == 0 && ids.is_empty() {
                json!(said)
            } else {
                [vec![text], each(&call)].concat().into()
            };
            let result = |id: &str| {
                let block = json!({"type": "tool_result", "tool_use_id": id, "content": said});
                let block = with(block, form % 3 == 0, "is_error", json!(true));
                with(block, form % 2 == 0, "cache_control", cache.clone())
            };
            (vec![json!({"role": "assistant", "content": content})], user("content", each(&result)))
        }
        ApiFormat::Gemini => {
            let call = |id: &str| {
                let call = json!({"name": "f", "args": {"a": 1}});
                json!({"functionCall": with(call, form % 2 == 0, "id", json!(id))})
            };
            let parts = [vec![json!({"text": said})], each(&call)].concat();
            let result = |id: &str| {
                let result = json!({"name": "f", "response": {"output": said}});
                json!({"functionResponse": with(result, form % 2 == 0, "id", json!(id))})
            };
            (vec![json!({"role": "model", "parts": parts})], user("parts", each(&result)))
        }
        ApiFormat::Ollama => {
            let call = |id: &str| {
                with(
                    json!({"function": {"name": "f", "arguments": {"a": 1}}}),
                    form % 3 == 0,
                    "id",
                    json!(id),
                )
            };
            let message = json!({"role": "assistant", "content": said});
            let message = with(message, !ids.is_empty(), "tool_calls", json!(each(&call)));
            let result = |id: &str| {
                let result = json!({"role": "tool", "content": said});
                let result = with(result, form % 3 == 1, "tool_name", json!("f"));
                with(result, form % 3 == 0, "tool_call_id", json!(id))
            };
            (vec![message], each(&result))
        }
        ApiFormat::Bedrock => {
            let call = |id: &str| json!({"toolUse": {"toolUseId": id, "name": "f", "input": {"a": 1}}});
            let content = [vec![json!({"text": said})], each(&call)].concat();
            let result = |id: &str| {
                let result = json!({"toolUseId": id, "content": [{"text": said}]});
                json!({"toolResult": with(result, form % 2 == 0, "status", json!("error"))})
            };
            (vec![json!({"role": "assistant", "content": content})], user("content", each(&result)))
        }
        ApiFormat::GeminiInteractions => {
            let message = json!({"type": "model_output", "content": [{"type": "text", "text": said}]});
            let call =
                |id: &str| json!({"type": "function_call", "id": id, "name": "f", "arguments": {"a": 1}});
            let result =
                |id: &str| json!({"type": "function_result", "call_id": id, "name": "f", "result": said});
            ([vec![message], each(&call)].concat(), each(&result))
        }
    }
}

/// Returns a list with a user message of the parts, or an empty list.
fn user(field: &str, parts: Vec<Value>) -> Vec<Value> {
    if parts.is_empty() { Vec::new() } else { vec![json!({"role": "user", field: parts})] }
}

proptest! {
    #[test]
    fn accepted_histories_are_unchanged(turns in turns()) {
        for &format in ApiFormat::ALL {
            let names = WireNames::default();
            let writer = format.history(&names);
            let mut history: Vec<Value> = Vec::new();
            for (number, turn) in turns.iter().enumerate() {
                // Bedrock requires alternating roles, so a user message cannot follow results.
                if format != ApiFormat::Bedrock || history.last().is_none_or(|last| last["role"] != "user") {
                    history.push(format.encode_user(&[Content::text("Go on.")]));
                }
                let (said, results) = messages(format, number, turn);
                let payload = if let [only] = said.as_slice() { only.clone() } else { json!(said) };
                prop_assert_eq!(writer.assistant_messages(&payload).unwrap(), said.clone(), "{}", format);
                let calls = format.parse_calls(&payload).unwrap();
                prop_assert_eq!(calls.len(), turn.1, "{}", format);
                history.extend(said.into_iter().chain(results.clone()));
                let Some(reader) = RequestFormat::of(format) else { continue };
                let parsed = reader.parse_results(&json!(results)).unwrap();
                prop_assert_eq!(parsed.len(), turn.1, "{}", format);
                prop_assert_eq!(writer.encode_results(&parsed), results, "{}", format);
                let parsed = reader.parse_results(&json!(history)).unwrap();
                let ids = parsed[parsed.len() - turn.1..].iter().map(|result| &result.call_id);
                prop_assert!(ids.eq(calls.iter().map(|call| &call.id)), "{}: {}", format, json!(history));
            }
            prop_assert_eq!(format.repair_history(history.clone()), history, "{}", format);
        }
    }
}
