//! Neutral definitions, to each provider and back.

use serde_json::{Map, Value, json};
use toolkit_core::definition::ToolKind;
use toolkit_core::{ToolDefinition, ToolName};
use toolkit_llm::translate::RequestFormat;
use toolkit_llm::{ApiFormat, DefinitionLoss, DefinitionReport, WireError};

use crate::formats::{encoded, for_each_provider, format, lower_types, parts, reader, schema_of, theirs};
use crate::meaning;
use crate::neutral;
use crate::places;
use crate::report::{Answer, Answers, Report};
use crate::vectors::{entry, rows, text};

/// `toolops_definitions*.json`
pub(crate) fn toolops_definitions(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let each = for_each_provider(file, "definitions", "to")?;
    report.section_with_facts(&each, "definitions", &["answer"], |row| {
        let provider = text(row, "provider")?;
        let format = match format(provider) {
            Ok(format) => format,
            Err(unknown) => {
                return Ok((Answers { theirs: theirs(row, "answer")?, ours: Err(unknown) }, Value::Null));
            }
        };
        let theirs = theirs(row, "answer")?.map(|tool| parts(format, &tool));
        Ok(match neutral::read(entry(row, "ir")?) {
            Ok(definition) => {
                let (tool, report) = encoded(format, &definition);
                let ours = Ok(parts(format, &tool));
                (Answers { theirs, ours }, facts(&definition, &report))
            }
            Err(refusal) => (Answers { theirs, ours: Err(refusal) }, Value::Null),
        })
    })?;
    let each = rows(file, "definitions")?.iter().map(|row| &row["ir"]);
    let definitions = each.filter_map(|ir| neutral::read(ir).ok());
    derived(definitions.collect(), report)?;
    let back_again = for_each_provider(file, "definitions", "roundtrip")?;
    let back_again = json!({"roundtrip": back_again["definitions"]});
    report.section_with_facts(&back_again, "roundtrip", &["answer"], |row| {
        let Ok(format) = format(text(row, "provider")?) else {
            return Ok((Answers::values(Value::Null, Value::Null), Value::Null));
        };
        let reader = reader(format)?;
        let mut written = Value::Null;
        let ours = neutral::read(entry(row, "ir")?).map(|definition| {
            let tool = encoded(format, &definition).0;
            written = parts(format, &tool);
            let parsed = answer(reader.parse_definitions(&json!([tool])));
            parsed.map(|parsed| parsed.iter().map(neutral).collect::<Value>())
        });
        let theirs = theirs(row, "answer")?.map(|ir| [neutral_ir(&ir)].into_iter().collect());
        let ours = back(ours.and_then(|parsed| parsed));
        let written = match format {
            ApiFormat::Gemini => meaning::null_in_words(&written["parameters"]),
            _ => written["parameters"].clone(),
        };
        Ok((Answers { theirs: back(theirs), ours }, json!({"written": written})))
    })?;
    report.section(file, "provider_names", &["to_provider", "from_provider"], provider_name)?;
    report.section(file, "from_native", &["ir"], from_native)
}

/// `schemas_toolregistry.json`, with tools as in a request.
pub(crate) fn schemas_toolregistry(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let by_provider = for_each_provider(file, "schemas", "get_schema")?;
    let outputs = ["answer", "flatten_schema", "tool_parameters", "schema_hash"];
    report.section_with_facts(&by_provider, "schemas", &outputs, |row| {
        let format = format(text(row, "provider")?)?;
        let definition = of_schema(entry(row, "parameters")?)?;
        let (tool, report) = encoded(format, &definition);
        let ours = parts(format, &tool);
        let theirs = theirs(row, "answer")?.map(|tool| match format {
            // Their `gemini` is one declaration without a list.
            ApiFormat::Gemini => parts(format, &json!({"function_declarations": [tool]})),
            _ => parts(format, &tool),
        });
        Ok((Answers { theirs, ours: Ok(ours) }, facts(&definition, &report)))
    })?;
    let definitions = rows(file, "schemas")?.iter().map(|row| of_schema(&row["parameters"]));
    derived(definitions.collect::<Result<_, _>>()?, report)
}

fn of_schema(parameters: &Value) -> Result<ToolDefinition, String> {
    let name = ToolName::new("t").map_err(|error| error.to_string())?;
    Ok(ToolDefinition::new(name, "d", parameters.clone()))
}

/// What a rule may compare with: the definition's schema, also resolved, and the losses.
fn facts(definition: &ToolDefinition, report: &DefinitionReport) -> Value {
    let losses = losses(report);
    let losses: Vec<Value> = losses.iter().map(|(path, keyword)| json!([path, keyword])).collect();
    let defined = places::resolved(&definition.parameters);
    json!({"defined": defined, "original": definition.parameters, "losses": losses})
}

/// The places and keywords of the parameters' losses.
fn losses(report: &DefinitionReport) -> Vec<(String, String)> {
    let losses = report.losses.iter().filter_map(|DefinitionLoss { loss, .. }| {
        let path = loss.path.strip_prefix("/parameters")?;
        Some((path.to_owned(), loss.keyword.clone()))
    });
    losses.collect()
}

