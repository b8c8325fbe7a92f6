//! Definitions in the neutral form, to each provider and back.

use serde_json::{Map, Value, json};
use toolkit_core::tool::ToolKind;
use toolkit_core::{ToolDefinition, ToolName};
use toolkit_wire::{ApiFormat, WireError, interop};

use crate::formats::{encoded, for_each_provider, format, parts, schema_of, theirs};
use crate::meaning;
use crate::report::{Answer, Answers, Report};
use crate::vectors::{entry, rows, text};

/// `toolops_definitions*.json`
pub(crate) fn toolops_definitions(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    report.section(&for_each_provider(file, "definitions", "to")?, "definitions", &["answer"], |row| {
        let provider = text(row, "provider")?;
        let Ok(format) = format(provider) else {
            return Ok(Answers { theirs: theirs(row, "answer")?, ours: Err(no_format(provider)) });
        };
        let ours = interop::definition_from_neutral(entry(row, "ir")?);
        let ours = ours.map(|definition| parts(format, &encoded(format, &definition).0));
        let theirs = theirs(row, "answer")?.map(|tool| parts(format, &tool));
        Ok(Answers { theirs, ours: answer(ours) })
    })?;
    report.section(&derived(file)?, "meaning", &[], |row| {
        let format = format(text(row, "provider")?)?;
        let definition = interop::definition_from_neutral(entry(row, "ir")?);
        Ok(Answers::values(
            "kept",
            definition.map_or("kept".to_owned(), |definition| meaning(format, &definition)),
        ))
    })?;
    let missing = rows(file, "definitions")?.iter().flat_map(|row| missing(&row["ir"]));
    report.section(&json!({"missing": missing.collect::<Vec<_>>()}), "missing", &["missing"], is_meant)?;
    let back_again = for_each_provider(file, "definitions", "roundtrip")?;
    report.section(&json!({"roundtrip": back_again["definitions"]}), "roundtrip", &["answer"], |row| {
        let Ok(format) = format(text(row, "provider")?) else {
            return Ok(Answers::values(Value::Null, Value::Null));
        };
        let ours = interop::definition_from_neutral(entry(row, "ir")?).map(|definition| {
            let parsed = format.parse_definitions(&encoded(format, &definition).0);
            parsed.map(|parsed| parsed.iter().map(neutral).collect::<Value>())
        });
        let theirs = theirs(row, "answer")?.map(|ir| [neutral_ir(&ir)].into_iter().collect());
        Ok(Answers { theirs: back(theirs), ours: back(answer(ours.and_then(|parsed| parsed))) })
    })?;
    report.section(file, "provider_names", &["to_provider", "from_provider"], provider_name)?;
    report.section(file, "from_native", &["ir"], from_native)
}

/// `schemas_toolregistry.json`, of which the tools as a request carries them.
pub(crate) fn schemas_toolregistry(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let by_provider = for_each_provider(file, "schemas", "get_schema")?;
    let outputs = ["answer", "flatten_schema", "tool_parameters", "schema_hash"];
    report.section(&by_provider, "schemas", &outputs, |row| {
        let format = format(text(row, "provider")?)?;
        let name = ToolName::new("t").map_err(|error| error.to_string())?;
        let definition = ToolDefinition::new(name, "d", entry(row, "parameters")?.clone());
        let ours = parts(format, &encoded(format, &definition).0);
        let theirs = theirs(row, "answer")?.map(|tool| match format {
            // Their `gemini` is one declaration without the list around it.
            ApiFormat::Gemini => parts(format, &json!({"function_declarations": [tool]})),
            _ => parts(format, &tool),
        });
        Ok(Answers { theirs, ours: Ok(ours) })
    })?;
    let meanings = |row: &Value| {
        let format = format(text(row, "provider")?)?;
        let name = ToolName::new("t").map_err(|error| error.to_string())?;
        let definition = ToolDefinition::new(name, "d", entry(row, "parameters")?.clone());
        Ok(Answers::values("kept", meaning(format, &definition)))
    };
    report.section(&json!({"meaning": by_provider["schemas"]}), "meaning", &outputs, meanings)?;
    let schemas = rows(file, "schemas")?.iter();
    let missing = schemas.flat_map(|row| missing(&json!({"name": "t", "parameters": row["parameters"]})));
    report.section(&json!({"missing": missing.collect::<Vec<_>>()}), "missing", &["missing"], is_meant)
}

/// The rows in each of our formats.
fn derived(file: &Value) -> Result<Value, String> {
    let rows = rows(file, "definitions")?;
    let each = |row: &Value| {
        let ir = row["ir"].clone();
        ApiFormat::ALL.map(|format| json!({"ir": ir, "provider": format.name()}))
    };
    Ok(json!({"meaning": rows.iter().flat_map(each).collect::<Vec<_>>()}))
}

