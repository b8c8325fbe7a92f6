//! Writes what a request contains: definitions, the tool choice, messages and results.
//!
//! The API calls a message a `Content`.

use super::media::{MEDIA, content_part, media_part};
use super::read::{WireResult, member, read_call, says_something};
use super::references::{has_reference, references_to_text};
use super::spelling::{get, key, list};
use super::{FACTS, Gemini};
use crate::call::outgoing::OutgoingCall;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::call::received::ReceivedMessage;
use crate::call::{ids, sanitize};
use crate::codec::{HistoryCodec, RepairCodec, ResultCodec};
use crate::definitions::EncodedToolConfig;
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder, take_named};
use crate::definitions::tool_config::ChoiceCodec;
use crate::facts::media::{MediaTable, accepted, media_of};
use crate::facts::result_rule::{Replies, RequiredIds, ResultPlace, ResultRule};
use crate::history::repair::{part_entries, user_message};
use crate::history::results::{attachments, output_text, result_text};
use crate::json::fields::{Fields, camel, set, text};
use crate::json::texts;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, JsonText, ToolOutput};
use toolkit_schema::__private::{LoopExits, fit_references};
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// The functions that `computerUse` defines, from its guide.
const COMPUTER: [&str; 13] = [
    "click_at",
    "drag_and_drop",
    "go_back",
    "go_forward",
    "hover_at",
    "key_combination",
    "navigate",
    "open_web_browser",
    "scroll_at",
    "scroll_document",
    "search",
    "type_text_at",
    "wait_5_seconds",
];

const OUTPUT: &str = "/output_schema";

/// The message after calls must answer all of them, in their order.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies {
        parts: "parts",
        roles: &["user", "function", ""],
        results_first: false,
    }),
    in_call_order: true,
    ids: RequiredIds::Optional,
};

impl DefinitionCodec for Gemini {
    /// Writes one element of the list `function_declarations`.
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let json_schema = encoder.how.dialect == SchemaDialect::JsonSchema;
        let (parameters_key, output_key) = if json_schema {
            ("parametersJsonSchema", "responseJsonSchema")
        } else {
            ("parameters", "response")
        };
        let mut declaration = Fields::new();
        set(&mut declaration, "name", encoder.name());
        set(&mut declaration, "description", encoder.definition.description.as_str());
        let mut parameters = encoder.parameters();
        // "ref loops are only supported if they include optional or nullable property values, or a potentially-zero-length
        // array items", an error of the service.
        let lost = fit_references(&mut parameters, LoopExits::EmptyParts);
        encoder.lose_inside("/parameters", lost);
        if !has_no_properties(&parameters) {
            set(&mut declaration, parameters_key, parameters);
        }
        if let Some(output) = encoder.output() {
            let (schema, lost) = output_schema(encoder.how.dialect, &output);
            encoder.lose_inside(OUTPUT, lost);
            if json_schema || is_typed(&schema) {
                set(&mut declaration, output_key, schema);
            } else {
                let reason =
                    "the API takes a type, and of an object its properties; the output is not described";
                encoder.lose(OUTPUT, output_key, reason);
            }
        }
        declaration.into()
    }

    /// Removes the definitions of tools that answer `computerUse`, except for excluded functions.
    fn hosted_entry(&self, tool: &Value, entries: &mut Vec<Value>) -> Option<Value> {
        if let Some(Value::Object(computer)) = member(tool, "computerUse") {
            let excluded = list(computer, "excludedPredefinedFunctions");
            entries.retain_mut(|entry| remove_functions(entry, excluded));
        }
        Some(tool.clone())
    }
}

/// Removes functions except for `excluded` ones.
///
/// Returns whether anything is left.
fn remove_functions(entry: &mut Value, excluded: &[Value]) -> bool {
    let Some(Value::Array(own)) = entry.get_mut("function_declarations") else { return true };
    for name in COMPUTER {
        if !excluded.iter().any(|other| other == name) {
            take_named(own, name);
        }
    }
    !own.is_empty()
}

/// Converts an output schema as the schema of a property.
///
/// An output can be any value, but a dialect converts the root of a schema into an object schema.
fn output_schema(dialect: SchemaDialect, output: &Value) -> (Value, Vec<SchemaLoss>) {
    const PROPERTY: &str = "/properties/output";
    if dialect == SchemaDialect::JsonSchema {
        let mut schema = output.clone();
        let lost = fit_references(&mut schema, LoopExits::EmptyParts);
        return (schema, lost);
    }
    let definitions = output.get("$defs").cloned().unwrap_or_else(|| json!({}));
    let mut converted =
        dialect.convert(&json!({"type": "object", "properties": {"output": output}, "$defs": definitions}));
    let schema = converted.schema["properties"]["output"].take();
    for loss in &mut converted.losses {
        if let Some(path) = loss.path.strip_prefix(PROPERTY) {
            loss.path = path.to_owned();
        }
    }
    (schema, converted.losses)
}

