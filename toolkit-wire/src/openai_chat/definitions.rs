//! The `tools` of a request.

use super::{NAMES, OpenAiChat};
use crate::WireError;
use crate::codec::DefinitionCodec;
use crate::declaration::{EncodedDefinition, Spelling, Strictness, listed_tools, parse_named};
use crate::path::field;
use serde_json::{Map, Value, json};
use toolkit_core::name::NameRule;
use toolkit_core::tool::{TextFormat, ToolDefinition, ToolKind};
use toolkit_schema::{SchemaDialect, SchemaLoss};

impl DefinitionCodec for OpenAiChat {
    fn name_rule(&self) -> NameRule {
        NAMES
    }

    fn strictness(&self) -> Strictness {
        Strictness::PerFunction
    }

    fn most_tools(&self) -> Option<usize> {
        Some(128)
    }

    fn dialect(&self, strict: bool, _json_schema: bool) -> SchemaDialect {
        if strict { SchemaDialect::OpenAiStrict } else { SchemaDialect::OpenAi }
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), how.names.spell(definition.name.as_str()).into());
        fields.insert("description".to_owned(), definition.description.as_str().into());
        let (kind, mut losses) = match &definition.kind {
            ToolKind::Custom(format) => {
                fields.extend(encode_format(format).map(|format| ("format".to_owned(), format)));
                ("custom", Vec::new())
            }
            _ => {
                let (parameters, losses) = how.parameters(definition);
                fields.insert("parameters".to_owned(), parameters);
                // `false` is what leaving it out means; some servers do not know the field.
                if how.strict || definition.metadata.strict == Some(false) {
                    fields.insert("strict".to_owned(), how.strict.into());
                }
                ("function", losses)
            }
        };
        losses.extend(unsaid(definition, how));
        EncodedDefinition { json: json!({"type": kind, kind: fields}), losses }
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        let tools = listed_tools(payload, is_tool, "messages")?;
        let tools = tools.into_iter().filter(|(_, tool)| !is_hosted(tool));
        tools.map(|(path, tool)| parse_tool(tool, &path)).collect()
    }

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        let tools = listed_tools(payload, is_tool, "messages")?;
        Ok(tools.into_iter().filter(|(_, tool)| is_hosted(tool)).map(|(_, tool)| tool.clone()).collect())
    }
}

/// Encodes the format of a custom tool's text; without one, any text is accepted.
fn encode_format(format: &TextFormat) -> Option<Value> {
    let (syntax, grammar) = match format {
        TextFormat::Text => return None,
        TextFormat::Lark(grammar) => ("lark", grammar),
        TextFormat::Regex(grammar) => ("regex", grammar),
    };
    Some(json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": grammar}}))
}

/// Reports settings that this API has no fields for.
fn unsaid(definition: &ToolDefinition, how: &Spelling<'_>) -> Vec<SchemaLoss> {
    let metadata = &definition.metadata;
    let fields = [
        (how.output(definition).is_some(), "output_schema", "this API takes no schema of a tool's output"),
        (!metadata.input_examples.is_empty(), "input_examples", "this API takes no examples of arguments"),
        (!metadata.allowed_callers.is_empty(), "allowed_callers", "in this API only the model calls tools"),
        (metadata.defer, "defer", "this API has no search for tools, so the model sees this one at once"),
    ];
    let said = fields.into_iter().filter(|(is_there, ..)| *is_there);
    said.map(|(_, field, reason)| SchemaLoss::new(format!("/{field}"), field, reason)).collect()
}

fn is_tool(fields: &Map<String, Value>) -> bool {
    fields.contains_key("function") || fields.get("type").is_some_and(Value::is_string)
}

fn kind(tool: &Value) -> &str {
    tool.get("type").and_then(Value::as_str).unwrap_or("function")
}

/// Returns whether the service runs the tool itself: its type is neither of the two that call us.
fn is_hosted(tool: &Value) -> bool {
    !matches!(kind(tool), "function" | "custom")
}

fn parse_tool(tool: &Value, path: &str) -> Result<ToolDefinition, WireError> {
    if kind(tool) == "custom" {
        return parse_custom(tool, &field(path, "custom"));
    }
    let path = field(path, "function");
    let Some(function) = tool.get("function").and_then(Value::as_object) else {
        return Err(WireError::new(path, "the name, description and parameters of a function"));
    };
    let mut definition = parse_named(function, &path, "parameters")?;
    definition.metadata.strict = match function.get("strict") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(strict)) => Some(*strict),
        Some(_) => return Err(WireError::new(field(&path, "strict"), "true or false")),
    };
    Ok(definition)
}

