//! Strict tools: a model held to a strict schema writes `null` for what it omits.

use toolkit_ai::llm::DefinitionOptions;
use toolkit_ai::llm::StrictTools;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};

#[derive(ToolParams)]
struct Guest {
    name: String,
    mail: Option<String>,
    #[param(default = 2, range = 1..=12)]
    seats: u8,
}

/// Reserve tables.
#[tool(strict, register = false)]
fn reserve(guests: Vec<Guest>, note: Option<String>, #[param(default = "Oslo")] city: String) -> String {
    let each = guests.iter().map(|guest| format!("{} {:?} {}", guest.name, guest.mail, guest.seats));
    format!("{city} {note:?}: {}", each.collect::<Vec<_>>().join("; "))
}

/// Returns only required arguments, with absence for all others.
fn barest(schema: &Value) -> Value {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => schema["anyOf"].as_array().unwrap().iter().filter_map(|one| one["type"].as_str()).collect(),
    };
    if kinds.contains(&"null") {
        return Value::Null;
    }
    match kinds[0] {
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            assert_eq!(schema["required"].as_array().unwrap().len(), properties.len());
            properties.iter().map(|(name, schema)| (name.clone(), barest(schema))).collect()
        }
        "array" => json!([barest(&schema["items"])]),
        "string" => json!("Ada"),
        kind => panic!("no value for {kind}"),
    }
}

#[tokio::test]
async fn null_means_absent_in_calls_of_a_strict_model() {
    let registry = ToolRegistry::from_tools(tools![reserve]).unwrap();
    for format in [ApiFormat::OpenAiChat, ApiFormat::OpenAiResponses] {
        let tools = registry.definitions(format).to_value();
        let function = tools[0].get("function").unwrap_or(&tools[0]).clone();
        assert_eq!(function["strict"], true, "{function}");
        let arguments = barest(&function["parameters"]);
        assert_eq!(
            arguments,
            json!({"guests": [{"name": "Ada", "mail": null, "seats": null}], "note": null, "city": null})
        );
        let output = registry.call("reserve", &arguments.to_string()).await.unwrap();
        assert_eq!(output.to_text(), "Oslo None: Ada None 2");
    }
}

#[test]
fn tools_that_cannot_be_strict_are_sent_without_enforcement_and_reported() {
    /// Count words.
    #[tool(register = false)]
    fn count(words: std::collections::BTreeMap<String, u32>) -> usize {
        words.len()
    }

    let registry = ToolRegistry::from_tools(tools![reserve, count]).unwrap();
    let all = DefinitionOptions::default().with_strict(StrictTools::All);
    for format in [ApiFormat::OpenAiChat, ApiFormat::Anthropic] {
        let definitions = registry.definitions(format.with_options(all.clone()));
        let refused: Vec<&str> =
            definitions.report().not_strict.iter().map(|refused| refused.tool.as_str()).collect();
        assert_eq!(refused, ["count"], "{format}");
        assert_eq!(definitions.as_json().matches(r#""strict":true"#).count(), 1, "{format}");
    }
}