/// Returns whether a function has no parameters, for which the service refuses a schema.
fn has_no_properties(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return schema.is_null() };
    fields.iter().all(|(keyword, value)| fits_no_properties(keyword, value))
}

/// Returns whether a keyword fits an object without properties.
fn fits_no_properties(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => value.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object")),
        "properties" => value.as_object().is_some_and(Fields::is_empty),
        "required" | "propertyOrdering" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == Value::Bool(false),
        "$schema" | "title" | "description" => true,
        _ => false,
    }
}

fn is_typed(schema: &Value) -> bool {
    ["type", "anyOf", "ref"].iter().any(|keyword| schema.get(keyword).is_some()) && !has_no_properties(schema)
}

impl ChoiceCodec for Gemini {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let (mode, allowed): (_, &[String]) = match &wanted.choice {
            ToolChoice::Auto => ("AUTO", &[]),
            ToolChoice::None => ("NONE", &[]),
            ToolChoice::Required => ("ANY", &[]),
            ToolChoice::Tool(name) => ("ANY", std::slice::from_ref(name)),
            // An empty list would allow every tool.
            ToolChoice::Allowed { names, .. } if names.is_empty() => ("NONE", &[]),
            ToolChoice::Allowed { names, required: true } => ("ANY", names),
            // `AUTO` cannot limit the names. `VALIDATED` can, and also enforces the schemas.
            ToolChoice::Allowed { names, required: false } => ("VALIDATED", names),
        };
        let mut calling = json!({"mode": mode});
        if !allowed.is_empty() {
            calling["allowedFunctionNames"] = allowed.iter().map(|name| names.spell(name)).collect();
        }
        let config = json!({"functionCallingConfig": calling});
        let encoded = EncodedToolConfig::new(Fields::from_iter([("toolConfig".to_owned(), config)]));
        if mode == "NONE" { encoded } else { encoded.without_limit(wanted) }
    }
}

impl HistoryCodec for Gemini {
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut part = without_result(call.fields(FACTS.name));
        let key = key(&part, "functionCall").unwrap_or("functionCall").to_owned();
        let mut function = match part.get_mut(&key).map(Value::take) {
            Some(Value::Object(function)) => function,
            _ => Fields::new(),
        };
        // The Gemini API refuses `partialArgs` and `willContinue`, which occur only in streams.
        function.retain(|name, _| !matches!(&*camel(name), "partialArgs" | "willContinue" | "id"));
        set(&mut function, "name", call.name.as_str());
        set(&mut function, "args", call.arguments.into_object());
        if let Some(id) = sendable_id(&call.id) {
            set(&mut function, "id", id);
        }
        set(&mut part, &key, function);
        part.into()
    }

    fn write_part(&self, part: &Value) -> Option<Value> {
        let mut part = without_result(part.as_object().cloned().unwrap_or_default());
        texts::settle(&mut part, &["text"]);
        if says_something(&part) { Some(part.into()) } else { None }
    }

    /// Drops a message without parts, which the service refuses.
    fn write_message(&self, message: &ReceivedMessage<'_>, parts: Vec<Value>) -> Vec<Value> {
        if parts.is_empty() {
            return Vec::new();
        }
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "model");
        set(&mut fields, "parts", parts);
        vec![fields.into()]
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut parts = Vec::with_capacity(calls.len() + 1);
        if !text.is_empty() {
            parts.push(json!({"text": text}));
        }
        parts.extend(calls);
        let message = ReceivedMessage { fields: None, parts: Vec::new(), is_whole: true };
        self.write_message(&message, parts)
    }

    /// Gives the first call of a message a placeholder for a missing signature.
    ///
    /// Models require one from the third generation on, but only they sign calls. The placeholder is from the
    /// reference. Other calls of a message have no signatures.
    fn complete_calls(&self, generation: Option<u32>, calls: &mut [Value]) {
        let Some(Value::Object(first)) = calls.first_mut() else { return };
        let is_signed = generation.is_none_or(|number| number >= 3);
        if is_signed && get(first, "thoughtSignature").is_none() {
            set(first, "thoughtSignature", "skip_thought_signature_validator");
        }
    }

    /// Encodes a user message.
    ///
    /// The service refuses empty texts and messages.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut parts: Vec<Value> = contents.iter().map(content_part).collect();
        parts.retain(|part| part["text"] != "");
        if parts.is_empty() {
            parts.push(json!({"text": "(empty message)"}));
        }
        json!({"role": "user", "parts": parts})
    }
}

