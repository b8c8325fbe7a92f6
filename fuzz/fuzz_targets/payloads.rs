//! Every parser of every format on any JSON: it never panics, and its output can be read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolkit_core::name::WireNames;
use toolkit_llm::ApiFormat;
use toolkit_llm::translate::RequestFormat;

fuzz_target!(|text: &str| {
    let Ok(payload) = serde_json::from_str::<Value>(text) else { return };
    let names = WireNames::default();
    for &format in ApiFormat::ALL {
        if let Some(reader) = RequestFormat::of(format) {
            let _ = reader.parse_definitions(&payload);
            let _ = reader.hosted_tools(&payload);
            let _ = reader.parse_results(&payload);
            let _ = payload.as_object().map(|request| reader.parse_tool_config(request, &names));
        }
        let calls = format.parse_calls(&payload);
        let messages = format.assistant_messages(&payload);
        assert_eq!(calls.is_ok(), messages.is_ok());
        if let Ok(calls) = calls
            && let Some(message) = format.encode_calls(&calls, &names).first()
            && !calls.is_empty()
        {
            assert!(format.parse_calls(message).is_ok(), "{message}");
        }
        if let Value::Array(history) = &payload {
            let repaired = format.repair_history(history.clone());
            assert_eq!(format.repair_history(repaired.clone()), repaired);
        }
    }
});
