//! Reads requests of OpenAI's Responses API.

use super::openai::{is_hosted, media};
use super::received_results::{listed, store_received};
use super::tools::{read_settings, required};
use super::{RequestCodec, RequestTools, ResultForm, openai, received_definitions};
use crate::apis::openai::Form;
use crate::apis::openai_responses::client::{self, CallKind, REPEATED, is_result};
use crate::apis::openai_responses::{CUSTOM, CUSTOM_OUTPUT, FACTS, NAMESPACE, OpenAiResponses};
use crate::history::results::json_content;
use crate::json::WireError;
use crate::json::fields::{Fields, copy, elements, field, kind, object, only, optional, set, text};
use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::call::{ProviderExtras, ToolConfig};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};
use toolkit_core::{ErrorKind, ToolError, ToolResult};

impl RequestCodec for OpenAiResponses {
    /// Parses a tool, or all tools of a namespace, also in the nested form of Chat Completions.
    ///
    /// A function in a namespace keeps the name written there, because calls use it.
    fn parse_tool(&self, tool: &Value, path: &str, found: &mut RequestTools) -> Result<(), WireError> {
        let fields = object(tool, path, "a tool")?;
        if kind(fields) != Some(NAMESPACE) {
            if is_hosted(tool) {
                found.hosted.push(tool.clone());
            } else {
                found.own.push(parse_tool(tool, path)?);
            }
            return Ok(());
        }
        let path = field(path, "tools");
        let Some(Value::Array(tools)) = fields.get("tools") else {
            return Err(WireError::new(path, "a list of tools"));
        };
        let stored = only(fields, |name, value| !matches!(name, "type" | "name" | "tools") && *value != "");
        let mut hosted = Vec::new();
        for (path, tool) in elements(tools, &path) {
            object(tool, &path, "a tool")?;
            if is_hosted(tool) {
                hosted.push(tool.clone());
                continue;
            }
            let mut definition = parse_tool(tool, &path)?;
            if let Some(name @ Value::String(_)) = fields.get("name") {
                let meta = &mut definition.metadata.meta;
                set(meta, NAMESPACE, name.clone());
                if !stored.is_empty() {
                    let own = meta.entry(FACTS.name).or_insert_with(|| Fields::new().into());
                    own[NAMESPACE] = stored.clone().into();
                }
            }
            found.own.push(definition);
        }
        if !hosted.is_empty() {
            let mut namespace = fields.clone();
            set(&mut namespace, "tools", hosted);
            found.hosted.push(namespace.into());
        }
        Ok(())
    }

    fn parse_config(&self, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
        openai::parse_config(Form::Flat, request, names)
    }

    /// Parses the results in items. Tool names come from the calls among them.
    fn parse_results(&self, payload: &Value) -> Result<Vec<ToolResult>, WireError> {
        let items = listed(payload, "an item or a list of items")?;
        let mut names: HashMap<&str, &str> = HashMap::new();
        for (_, item) in &items {
            if let (Some(Value::String(id)), Some(Value::String(name))) =
                (item.get("call_id"), item.get("name"))
            {
                names.insert(id, name);
            }
        }
        let mut results = Vec::new();
        for (path, item) in &items {
            if is_result(item) {
                results.push(parse_result(item, path, &names)?);
            }
        }
        Ok(results)
    }

    fn result_form(&self) -> ResultForm {
        ResultForm { parts: "", is_result, own: &["/call_id", "/namespace", "/caller"] }
    }
}

fn parse_tool(tool: &Value, path: &str) -> Result<ToolDefinition, WireError> {
    let (mut definition, fields, path) = Form::Flat.parse_tool(tool, path)?;
    let schema = optional(fields, &path, "output_schema", "a JSON Schema object", Value::as_object)?;
    if let Some(schema) = schema {
        definition = definition.with_output_schema(schema.clone().into());
    }
    read_settings(fields, &path, &mut definition.metadata)?;
    received_definitions::store_unknown_fields(&OpenAiResponses, &mut definition, fields);
    Ok(definition)
}

