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
    /// Parses the functions of an entry, which may also contain tools run by the service itself.
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut RequestTools) -> Result<(), WireError> {
        let fields = object(tool, path, "a tool with `function_declarations`")?;
        if let Some(name) =
            ["type", "function", "input_schema"].into_iter().find(|name| fields.contains_key(*name))
        {
            // The tool would be lost if it were read as a tool of the service.
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
        found.hosted.extend((!rest.is_empty()).then(|| rest.into()));
        Ok(())
    }

    fn parse_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        let path = "toolConfig.functionCallingConfig";
        let Some(config) = get(request, "toolConfig") else { return Ok(ToolConfig::default()) };
        let config = get(object(config, "toolConfig", "an object")?, "functionCallingConfig");
        let Some(config) = config else { return Ok(ToolConfig::default()) };
        let config = object(config, path, "an object")?;
        parse_choice(config, path, names).map(ToolConfig::from)
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
    let definition = match key(declaration, "parametersJsonSchema") {
        Some(key) if declaration.get(key).is_some_and(|schema| !schema.is_null()) => {
            parse_named(declaration, path, key)?
        }
        _ => {
            let mut definition = parse_named(declaration, path, "parameters")?;
            definition.parameters = to_json_schema(&definition.parameters);
            definition
        }
    };
    let output = match get(declaration, "responseJsonSchema") {
        Some(schema) => Some(schema.clone()),
        None => get(declaration, "response").map(to_json_schema),
    };
    let mut definition = match output {
        Some(output) => definition.with_output_schema(output),
        None => definition,
    };
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

/// Parses the names in `allowedFunctionNames`. Returns `None` if the list is missing or empty, because both
/// allow every tool.
fn parse_names(config: &Fields, path: &str, names: &WireNames) -> Result<Option<Vec<String>>, WireError> {
    let path = field(path, "allowedFunctionNames");
    let Some(allowed) = get(config, "allowedFunctionNames") else { return Ok(None) };
    let Some(allowed) = allowed.as_array() else { return Err(WireError::new(path, "a list of names")) };
    let allowed = elements(allowed, &path).map(|(path, name)| match name.as_str() {
        Some(name) => Ok(names.unspell(name).to_owned()),
        None => Err(WireError::new(path, "the name of a function")),
    });
    let allowed = allowed.collect::<Result<Vec<_>, _>>()?;
    Ok(Some(allowed).filter(|names| !names.is_empty()))
}
