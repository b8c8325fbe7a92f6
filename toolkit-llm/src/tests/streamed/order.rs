//! The order of calls without ids, in APIs that find the call of a result by its position.

use super::{End, Part, answer, hear};
use crate::ApiFormat;
use crate::call::sanitize;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::output::ToolOutput;
use toolkit_schema::__private::extract_object;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Whole,
    /// Without arguments, which come in the next event, without the name.
    Apart,
    /// Only begun.
    ///
    /// The arguments come after the next call, without the name. Only Gemini has this form.
    Begun,
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![4 => Just(Form::Whole), 1 => Just(Form::Apart), 1 => Just(Form::Begun)]
}

fn events(format: ApiFormat, calls: &[(&str, &Value, Form)]) -> Vec<Value> {
    let is_gemini = format == ApiFormat::Gemini;
    let field = if is_gemini { "args" } else { "arguments" };
    let event = |call: Value| {
        if is_gemini {
            let content = json!({"role": "model", "parts": [{"functionCall": call}]});
            json!({"candidates": [{"content": content}]})
        } else {
            json!({"message": {"role": "assistant", "content": "", "tool_calls": [{"function": call}]}, "done": false})
        }
    };
    let mut events = Vec::new();
    let mut rest = None;
    for (name, arguments, form) in calls {
        let earlier = rest.take();
        match form {
            // While a call is only begun, arguments without a name are its own.
            Form::Apart if earlier.is_none() && **arguments != json!({}) => {
                events.push(event(json!({"name": name, field: {}})));
                events.push(event(json!({field: arguments})));
            }
            Form::Begun if earlier.is_none() && is_gemini => {
                events.push(event(json!({"name": name, "willContinue": true})));
                rest = Some(event(json!({field: arguments})));
            }
            _ => events.push(event(json!({"name": name, field: arguments}))),
        }
        events.extend(earlier);
    }
    events.extend(rest);
    events.push(if is_gemini {
        json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]})
    } else {
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"})
    });
    events
}

fn results(format: ApiFormat, messages: &[Value]) -> Vec<(Value, Value)> {
    if format != ApiFormat::Gemini {
        return messages
            .iter()
            .map(|result| (result["tool_name"].clone(), result["content"].clone()))
            .collect();
    }
    let parts = messages.iter().filter_map(|message| message["parts"].as_array()).flatten();
    let result = parts.map(|part| &part["functionResponse"]);
    result.map(|result| (result["name"].clone(), result["response"]["output"].clone())).collect()
}

fn check(
    format: ApiFormat,
    meant: &[(&str, &Value, Form)],
    count: Option<usize>,
) -> Result<(), TestCaseError> {
    let mut events = events(format, meant);
    events.truncate(count.map_or(events.len(), |count| count % events.len()));
    let mut stream = format.accumulator();
    let mut yielded = Vec::new();
    for event in &events {
        yielded.extend(stream.push(event).expect("an event"));
    }
    let early = hear(yielded.clone()).calls.len();
    let end = stream.finish();
    yielded.extend(end.events);
    let calls: Vec<ToolCall> = hear(yielded).calls;
    // The calls come in the order of the message, with their arguments or refused.
    prop_assert!(count.is_some() || calls.len() == meant.len(), "{format}: {calls:?} of {events:#?}");
    for (call, (name, arguments, _)) in calls.iter().zip(meant) {
        let object = extract_object(call.arguments.as_str());
        let written: Option<Value> = object.and_then(|text| serde_json::from_str(&text).ok());
        prop_assert_eq!(&call.name, name, "{}: {:?}", format, calls);
        prop_assert!(written.is_none_or(|written| written == **arguments), "{format}: {calls:?}");
    }
    if meant.iter().all(|(_, arguments, form)| *form == Form::Whole && **arguments != json!({})) {
        prop_assert_eq!(early, calls.len(), "{}", format);
    }
    let Ok(response) = end.response else { return Ok(()) };
    let output = |call: &ToolCall| format!("of {}", sanitize::arguments(call.arguments.as_str()));
    let outputs: Vec<ToolResult> =
        calls.iter().map(|call| ToolResult::of(call, Ok(ToolOutput::text(output(call))))).collect();
    let found = results(format, &format.encode_results(&outputs));
    let mut expected = Vec::new();
    for message in &response.native {
        for call in format.parse_calls(message).expect("calls") {
            expected.push((json!(call.name), json!(output(&call))));
        }
    }
    prop_assert_eq!(found, expected, "{}", format);
    Ok(())
}

proptest! {
    #[test]
    fn calls_without_ids_keep_the_order_of_the_message(
        answer in answer(),
        forms in vec(form(), 8),
        count in proptest::option::weighted(0.3, any::<usize>()),
    ) {
        prop_assume!(answer.end == End::Complete);
        let mut meant = Vec::new();
        for (part, form) in answer.parts.iter().zip(forms.iter().cycle()) {
            if let Part::Call { name, arguments } = part {
                meant.push((*name, arguments, *form));
            }
        }
        for format in [ApiFormat::Gemini, ApiFormat::Ollama] {
            check(format, &meant, count)?;
        }
    }
}
