//! The `tools` of a request.

use super::{Anthropic, FORMAT, NAMES};
use crate::WireError;
use crate::call::Fields;
use crate::codec::DefinitionCodec;
use crate::declaration::{EncodedDefinition, Spelling, Strictness, listed_tools, parse_named};
use crate::path::{element, field};
use serde_json::{Map, Value};
use toolkit_core::name::NameRule;
use toolkit_core::tool::{ToolDefinition, ToolKind};
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// The fields that have a place in our definition. All others (`cache_control` and future
/// ones) are kept in the metadata, as `meta` of this format's name, and written from there.
const KNOWN: [&str; 8] = [
    "type",
    "name",
    "description",
    "input_schema",
    "strict",
    "defer_loading",
    "input_examples",
    "allowed_callers",
];

impl DefinitionCodec for Anthropic {
    fn name_rule(&self) -> NameRule {
        NAMES
    }

    fn strictness(&self) -> Strictness {
        Strictness::PerRequest
    }

    /// `^[a-zA-Z0-9_.-]{1,64}$`, from the service's error text.
    fn property_rule(&self) -> Option<NameRule> {
        Some(NameRule { max_length: 64, punctuation: "_.-", letter_first: false })
    }

    fn dialect(&self, strict: bool, _json_schema: bool) -> SchemaDialect {
        if strict { SchemaDialect::AnthropicStrict } else { SchemaDialect::Anthropic }
    }

    fn own_fields(&self) -> Option<&'static str> {
        Some(FORMAT)
    }

    fn encode_definition(&self, definition: &ToolDefinition, how: &Spelling<'_>) -> EncodedDefinition {
        let (schema, mut losses) = how.parameters(definition);
        let metadata = &definition.metadata;
        let mut tool = Fields::new();
        tool.insert("name".to_owned(), how.names.spell(definition.name.as_str()).into());
        tool.insert("description".to_owned(), definition.description.as_str().into());
        tool.insert("input_schema".to_owned(), schema);
        if how.strict {
            tool.insert("strict".to_owned(), true.into());
        }
        if metadata.defer {
            tool.insert("defer_loading".to_owned(), true.into());
        }
        let examples = input_examples(&metadata.input_examples, &mut losses);
        if !examples.is_empty() {
            tool.insert("input_examples".to_owned(), examples.into());
        }
        let callers = allowed_callers(&metadata.allowed_callers, &mut losses);
        if !callers.is_empty() {
            tool.insert("allowed_callers".to_owned(), callers.into());
        }
        if let Some(Value::Object(others)) = metadata.meta.get(FORMAT) {
            for (name, value) in others.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str())) {
                tool.insert(name.clone(), value.clone());
            }
        }
        if how.output(definition).is_some() {
            losses.push(SchemaLoss::new(
                "/output_schema",
                "output",
                "the API has no schema of what a tool gives back",
            ));
        }
        if let ToolKind::Custom(_) = definition.kind {
            let reason =
                "the API has no tools of free text: the text is the argument `input`, and no grammar holds";
            losses.push(SchemaLoss::new("/kind", "custom", reason));
        }
        EncodedDefinition { json: tool.into(), losses }
    }

    fn parse_definitions(&self, payload: &Value) -> Result<Vec<ToolDefinition>, WireError> {
        let tools = listed_tools(payload, is_tool, "messages")?;
        tools.into_iter().filter_map(|(path, tool)| parse_tool(tool, &path).transpose()).collect()
    }

    fn hosted_tools(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        let tools = listed_tools(payload, is_tool, "messages")?;
        let hosted = tools.into_iter().filter_map(|(path, tool)| match is_hosted(tool, &path) {
            Ok(true) => Some(Ok(tool.clone())),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        });
        hosted.collect()
    }
}

/// Encodes examples. The service refuses those that are not objects.
fn input_examples(examples: &[Value], losses: &mut Vec<SchemaLoss>) -> Vec<Value> {
    let (sent, refused): (Vec<_>, Vec<_>) =
        examples.iter().enumerate().partition(|(_, example)| example.is_object());
    losses.extend(refused.into_iter().map(|(index, _)| {
        let path = format!("/input_examples/{index}");
        SchemaLoss::new(path, "input_examples", "the API takes objects only, so the example is left out")
    }));
    sent.into_iter().map(|(_, example)| example.clone()).collect()
}

/// Encodes callers. The service refuses unknown ones, such as those of other APIs. Its own are the
/// model itself and the versions of its code execution.
fn allowed_callers(callers: &[String], losses: &mut Vec<SchemaLoss>) -> Vec<Value> {
    let is_known = |caller: &str| caller == "direct" || caller.starts_with("code_execution_");
    let (sent, refused): (Vec<_>, Vec<_>) =
        callers.iter().enumerate().partition(|(_, caller)| is_known(caller));
    losses.extend(refused.into_iter().map(|(index, caller)| {
        let reason = format!("the API knows no caller `{caller}`, so it is left out");
        SchemaLoss::new(format!("/allowed_callers/{index}"), "allowed_callers", reason)
    }));
    sent.into_iter().map(|(_, caller)| caller.as_str().into()).collect()
}