fn parse_result(item: &Value, path: &str, names: &HashMap<&str, &str>) -> Result<ToolResult, WireError> {
    if let Some(client) = client::of_output(item) {
        let id = client::answered(item);
        if id.is_empty() {
            return Err(WireError::new(field(path, "call_id"), "the id of a call"));
        }
        let (outcome, extras) = read_client(client, item);
        let extras = ProviderExtras::new(FACTS.name, extras);
        return Ok(ToolResult::new(id.into(), client.tool, outcome).with_extras(extras));
    }
    let id = required(item, path, "call_id", "the id of a call")?;
    let name = item.get("name").and_then(Value::as_str).or_else(|| names.get(id).copied());
    let output = match item.get("output") {
        Some(Value::String(text)) => ToolOutput::text(text.as_str()),
        Some(Value::Array(parts)) => ToolOutput::new(parts.iter().map(parse_part).collect()),
        _ => return Err(WireError::new(field(path, "output"), "a text or a list of contents")),
    };
    let mut extras = Fields::new();
    if text(item, "type") == CUSTOM_OUTPUT {
        set(&mut extras, "type", CUSTOM);
    }
    copy(item.as_object().unwrap_or(&Fields::new()), &mut extras, &REPEATED);
    let result = ToolResult::new(id.into(), name.unwrap_or_default(), Ok(output))
        .with_extras(ProviderExtras::new(FACTS.name, extras));
    Ok(store_received(&OpenAiResponses, result, item))
}

/// Parses a content. Unknown elements and references to uploaded files are kept as JSON.
fn parse_part(part: &Value) -> Content {
    parse_known_part(part).unwrap_or_else(|| json_content(part))
}

fn parse_known_part(part: &Value) -> Option<Content> {
    let text = |name| part.get(name).and_then(Value::as_str);
    match text("type")? {
        "input_text" | "output_text" => Some(Content::Text(text("text")?.to_owned())),
        "input_image" => Some(Content::Image(Box::new(media(text("image_url")?, "image/*")))),
        "input_file" => {
            let data = text("file_data").or_else(|| text("file_url"))?;
            let mut file = media(data, "application/octet-stream");
            file.name = text("filename").map(ToOwned::to_owned);
            Some(Content::File(Box::new(file)))
        }
        _ => None,
    }
}

/// Reads the result of a provider's tool that the program runs: the outcome, and the extras needed to write
/// it again.
fn read_client(client: &CallKind, item: &Value) -> (Result<ToolOutput, ToolError>, Fields) {
    let mut extras = Fields::from_iter([("type".to_owned(), client.call.into())]);
    copy(item.as_object().unwrap_or(&Fields::new()), &mut extras, &["caller", "max_output_length"]);
    if let Some(checks) = item.get("acknowledged_safety_checks") {
        set(&mut extras, "pending_safety_checks", checks.clone());
    }
    (client_outcome(item), extras)
}

fn client_outcome(item: &Value) -> Result<ToolOutput, ToolError> {
    let output = text(item, "output");
    Ok(match text(item, "type") {
        "shell_call_output" => json_field(item, "output").into(),
        "tool_search_output" => json_field(item, "tools").into(),
        "apply_patch_call_output" if text(item, "status") == "failed" => {
            return Err(ToolError::new(ErrorKind::Failed, output));
        }
        "local_shell_call_output" | "apply_patch_call_output" => ToolOutput::text(output),
        "computer_call_output" => match item.get("output").map_or("", |shot| text(shot, "image_url")) {
            "" => json_field(item, "output").into(),
            url => Content::Image(Box::new(media(url, "image/*"))).into(),
        },
        _ => {
            let no_fields = Fields::new();
            let fields = item.as_object().unwrap_or(&no_fields);
            let answer = only(fields, |name, _| matches!(name, "approve" | "reason"));
            json_content(&answer.into()).into()
        }
    })
}

fn json_field(item: &Value, name: &str) -> Content {
    json_content(item.get(name).unwrap_or(&Value::Array(Vec::new())))
}
