//! Results of a received history, with fields and contents that this library does not know.

use crate::ApiFormat;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::ToolOutput;
use toolkit_core::name::WireNames;

/// Returns the message with one result, in the JSON of each API, and the pointer to the result. `None` for an API whose
/// results are only text.
fn message(format: ApiFormat, parts: Option<Value>) -> Option<(Value, &'static str)> {
    let text = |kind: &str| json!([{"type": kind, "text": "x"}]);
    let with = |mut list: Value| {
        list.as_array_mut().unwrap().extend(parts.clone());
        list
    };
    let content = |kind: &str| if parts.is_some() { with(text(kind)) } else { "x".into() };
    Some(match format {
        ApiFormat::OpenAiChat | ApiFormat::Cohere => {
            (json!({"role": "tool", "tool_call_id": "c_1", "content": content("text")}), "")
        }
        ApiFormat::OpenAiResponses => {
            let output = content("input_text");
            (json!({"type": "function_call_output", "call_id": "c_1", "output": output}), "")
        }
        ApiFormat::Anthropic => {
            let block = json!({"type": "tool_result", "tool_use_id": "c_1", "content": content("text")});
            (json!({"role": "user", "content": [block]}), "/content/0")
        }
        ApiFormat::Gemini => {
            let result = json!({"id": "c_1", "name": "f", "response": {"output": "x"}});
            let result = parts.map_or(result.clone(), |part| {
                let mut result = result;
                result["parts"] = json!([part]);
                result
            });
            (json!({"role": "user", "parts": [{"functionResponse": result}]}), "/parts/0/functionResponse")
        }
        ApiFormat::Ollama if parts.is_some() => return None,
        ApiFormat::Ollama => {
            (json!({"role": "tool", "content": "x", "tool_name": "f", "tool_call_id": "c_1"}), "")
        }
        ApiFormat::Bedrock => {
            let result = json!({"toolUseId": "c_1", "content": with(json!([{"text": "x"}]))});
            (json!({"role": "user", "content": [{"toolResult": result}]}), "/content/0/toolResult")
        }
        ApiFormat::GeminiInteractions => {
            let result = content("text");
            (json!({"type": "function_result", "call_id": "c_1", "name": "f", "result": result}), "")
        }
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u32>().prop_map(Value::from),
        "[a-z]{1,5}".prop_map(Value::from),
        "[a-z]{1,5}".prop_map(|text| json!({"to": text})),
        "[a-z]{1,5}".prop_map(|text| json!([text, 1])),
    ]
}

proptest! {
    #[test]
    fn a_received_result_is_sent_back_unchanged_and_its_fields_are_reported_for_another_api(
        field in "x[a-z]{3,9}", value in value(), has_field: bool, has_part: bool,
    ) {
        let names = WireNames::default();
        for format in ApiFormat::ALL {
            let part = has_part.then(|| match format {
                ApiFormat::Bedrock => json!({"timeTravel": {"x": value}}),
                ApiFormat::Gemini => json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}, "x": value}),
                _ => json!({"type": "time_travel", "x": value}),
            });
            let Some((mut message, pointer)) = message(format, part) else { continue };
            if has_field {
                message.pointer_mut(pointer).unwrap()[field.as_str()] = value.clone();
            }
            let results = format.parse_results(&message).unwrap();
            let writer = format.history(&names);
            prop_assert_eq!(writer.encode_results(&results), [message], "{}", format);
            prop_assert_eq!(writer.result_losses(&results), [], "{}", format);
            for other in ApiFormat::ALL.into_iter().filter(|other| *other != format) {
                let losses = other.history(&names).result_losses(&results);
                let path = format!("/0/{field}");
                prop_assert_eq!(losses.iter().any(|loss| loss.path == path), has_field, "{} to {}", format, other);
                // Contents of an unknown type are sent as text.
                let sent = json!(other.encode_results(&results)).to_string();
                let is_shown = !has_part || sent.contains("time_travel") || sent.contains("timeTravel");
                prop_assert!(is_shown || format == ApiFormat::Gemini, "{} to {}: {}", format, other, sent);
            }
            // A result that the program has changed is written anew.
            let mut changed = results.clone();
            changed[0].outcome = Ok(ToolOutput::text("another"));
            let sent = json!(writer.encode_results(&changed)).to_string();
            prop_assert!(sent.contains("another") && !sent.contains(&format!("\"{field}\"")), "{}: {}", format, sent);
        }
    }
}