fn is_tool(fields: &Map<String, Value>) -> bool {
    ["input_schema", "name"].iter().any(|name| fields.contains_key(*name))
        || fields.get("type").is_some_and(Value::is_string)
}

/// Returns whether the service defines the tool: `web_search_20250305`, `bash_20250124` and the like.
fn is_hosted(tool: &Value, path: &str) -> Result<bool, WireError> {
    match tool.get("type") {
        None | Some(Value::Null) => Ok(false),
        Some(kind) if kind == "custom" => Ok(false),
        // To take it for one of the service's would lose it.
        Some(kind) if kind == "function" => {
            Err(WireError::new(field(path, "type"), "no such type, which tools of other APIs have"))
        }
        Some(Value::String(_)) => Ok(true),
        Some(_) => Err(WireError::new(field(path, "type"), "a text")),
    }
}

fn parse_tool(tool: &Value, path: &str) -> Result<Option<ToolDefinition>, WireError> {
    let Some(fields) = tool.as_object() else {
        return Err(WireError::new(path, "the name, description and schema of a tool"));
    };
    if is_hosted(tool, path)? {
        return Ok(None);
    }
    let mut definition = parse_named(fields, path, "input_schema")?;
    let metadata = &mut definition.metadata;
    metadata.strict = parse_flag(fields, path, "strict")?;
    metadata.defer = parse_flag(fields, path, "defer_loading")?.unwrap_or(false);
    metadata.input_examples = parse_list(fields, path, "input_examples")?.to_vec();
    metadata.allowed_callers = parse_callers(fields, path)?;
    let others = fields.iter().filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null());
    let others: Fields = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !others.is_empty() {
        metadata.meta.insert(FORMAT.to_owned(), others.into());
    }
    Ok(Some(definition))
}

fn parse_flag(fields: &Fields, path: &str, name: &str) -> Result<Option<bool>, WireError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(WireError::new(field(path, name), "true or false")),
    }
}

fn parse_list<'a>(fields: &'a Fields, path: &str, name: &str) -> Result<&'a [Value], WireError> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(WireError::new(field(path, name), "a list")),
    }
}