fn parse_custom(tool: &Value, path: &str) -> Result<ToolDefinition, WireError> {
    let Some(custom) = tool.get("custom").and_then(Value::as_object) else {
        return Err(WireError::new(path, "the name, description and format of a custom tool"));
    };
    let named = parse_named(custom, path, "parameters")?;
    let format = parse_format(custom.get("format"), &field(path, "format"))?;
    Ok(ToolDefinition::custom(named.name, named.description, format))
}

/// Parses the format of free text. The flat form of the Responses API is read as well.
fn parse_format(format: Option<&Value>, path: &str) -> Result<TextFormat, WireError> {
    let Some(format) = format.filter(|format| !format.is_null()) else { return Ok(TextFormat::Text) };
    if format.get("type").is_some_and(|kind| kind == "text") {
        return Ok(TextFormat::Text);
    }
    let grammar = format.get("grammar").unwrap_or(format);
    let text = |name: &str| grammar.get(name).and_then(Value::as_str);
    match (text("syntax"), text("definition")) {
        (Some("lark"), Some(grammar)) => Ok(TextFormat::Lark(grammar.to_owned())),
        (Some("regex"), Some(grammar)) => Ok(TextFormat::Regex(grammar.to_owned())),
        _ => Err(WireError::new(
            path,
            "`text`, or a grammar with `syntax` (`lark` or `regex`) and `definition`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai_chat::NAMES;
    use toolkit_core::name::{ToolName, WireNames};
    use toolkit_core::tool::ToolMetadata;
    use toolkit_schema::SchemaDialect;

    fn encode(definition: &ToolDefinition, names: &WireNames) -> Value {
        OpenAiChat
            .encode_definition(
                definition,
                &Spelling { names, strict: false, outputs: true, dialect: SchemaDialect::OpenAi },
            )
            .json
    }

    fn weather() -> Value {
        json!({"type": "function", "function": {
            "name": "get_weather",
            "description": "",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }})
    }

    #[track_caller]
    fn check(payload: &Value, names: &[&str]) {
        let parsed = OpenAiChat.parse_definitions(payload).unwrap();
        let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
        assert_eq!(parsed, names);
    }

    #[track_caller]
    fn refuse(payload: &Value, path: &str, expected: &str) {
        let error = OpenAiChat.parse_definitions(payload).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    }

    #[test]
    fn definitions_come_back_as_they_went() {
        let parsed = OpenAiChat.parse_definitions(&weather()).unwrap();
        let names = WireNames::default();
        let encoded: Vec<Value> = parsed.iter().map(|tool| encode(tool, &names)).collect();
        assert_eq!(encoded, [weather()]);
    }

    #[test]
    fn tools_of_the_service_are_not_ours() {
        let search = json!({"type": "web_search", "user_location": {"type": "approximate"}});
        let tools = json!({"tools": [weather(), search, {"type": "custom", "custom": {"name": "x"}}]});
        assert_eq!(OpenAiChat.hosted_tools(&tools).unwrap(), std::slice::from_ref(&search));
        assert_eq!(OpenAiChat.hosted_tools(&search).unwrap(), [search]);
        assert!(OpenAiChat.hosted_tools(&json!({"messages": []})).unwrap().is_empty());
        assert_eq!(OpenAiChat.hosted_tools(&json!({"tools": 1})).unwrap_err().path(), "tools");
    }

    /// The definition goes out as `wire` and comes back as it was.
    #[track_caller]
    fn both_ways(definition: &ToolDefinition, strict: bool, wire: &Value) {
        let names = WireNames::default();
        let how = Spelling { names: &names, strict, outputs: true, dialect: SchemaDialect::OpenAi };
        let encoded = OpenAiChat.encode_definition(definition, &how);
        assert_eq!((&encoded.json, encoded.losses.as_slice()), (wire, &[][..]));
        assert_eq!(OpenAiChat.parse_definitions(wire).unwrap(), std::slice::from_ref(definition));
    }

    #[test]
    fn strictness_goes_both_ways() {
        let mut wire = weather();
        wire["function"]["strict"] = json!(true);
        let strict = OpenAiChat.parse_definitions(&wire).unwrap().remove(0);
        assert_eq!(strict.metadata.strict, Some(true));
        both_ways(&strict, true, &wire);
        wire["function"]["strict"] = json!(false);
        let lax = OpenAiChat.parse_definitions(&wire).unwrap().remove(0);
        both_ways(&lax, false, &wire);
        wire["function"]["strict"] = Value::Null;
        assert_eq!(OpenAiChat.parse_definitions(&wire).unwrap()[0].metadata.strict, None);
    }

    #[test]
    fn custom_tools_go_both_ways() {
        let grammar =
            |syntax: &str| json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": "x"}});
        for (format, wire) in [
            (TextFormat::Text, None),
            (TextFormat::Lark("x".to_owned()), Some(grammar("lark"))),
            (TextFormat::Regex("x".to_owned()), Some(grammar("regex"))),
        ] {
            let patch = ToolDefinition::custom(ToolName::new("apply_patch").unwrap(), "Patches.", format);
            let mut custom =
                json!({"type": "custom", "custom": {"name": "apply_patch", "description": "Patches."}});
            if let Some(wire) = wire {
                custom["custom"]["format"] = wire;
            }
            both_ways(&patch, false, &custom);
        }
    }

    #[test]
    fn what_the_api_cannot_say_is_reported() {
        let metadata = ToolMetadata::default()
            .with_input_examples([json!({"city": "Paris"})])
            .with_allowed_callers(["direct"])
            .with_defer(true);
        let definition = OpenAiChat.parse_definitions(&weather()).unwrap().remove(0);
        let definition = definition.with_metadata(metadata).with_output_schema(json!({"type": "string"}));
        let names = WireNames::default();
        let how = Spelling { names: &names, strict: false, outputs: true, dialect: SchemaDialect::OpenAi };
        let encoded = OpenAiChat.encode_definition(&definition, &how);
        assert_eq!(encoded.json, weather());
        let paths: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
        assert_eq!(paths, ["/output_schema", "/input_examples", "/allowed_callers", "/defer"]);
    }

    #[test]
    fn names_with_dots_are_respelled() {
        let name = ToolName::new("fs.read").unwrap();
        let names = WireNames::new(NAMES, [name.as_str()]);
        let encoded = encode(&ToolDefinition::new(name, "", json!({})), &names);
        assert_eq!(encoded["function"]["name"], "fs_read");
    }

    #[test]
    fn a_list_a_tool_or_a_request() {
        let custom = json!({"type": "custom", "custom": {"name": "apply_patch"}});
        check(&weather(), &["get_weather"]);
        check(
            &json!([weather(), custom, {"type": "web_search"}, weather()]),
            &["get_weather", "apply_patch", "get_weather"],
        );
        check(&json!({"model": "gpt-4o", "messages": [], "tools": [weather()]}), &["get_weather"]);
        check(&json!({"messages": []}), &[]);
        check(&json!({"tools": null}), &[]);
        check(&custom, &["apply_patch"]);
        check(&json!([]), &[]);
        check(&json!({"function": {"name": "untyped"}}), &["untyped"]);
    }

    #[test]
    fn missing_parameters_are_none() {
        for function in [json!({"name": "now"}), json!({"name": "now", "parameters": null})] {
            let parsed =
                OpenAiChat.parse_definitions(&json!([{"type": "function", "function": function}])).unwrap();
            assert_eq!(parsed[0].parameters, json!({"type": "object", "properties": {}}));
            assert_eq!(parsed[0].description, "");
        }
    }

    #[test]
    fn what_is_wrong_has_a_path() {
        let whole = "a list of tools, one tool, or a request with `tools`";
        let function = "the name, description and parameters of a function";
        let with =
            |function: Value| json!({"tools": [weather(), {"type": "function", "function": function}]});
        refuse(&json!(1), "", whole);
        refuse(&json!({"choices": []}), "", whole);
        refuse(&json!({"tools": "none"}), "tools", "a list of tools");
        refuse(&json!([null]), "[0].function", function);
        refuse(&json!({"type": "function", "name": "flat"}), "function", function);
        refuse(
            &json!([{"type": "custom", "name": "flat"}]),
            "[0].custom",
            "the name, description and format of a custom tool",
        );
        refuse(
            &json!({"type": "custom", "custom": {"name": "x", "format": {"type": "yaml"}}}),
            "custom.format",
            "`text`, or a grammar with `syntax` (`lark` or `regex`) and `definition`",
        );
        refuse(&with(json!({"name": "a", "strict": 1})), "tools[1].function.strict", "true or false");
        refuse(&with(json!({})), "tools[1].function.name", "a tool name");
        refuse(
            &with(json!({"name": "get weather"})),
            "tools[1].function.name",
            "a tool name such as `get_weather`",
        );
        refuse(&with(json!({"name": "a", "description": 1})), "tools[1].function.description", "a text");
        refuse(
            &with(json!({"name": "a", "parameters": []})),
            "tools[1].function.parameters",
            "a JSON Schema object",
        );
    }
}