/// `kept` if the schema in a request accepts what that of the definition accepts, or says what it
/// cannot; else a value that shows the difference.
fn meaning(format: ApiFormat, definition: &ToolDefinition) -> String {
    let (tool, report) = encoded(format, definition);
    let ours = meaning::without_nullable(&schema_of(format, &tool));
    let mut meant = meaning::without_nullable(&definition.parameters);
    if format == ApiFormat::Gemini {
        meant = meaning::without_closing(&meant);
    }
    match meaning::difference(&meant, &ours) {
        Some(value) if report.losses.is_empty() => format!("different for {value}, as {ours}"),
        _ => "kept".to_owned(),
    }
}

/// A row for each of our formats with the keywords of a function's schema that are nowhere in the schema of
/// a request: each of them has to be meant.
fn missing(ir: &Value) -> Vec<Value> {
    let Ok(definition) = interop::definition_from_neutral(ir) else { return Vec::new() };
    if definition.kind != ToolKind::Function {
        return Vec::new();
    }
    let keywords = meaning::keywords(&definition.parameters, &Value::Null);
    let row = |format: ApiFormat| {
        let ours = meaning::keywords(&schema_of(format, &encoded(format, &definition).0), &Value::Null);
        let missing = keywords.difference(&ours).map(|keyword| (keyword.clone(), json!("missing")));
        json!({"provider": format.name(), "parameters": definition.parameters, "keywords": keywords,
            "missing": missing.collect::<Map<_, _>>()})
    };
    ApiFormat::ALL.map(row).into()
}

fn is_meant(row: &Value) -> Result<Answers, String> {
    Ok(Answers::values(json!({}), entry(row, "missing")?.clone()))
}

fn provider_name(row: &Value) -> Result<Answers, String> {
    let provider = text(row, "provider")?;
    let ir = json!({"type": "function", "name": "t", "description": "d",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}});
    let definition = interop::definition_from_neutral(&ir).map_err(|error| error.to_string())?;
    let refusal = |answer: Answer| answer.err().unwrap_or_default();
    let (to, from) = (theirs(row, "to_provider")?, theirs(row, "from_provider")?);
    let theirs = json!({
        "refused": [refusal(to.clone()), refusal(from.clone())],
        "is_read": to.is_ok() && from.is_ok_and(|ir| ir["parameters"]["required"] == json!(["a"])),
    });
    let ours = match provider.parse::<ApiFormat>() {
        Err(error) => json!({"refused": [error.to_string(), error.to_string()], "is_read": false}),
        Ok(format) => {
            let parsed = format.parse_definitions(&encoded(format, &definition).0);
            let is_read = parsed.is_ok_and(|parsed| parsed[0].parameters["required"] == json!(["a"]));
            json!({"refused": ["", ""], "is_read": is_read})
        }
    };
    Ok(Answers::values(theirs, ours))
}

fn from_native(row: &Value) -> Result<Answers, String> {
    let provider = text(row, "provider")?;
    let theirs = theirs(row, "ir")?.map(|ir| match ir {
        Value::Null => json!([]),
        Value::Array(list) => list.iter().map(neutral_ir).collect(),
        one => [neutral_ir(&one)].into_iter().collect(),
    });
    let Ok(format) = format(provider) else {
        return Ok(Answers { theirs, ours: Err(no_format(provider)) });
    };
    let ours = format.parse_definitions(entry(row, "input")?);
    let ours = ours.map(|parsed| parsed.iter().map(neutral).collect::<Value>());
    Ok(Answers { theirs: back(theirs), ours: back(answer(ours)) })
}

fn neutral(definition: &ToolDefinition) -> Value {
    neutral_ir(&interop::definition_to_neutral(definition))
}

/// The neutral form, where a schema of nothing is one of no parameters.
fn neutral_ir(ir: &Value) -> Value {
    let mut ir = ir.clone();
    crate::formats::lower_types(&mut ir["parameters"]);
    let schema = &ir["parameters"];
    if schema.is_null() || *schema == json!({}) || *schema == json!({"type": "object"}) {
        ir["parameters"] = json!({"type": "object", "properties": {}});
    }
    ir
}

/// One definition as its fields, several as a list.
fn back(answer: Answer) -> Answer {
    answer.map(|list| match list.as_array().map(Vec::as_slice) {
        Some([one]) => json!({"back": one}),
        _ => json!({"back": list}),
    })
}

fn no_format(provider: &str) -> String {
    format!("there is no format `{provider}`")
}

fn answer<T>(ours: Result<T, WireError>) -> Result<T, String> {
    ours.map_err(|error| error.to_string())
}
