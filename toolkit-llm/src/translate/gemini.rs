//! Reads requests of Gemini's API.

use super::gemini_schema::to_json_schema;
use super::tools::parse_named;
use super::{RequestCodec, RequestTools, ResultForm, gemini_results, received_definitions};
use crate::apis::gemini::Gemini;
use crate::apis::gemini::read::WireResult;
use crate::apis::gemini::spelling::{get, key};
use crate::json::WireError;
use crate::json::fields::{Fields, camel, elements, field, object, set};
use serde_json::Value;
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;

impl RequestCodec for Gemini {
    /// Parses the functions of an entry, which may also contain tools of the service.
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut RequestTools) -> Result<(), WireError> {
        let fields = object(tool, path, "a tool with `function_declarations`")?;
        if let Some(name) =
            ["type", "function", "input_schema"].into_iter().find(|name| fields.contains_key(*name))
        {
            // It would be lost as a tool of the service.
            return Err(WireError::new(field(path, name), "no such field, which tools of other APIs have"));
        }
        // A function declaration may also stand alone.
        if fields.get("name").is_some_and(Value::is_string) {
            found.own.push(parse_declaration(fields, path)?);
            return Ok(());
        }
        let mut rest = Fields::new();
        for (name, value) in fields {
            let path = field(path, name);
            match value {
                _ if camel(name) != "functionDeclarations" => set(&mut rest, name, value.clone()),
                Value::Null => {}
                Value::Array(declarations) => {
                    for (path, declaration) in elements(declarations, &path) {
                        let expected = "the name, description and parameters of a function";
                        found.own.push(parse_declaration(object(declaration, &path, expected)?, &path)?);
                    }
                }
                _ => return Err(WireError::new(path, "a list of functions")),
            }
        }
        if !rest.is_empty() {
            found.hosted.push(rest.into());
        }
        Ok(())
    }

    fn parse_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        let path = "toolConfig.functionCallingConfig";
        let Some(config) = get(request, "toolConfig") else { return Ok(ToolConfig::default()) };
        let fields = object(config, "toolConfig", "an object")?;
        let Some(calling) = get(fields, "functionCallingConfig") else { return Ok(ToolConfig::default()) };
        let choice = parse_choice(object(calling, path, "an object")?, path, names)?;
        Ok(choice.into())
    }

    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        gemini_results::parse(payload)
    }

    fn result_form(&self) -> ResultForm {
        ResultForm {
            parts: "parts",
            is_result: |part| WireResult::from_part(part).is_some(),
            own: &["/functionResponse/id", "/functionResponse/name"],
        }
    }
}

fn parse_declaration(declaration: &Fields, path: &str) -> Result<ToolDefinition, WireError> {
    let mut definition = match key(declaration, "parametersJsonSchema") {
        Some(key) if declaration.get(key).is_some_and(|schema| !schema.is_null()) => {
            parse_named(declaration, path, key)?
        }
        _ => {
            let mut definition = parse_named(declaration, path, "parameters")?;
            definition.parameters = to_json_schema(&definition.parameters);
            definition
        }
    };
    if let Some(schema) = get(declaration, "responseJsonSchema") {
        definition = definition.with_output_schema(schema.clone());
    } else if let Some(schema) = get(declaration, "response") {
        definition = definition.with_output_schema(to_json_schema(schema));
    }
    received_definitions::store_unknown_fields(&Gemini, &mut definition, declaration);
    Ok(definition)
}

fn parse_choice(config: &Fields, path: &str, names: &WireNames) -> Result<ToolChoice, WireError> {
    let allowed = parse_names(config, path, names)?;
    let mode = match get(config, "mode") {
        None => String::new(),
        Some(Value::String(mode)) => mode.to_ascii_uppercase(),
        Some(_) => return Err(unknown_mode(path)),
    };
    match (mode.as_str(), allowed) {
        ("NONE", _) => Ok(ToolChoice::None),
        ("" | "MODE_UNSPECIFIED" | "AUTO" | "VALIDATED", None) => Ok(ToolChoice::Auto),
        ("" | "MODE_UNSPECIFIED" | "AUTO" | "VALIDATED", Some(names)) => {
            Ok(ToolChoice::Allowed { names, required: false })
        }
        ("ANY", None) => Ok(ToolChoice::Required),
        ("ANY", Some(names)) => Ok(match names.as_slice() {
            [only] => ToolChoice::Tool(only.clone()),
            _ => ToolChoice::Allowed { names, required: true },
        }),
        _ => Err(unknown_mode(path)),
    }
}

fn unknown_mode(path: &str) -> WireError {
    WireError::new(field(path, "mode"), "`AUTO`, `ANY`, `NONE` or `VALIDATED`")
}

/// Parses `allowedFunctionNames`. A missing or an empty list allows every tool.
fn parse_names(config: &Fields, path: &str, names: &WireNames) -> Result<Option<Vec<String>>, WireError> {
    let path = field(path, "allowedFunctionNames");
    let Some(list) = get(config, "allowedFunctionNames") else { return Ok(None) };
    let Value::Array(list) = list else { return Err(WireError::new(path, "a list of names")) };
    let mut allowed = Vec::new();
    for (path, name) in elements(list, &path) {
        let Value::String(name) = name else { return Err(WireError::new(path, "the name of a function")) };
        allowed.push(names.unspell(name).to_owned());
    }
    Ok(if allowed.is_empty() { None } else { Some(allowed) })
}
