//! Results of a received history, with unknown fields and contents.

use crate::ApiFormat;
use crate::translate::RequestFormat;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::ToolOutput;
use toolkit_core::name::WireNames;

/// Returns the message with one result in the JSON of each API, and the pointer to the result.
fn message(format: RequestFormat, parts: Option<Value>) -> (Value, &'static str) {
    let text = |kind: &str| json!([{"type": kind, "text": "x"}]);
    let with = |mut list: Value| {
        list.as_array_mut().unwrap().extend(parts.clone());
        list
    };
    let content = |kind: &str| if parts.is_some() { with(text(kind)) } else { "x".into() };
    match format {
        RequestFormat::OpenAiChat => {
            (json!({"role": "tool", "tool_call_id": "c_1", "content": content("text")}), "")
        }
        RequestFormat::OpenAiResponses => {
            let output = content("input_text");
            (json!({"type": "function_call_output", "call_id": "c_1", "output": output}), "")
        }
        RequestFormat::Anthropic => {
            let block = json!({"type": "tool_result", "tool_use_id": "c_1", "content": content("text")});
            (json!({"role": "user", "content": [block]}), "/content/0")
        }
        RequestFormat::Gemini => {
            let result = json!({"id": "c_1", "name": "f", "response": {"output": "x"}});
            let result = parts.map_or(result.clone(), |part| {
                let mut result = result;
                result["parts"] = json!([part]);
                result
            });
            (json!({"role": "user", "parts": [{"functionResponse": result}]}), "/parts/0/functionResponse")
        }
    }
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
        for &reader in RequestFormat::ALL {
            let format = reader.api();
            let part = has_part.then(|| match format {
                ApiFormat::Gemini => json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}, "x": value}),
                _ => json!({"type": "time_travel", "x": value}),
            });
            let (mut message, pointer) = message(reader, part);
            if has_field {
                message.pointer_mut(pointer).unwrap()[field.as_str()] = value.clone();
            }
            let results = reader.parse_results(&message).unwrap();
            let writer = format.history(&names);
            prop_assert_eq!(writer.encode_results(&results), [message], "{}", format);
            prop_assert_eq!(writer.result_losses(&results), [], "{}", format);
            for other in ApiFormat::ALL.iter().copied().filter(|other| *other != format) {
                let losses = other.history(&names).result_losses(&results);
                let path = format!("/0/{field}");
                prop_assert_eq!(losses.iter().any(|loss| loss.path == path), has_field, "{} to {}", format, other);
                let sent = json!(other.encode_results(&results)).to_string();
                let is_shown = !has_part || sent.contains("time_travel");
                prop_assert!(is_shown || format == ApiFormat::Gemini, "{} to {}: {}", format, other, sent);
            }
            // A changed result is written anew.
            let mut changed = results.clone();
            changed[0].outcome = Ok(ToolOutput::text("another"));
            let sent = json!(writer.encode_results(&changed)).to_string();
            prop_assert!(sent.contains("another") && !sent.contains(&format!("\"{field}\"")), "{}: {}", format, sent);
        }
    }
}