/// Removes `functionResponse`, which messages of the model must not contain.
fn without_result(mut part: Fields) -> Fields {
    part.retain(|name, _| camel(name) != "functionResponse");
    part
}

/// Returns the id if a provider assigned it.
///
/// Without ids, the service finds the call of a result by position. A generated id at only one of the two
/// would be an error.
fn sendable_id(id: &str) -> Option<&str> {
    if id.is_empty() || ids::is_generated(id) { None } else { Some(id) }
}

impl RepairCodec for Gemini {
    fn entries<'a>(&self, content: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let is_of_model = text(content, "role") == "model";
        part_entries(content, "parts", |part| entry(part, is_of_model))
    }

    fn placeholder(&self, _call: &Value, key: &CallKey<'_>) -> Value {
        let name = key.name.unwrap_or_default();
        json!({"functionResponse": result(key.id.as_deref(), name, json!({"output": NO_OUTPUT}))})
    }

    /// Writes results as text that the service would refuse.
    fn complete_repair(
        &self,
        mut history: Vec<Value>,
        _request: Option<&Fields>,
        _losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        for content in &mut history {
            if let Some(Value::Array(parts)) = content.get_mut("parts") {
                parts.iter_mut().for_each(references_to_text);
            }
        }
        history
    }
}

/// Returns the call, in messages of the model only, or the result in a part.
fn entry(part: &Value, is_of_model: bool) -> Option<Entry<'_>> {
    if is_of_model && let Some(call) = read_call(part, false) {
        return Some(Entry::Call(CallKey { id: call.id, name: Some(call.name) }, part));
    }
    Some(Entry::Result(WireResult::from_part(part)?.key(), part))
}

/// Returns the fields of a result, whose call is found by position without an id.
fn result(id: Option<&str>, name: &str, response: Value) -> Fields {
    let mut result = Fields::new();
    if let Some(id) = id {
        set(&mut result, "id", id);
    }
    set(&mut result, "name", name);
    set(&mut result, "response", response);
    result
}

impl ResultCodec for Gemini {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        self.encode_results_for(None, results, ids, names)
    }

    /// Encodes all results in one message, in the calls' order.
    ///
    /// The service requires it. Media items that results do not accept follow in a second message.
    fn encode_results_for(
        &self,
        generation: Option<u32>,
        results: &[ToolResult],
        ids: &[String],
        names: &WireNames,
    ) -> Vec<Value> {
        let table = FACTS.media_table(generation).unwrap_or(&MEDIA);
        let parts = results.iter().map(|result| encode_result(table, result, names));
        let mut messages = user_message("parts", parts.collect());
        let mut attached = Vec::new();
        for (result, id) in results.iter().zip(ids) {
            let name = sanitize::name(FACTS.tools.names, names.spell(&result.name)).into_owned();
            for (label, content) in attachments(table, result, id, name) {
                attached.push(json!({"text": label}));
                if let Some((_, media)) = media_of(content) {
                    attached.push(media_part(media));
                }
            }
        }
        messages.extend(user_message("parts", attached));
        messages
    }
}

fn encode_result(table: &MediaTable, result: &ToolResult, names: &WireNames) -> Value {
    let response = match &result.outcome {
        Ok(output) => json!({"output": output_value(table, output)}),
        Err(error) => json!({"error": error.message()}),
    };
    let name = sanitize::name(FACTS.tools.names, names.spell(&result.name));
    let mut answer = self::result(sendable_id(result.call_id.as_str()), &name, response);
    let mut parts = Vec::new();
    for content in result.outcome.as_ref().map_or(&[][..], ToolOutput::content) {
        if let Some((_, media)) = accepted(table.results, content) {
            parts.push(media_part(media));
        }
    }
    if !parts.is_empty() {
        set(&mut answer, "parts", parts);
    }
    json!({"functionResponse": answer})
}

/// Returns a single JSON value, or any other output as text that names media items.
fn output_value(table: &MediaTable, output: &ToolOutput) -> Value {
    match (output.content(), output.message()) {
        ([Content::Json(json)], "") => json_value(json),
        _ => output_text(output, |content| result_text(table, content)).into(),
    }
}

/// Returns the JSON of an output, or text if the service would change or refuse it.
fn json_value(json: &JsonText) -> Value {
    match json.as_str().parse() {
        Ok(value) if is_exact(&value) && !has_reference(&value, &[]) => value,
        _ => json.as_str().into(),
    }
}

/// Returns whether all numbers are below 2^53, because the service stores doubles.
///
/// Recursion is safe, because the parser limits the depth of the value.
fn is_exact(value: &Value) -> bool {
    /// 2^53, up to which doubles represent all integers exactly.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < LARGEST),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}