fn parse_callers(fields: &Fields, path: &str) -> Result<Vec<String>, WireError> {
    let name = "allowed_callers";
    let callers = parse_list(fields, path, name)?.iter().enumerate();
    let callers = callers.map(|(index, caller)| match caller {
        Value::String(caller) => Ok(caller.clone()),
        _ => Err(WireError::new(element(&field(path, name), index), "the name of a caller")),
    });
    callers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anthropic::NAMES;
    use serde_json::json;
    use toolkit_core::name::{ToolName, WireNames};
    use toolkit_core::tool::{TextFormat, ToolMetadata};
    use toolkit_schema::SchemaDialect;

    fn encode(definition: &ToolDefinition, names: &WireNames, strict: bool) -> EncodedDefinition {
        Anthropic.encode_definition(
            definition,
            &Spelling { names, strict, outputs: true, dialect: SchemaDialect::Anthropic },
        )
    }

    fn weather() -> Value {
        json!({
            "name": "get_weather",
            "description": "",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        })
    }

    fn tool(name: &str) -> ToolDefinition {
        ToolDefinition::new(ToolName::new(name).unwrap(), "", json!({"type": "object"}))
    }

    #[track_caller]
    fn check(payload: &Value, names: &[&str], hosted: &[Value]) {
        let parsed = Anthropic.parse_definitions(payload).unwrap();
        let parsed: Vec<&str> = parsed.iter().map(|definition| definition.name.as_str()).collect();
        assert_eq!(parsed, names);
        assert_eq!(Anthropic.hosted_tools(payload).unwrap(), hosted);
    }

    #[track_caller]
    fn refuse(payload: &Value, path: &str, expected: &str) {
        let error = Anthropic.parse_definitions(payload).unwrap_err();
        assert_eq!((error.path(), error.expected()), (path, expected));
    }

    #[test]
    fn definitions_come_back_as_they_went() {
        let mut full = weather();
        full["strict"] = true.into();
        full["defer_loading"] = true.into();
        full["input_examples"] = json!([{"city": "Oslo"}]);
        full["allowed_callers"] = json!(["direct", "code_execution_20250825"]);
        full["cache_control"] = json!({"type": "ephemeral"});
        full["eager_input_streaming"] = true.into();
        for tool in [weather(), full] {
            let parsed = Anthropic.parse_definitions(&tool).unwrap();
            let strict = parsed[0].metadata.strict == Some(true);
            let encoded = encode(&parsed[0], &WireNames::default(), strict);
            assert_eq!(encoded.json, tool);
            assert!(encoded.losses.is_empty());
        }
    }

    #[test]
    fn names_with_dots_are_respelled() {
        let definition = tool("fs.read");
        let names = WireNames::new(NAMES, [definition.name.as_str()]);
        assert_eq!(encode(&definition, &names, false).json["name"], "fs_read");
    }

    #[test]
    fn only_those_that_should_be_are_strict() {
        let definition = tool("now").with_metadata(ToolMetadata::default().with_strict(true));
        assert_eq!(encode(&definition, &WireNames::default(), false).json.get("strict"), None);
    }

    #[test]
    fn what_cannot_be_said_is_reported() {
        let metadata = ToolMetadata::default()
            .with_input_examples([json!({"input": "x"}), json!("x")])
            .with_allowed_callers(["programmatic", "direct"]);
        let name = ToolName::new("patch").unwrap();
        let definition = ToolDefinition::custom(name, "", TextFormat::Lark("start: x".to_owned()))
            .with_output_schema(json!({"type": "string"}))
            .with_metadata(metadata);
        let encoded = encode(&definition, &WireNames::default(), false);
        let paths: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
        assert_eq!(paths, ["/input_examples/1", "/allowed_callers/0", "/output_schema", "/kind"]);
        assert_eq!(encoded.json["input_examples"], json!([{"input": "x"}]));
        assert_eq!(encoded.json["allowed_callers"], json!(["direct"]));
        assert_eq!(encoded.json["input_schema"], definition.parameters);
    }

    #[test]
    fn fields_with_a_meaning_of_their_own_are_not_overwritten() {
        let meta = json!({"name": "x", "strict": true, "cache_control": {"type": "ephemeral"}});
        let definition = tool("now").with_metadata(ToolMetadata::default().with_meta(FORMAT, meta));
        assert_eq!(
            encode(&definition, &WireNames::default(), false).json,
            json!({"name": "now", "description": "", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}})
        );
    }

    #[test]
    fn a_list_a_tool_or_a_request() {
        let search = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3});
        let bash = json!({"type": "bash_20250124", "name": "bash"});
        let servers = json!({"type": "mcp_toolset", "mcp_server_name": "x"});
        let mut custom = weather();
        custom["type"] = "custom".into();
        check(&weather(), &["get_weather"], &[]);
        check(
            &json!([custom, search, bash, weather(), servers]),
            &["get_weather", "get_weather"],
            &[search.clone(), bash, servers],
        );
        check(&json!({"model": "m", "messages": [], "tools": [weather()]}), &["get_weather"], &[]);
        check(&json!({"messages": []}), &[], &[]);
        check(&json!({"tools": null}), &[], &[]);
        check(&search, &[], std::slice::from_ref(&search));
        check(&json!([]), &[], &[]);
        check(&json!({"name": "untyped", "type": null}), &["untyped"], &[]);
    }

    #[test]
    fn a_missing_schema_is_one_without_parameters() {
        for tool in [json!({"name": "now"}), json!({"name": "now", "input_schema": null, "strict": null})] {
            let parsed = Anthropic.parse_definitions(&json!([tool])).unwrap();
            assert_eq!(parsed[0].parameters, json!({"type": "object", "properties": {}}));
            assert_eq!((parsed[0].description.as_str(), parsed[0].metadata.strict), ("", None));
        }
    }

    #[test]
    fn what_is_wrong_has_a_path() {
        let whole = "a list of tools, one tool, or a request with `tools`";
        let with = |tool: Value| json!({"tools": [weather(), tool]});
        refuse(&json!(1), "", whole);
        refuse(&json!({"content": []}), "", whole);
        refuse(&json!({"tools": "none"}), "tools", "a list of tools");
        refuse(&json!([null]), "[0]", "the name, description and schema of a tool");
        refuse(&with(json!({})), "tools[1].name", "a tool name");
        refuse(&json!([{"function_declarations": []}]), "[0].name", "a tool name");
        let function = "no such type, which tools of other APIs have";
        refuse(&with(json!({"type": "function", "name": "a"})), "tools[1].type", function);
        refuse(&with(json!({"type": 1, "name": "a"})), "tools[1].type", "a text");
        for (name, value, expected) in [
            ("input_schema", json!([]), "a JSON Schema object"),
            ("strict", json!(1), "true or false"),
            ("defer_loading", json!("yes"), "true or false"),
            ("input_examples", json!({}), "a list"),
        ] {
            let mut tool = weather();
            tool[name] = value;
            refuse(&with(tool), &format!("tools[1].{name}"), expected);
        }
        let mut tool = weather();
        tool["allowed_callers"] = json!(["direct", 1]);
        refuse(&tool, "allowed_callers[1]", "the name of a caller");
    }
}