/// Each definition in each format: the request's schema accepts the same values less the losses, and lacks no
/// other keyword.
fn derived(definitions: Vec<ToolDefinition>, report: &mut Report<'_>) -> Result<(), String> {
    let functions: Vec<_> =
        definitions.into_iter().filter(|definition| definition.kind == ToolKind::Function).collect();
    let each = functions.iter().enumerate().flat_map(|(index, definition)| {
        let parameters = &definition.parameters;
        let formats = ApiFormat::ALL.iter();
        formats
            .map(move |format| json!({"index": index, "parameters": parameters, "provider": format.name()}))
    });
    let each: Vec<Value> = each.collect();
    let of_row = |row: &Value| {
        let index = entry(row, "index")?.as_u64().and_then(|index| usize::try_from(index).ok());
        let definition = index.and_then(|index| functions.get(index)).ok_or("no such definition")?;
        let format = format(text(row, "provider")?)?;
        let (tool, report) = encoded(format, definition);
        Ok::<_, String>((format, definition, schema_of(format, &tool), losses(&report)))
    };
    report.section(&json!({"meaning": each}), "meaning", &["index"], |row| {
        let (format, definition, mut ours, losses) = of_row(row)?;
        let mut defined = definition.parameters.clone();
        if format == ApiFormat::Gemini {
            // A function without parameters has no schema there.
            ours = if ours.is_null() { json!({"type": "object"}) } else { ours };
            lower_types(&mut ours);
            defined = meaning::without_closing(&defined);
        }
        let defined = meaning::without_nullable(&defined);
        let ours = meaning::without_nullable(&ours);
        Ok(Answers::values("kept", meaning::verdict(&defined, &ours, &losses)))
    })?;
    report.section_with_facts(&json!({"missing": each}), "missing", &["index"], |row| {
        let (_, definition, ours, losses) = of_row(row)?;
        let ours = if ours.is_null() { json!({"type": "object", "properties": {}}) } else { ours };
        let defined = meaning::without_losses(&definition.parameters, &ours, &losses)?;
        let defined = places::resolved(&defined);
        let there = meaning::keywords(&ours);
        let missing = meaning::keywords(&defined).into_iter().filter(|keyword| !there.contains(keyword));
        let missing: Map<_, _> = missing.map(|keyword| (keyword, json!("missing"))).collect();
        Ok((Answers::values(json!({}), missing), json!({"defined": defined, "written": ours})))
    })
}

fn provider_name(row: &Value) -> Result<Answers, String> {
    let provider = text(row, "provider")?;
    let ir = json!({"type": "function", "name": "t", "description": "d",
        "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}});
    let definition = neutral::read(&ir)?;
    let refusal = |answer: Answer| answer.err().unwrap_or_default();
    let to = theirs(row, "to_provider")?;
    let from = theirs(row, "from_provider")?;
    let theirs = json!({
        "refused": [refusal(to.clone()), refusal(from.clone())],
        "is_read": to.is_ok() && from.is_ok_and(|ir| ir["parameters"]["required"] == json!(["a"])),
    });
    let ours = match provider.parse::<ApiFormat>() {
        Err(error) => json!({"refused": [error.to_string(), error.to_string()], "is_read": false}),
        Ok(format) => {
            let tools = json!([encoded(format, &definition).0]);
            let parsed = RequestFormat::of(format).and_then(|reader| reader.parse_definitions(&tools).ok());
            let is_read = parsed.is_some_and(|parsed| parsed[0].parameters["required"] == json!(["a"]));
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
    let format = match format(provider) {
        Ok(format) => format,
        Err(unknown) => return Ok(Answers { theirs, ours: Err(unknown) }),
    };
    // Theirs reads a single tool, too.
    let input = match entry(row, "input")? {
        Value::Object(tool) if !tool.contains_key("tools") => json!([tool]),
        input => input.clone(),
    };
    let ours = reader(format)?.parse_definitions(&input);
    let ours = ours.map(|parsed| parsed.iter().map(neutral).collect::<Value>());
    Ok(Answers { theirs: back(theirs), ours: back(answer(ours)) })
}

fn neutral(definition: &ToolDefinition) -> Value {
    neutral_ir(&neutral::write(definition))
}

/// The neutral form, in which an empty schema means no parameters.
fn neutral_ir(ir: &Value) -> Value {
    let mut ir = ir.clone();
    lower_types(&mut ir["parameters"]);
    let schema = &ir["parameters"];
    if schema.is_null() || *schema == json!({}) || *schema == json!({"type": "object"}) {
        ir["parameters"] = json!({"type": "object", "properties": {}});
    }
    ir
}

/// A definition as fields, several as a list.
fn back(answer: Answer) -> Answer {
    answer.map(|list| match list.as_array().map(Vec::as_slice) {
        Some([one]) => one.clone(),
        _ => json!({"definitions": list}),
    })
}

fn answer<T>(ours: Result<T, WireError>) -> Result<T, String> {
    ours.map_err(|error| error.to_string())
}
