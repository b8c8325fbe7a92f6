//! Choices, calls, results and broken histories, in both directions.

use serde_json::{Map, Value, json};
use toolkit_core::name::WireNames;
use toolkit_core::output::{JsonText, MediaData};
use toolkit_core::{Content, Media, ToolCall, ToolChoice, ToolConfig, ToolOutput, ToolResult};
use toolkit_llm::{ApiFormat, WireError};

use crate::formats::{for_each_provider, format, read_arguments, reader, snake_case, theirs};
use crate::report::{Answer, Answers, Report};
use crate::vectors::{entry, rows, some_text, text};

/// `toolops_lifecycle.json`
pub(crate) fn toolops_lifecycle(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    type Both = fn(ApiFormat, &Value) -> Result<Answer, String>;
    let to: [(&str, Both); 4] =
        [("choice_to", choice_to), ("call_to", call_to), ("result_to", result_to), ("config_to", config_to)];
    for (section, ours) in to {
        report.section(&for_each_provider(file, section, "to")?, section, &["answer"], |row| {
            let theirs = theirs(row, "answer")?;
            in_format(row, theirs, |format| ours(format, entry(row, "ir")?))
        })?;
    }
    let from: [(&str, Both); 4] = [
        ("choice_from", choice_from),
        ("call_from", call_from),
        ("result_from", result_from),
        ("config_from", config_from),
    ];
    for (section, ours) in from {
        report.section(file, section, &["ir"], |row| {
            let theirs = theirs(row, "ir")?.map(|ir| plain_result(&ir));
            in_format(row, theirs, |format| ours(format, entry(row, "input")?))
        })?;
    }
    report.section(file, "sanitize_tool_call_id", &["output"], |row| {
        let call = ToolCall::new(text(row, "input")?, "f", "{}");
        let written = written_call(ApiFormat::Anthropic, &call)?;
        Ok(Answers::values(entry(row, "output")?.clone(), written["id"].clone()))
    })?;
    report.section(&histories(file)?, "fix_orphaned", &["output"], |row| {
        let history = entry(row, "input")?.as_array().ok_or("`input` is not a list")?;
        let ours = format(text(row, "provider")?)?.repair_history(history.clone());
        Ok(Answers::values(entry(row, "output")?.clone(), ours))
    })
}

/// Both answers, with one spelling of Google's fields.
fn in_format(
    row: &Value,
    theirs: Answer,
    ours: impl Fn(ApiFormat) -> Result<Answer, String>,
) -> Result<Answers, String> {
    let provider = text(row, "provider")?;
    let format = match format(provider) {
        Ok(format) => format,
        Err(unknown) => return Ok(Answers { theirs, ours: Err(unknown) }),
    };
    let same = |value: Value| match format {
        ApiFormat::Gemini => snake_case(&read_arguments(&value)),
        _ => read_arguments(&value),
    };
    Ok(Answers { theirs: theirs.map(same), ours: ours(format)?.map(same) })
}

fn histories(file: &Value) -> Result<Value, String> {
    let mut all = Vec::new();
    let repaired = entry(file, "fix_orphaned")?;
    for format in ApiFormat::ALL.iter().copied().filter(|format| repaired.get(format.name()).is_some()) {
        for row in rows(repaired, format.name())? {
            let mut row = row.clone();
            row["provider"] = json!(format.name());
            all.push(row);
        }
    }
    Ok(json!({"fix_orphaned": all}))
}

/// The request's field for the choice.
fn choice_field(format: ApiFormat) -> (&'static str, &'static str) {
    match format {
        ApiFormat::Gemini => ("toolConfig", "tool_config"),
        _ => ("tool_choice", "tool_choice"),
    }
}

fn choice_to(format: ApiFormat, ir: &Value) -> Result<Answer, String> {
    let choice = match (some_text(ir, "mode")?, some_text(ir, "tool_name")?) {
        (Some("none"), _) => ToolChoice::None,
        (Some("any"), _) | (Some("tool"), None) => ToolChoice::Required,
        (Some("tool"), Some(name)) => ToolChoice::Tool(name.to_owned()),
        _ => ToolChoice::Auto,
    };
    let fields = format.encode_tool_config(&ToolConfig::from(choice), &WireNames::default()).fields;
    Ok(Ok(fields.get(choice_field(format).0).cloned().unwrap_or_default()))
}

fn choice_from(format: ApiFormat, input: &Value) -> Result<Answer, String> {
    let request = Map::from_iter([(choice_field(format).1.to_owned(), input.clone())]);
    let parsed = reader(format)?.parse_tool_config(&request, &WireNames::default());
    Ok(answer(parsed.map(|wanted| match wanted.choice {
        ToolChoice::None => json!({"mode": "none", "tool_name": ""}),
        ToolChoice::Required => json!({"mode": "any", "tool_name": ""}),
        ToolChoice::Tool(name) => json!({"mode": "tool", "tool_name": name}),
        ToolChoice::Allowed { names, required } => {
            json!({"mode": "allowed", "names": names, "required": required})
        }
        _ => json!({"mode": "auto", "tool_name": ""}),
    })))
}

fn config_to(format: ApiFormat, ir: &Value) -> Result<Answer, String> {
    let parallel = ir.get("disable_parallel").and_then(Value::as_bool).map(|disabled| !disabled);
    let mut wanted = ToolConfig::default();
    wanted.parallel = parallel;
    let fields = format.encode_tool_config(&wanted, &WireNames::default()).fields;
    // Anthropic has it within the choice.
    let within = fields.get("tool_choice").and_then(|choice| choice.get("disable_parallel_tool_use"));
    let mut config: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| *name != "tool_choice" && *name != "toolConfig")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    config.extend(within.map(|value| ("disable_parallel_tool_use".to_owned(), value.clone())));
    Ok(Ok(config.into()))
}

fn config_from(format: ApiFormat, input: &Value) -> Result<Answer, String> {
    let mut request = input.as_object().cloned().unwrap_or_default();
    if let Some(disabled) = request.shift_remove("disable_parallel_tool_use") {
        request
            .insert("tool_choice".to_owned(), json!({"type": "auto", "disable_parallel_tool_use": disabled}));
    }
    let parsed = reader(format)?.parse_tool_config(&request, &WireNames::default());
    Ok(answer(parsed.map(|wanted| match wanted.parallel {
        Some(parallel) => json!({"disable_parallel": !parallel}),
        None => json!({}),
    })))
}

fn call_to(format: ApiFormat, ir: &Value) -> Result<Answer, String> {
    let mut call = ToolCall::new(
        text(ir, "tool_call_id")?,
        text(ir, "tool_name")?,
        entry(ir, "tool_input")?.to_string(),
    );
    if some_text(ir, "tool_type")? == Some("custom") {
        call = call.with_extras(custom_call(format)?.extras);
    }
    Ok(Ok(written_call(format, &call)?))
}

/// A call of free text, where formats have them.
fn custom_call(format: ApiFormat) -> Result<ToolCall, String> {
    let call = match format {
        ApiFormat::OpenAiChat => json!({"id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}}),
        ApiFormat::OpenAiResponses => {
            json!({"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"})
        }
        _ => return Ok(ToolCall::new("a", "f", "{}")),
    };
    let calls = format.parse_calls(&call).map_err(|error| error.to_string())?;
    calls.into_iter().next().ok_or_else(|| format!("{format}: no custom call"))
}

fn written_call(format: ApiFormat, call: &ToolCall) -> Result<Value, String> {
    let messages = format.encode_calls(std::slice::from_ref(call), &WireNames::default());
    let place = match format {
        ApiFormat::OpenAiChat => "/0/tool_calls/0",
        ApiFormat::Anthropic => "/0/content/0",
        ApiFormat::Gemini => "/0/parts/0",
        _ => "/0",
    };
    json!(messages).pointer(place).cloned().ok_or_else(|| format!("{format}: no call in {messages:?}"))
}

fn call_from(format: ApiFormat, input: &Value) -> Result<Answer, String> {
    let calls = format.parse_calls(input).map(|calls| {
        calls.first().map(|call| {
            let arguments = call.arguments.as_str();
            let arguments = if arguments.is_empty() { "{}" } else { arguments };
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            json!({"tool_call_id": call.id.as_str(), "tool_name": call.name, "tool_input": input})
        })
    });
    Ok(answer(calls.map(Option::unwrap_or_default)))
}

fn result_to(format: ApiFormat, ir: &Value) -> Result<Answer, String> {
    let id = text(ir, "tool_call_id")?;
    let result = ToolResult::new(id.into(), id, Ok(output(entry(ir, "result")?)?));
    let messages = format.encode_results(&[result]);
    let place = match format {
        ApiFormat::Anthropic => "/0/content/0",
        ApiFormat::Gemini => "/0/parts/0",
        _ => "/0",
    };
    Ok(Ok(json!(messages).pointer(place).cloned().unwrap_or_default()))
}

/// A tool's text, blocks of content, or value.
pub(crate) fn output(result: &Value) -> Result<ToolOutput, String> {
    let json = |value: &Value| JsonText::new(value).map(Content::Json).map_err(|error| error.to_string());
    match result {
        Value::String(text) => Ok(ToolOutput::text(text)),
        Value::Array(blocks) if blocks.iter().all(|block| block.get("type").is_some()) => {
            Ok(ToolOutput::new(
                blocks
                    .iter()
                    .map(|block| block_of(block).map_or_else(|| json(block), Ok))
                    .collect::<Result<_, _>>()?,
            ))
        }
        value => Ok(json(value)?.into()),
    }
}

fn block_of(block: &Value) -> Option<Content> {
    let picture = |media_type: &str, data| {
        Content::Image(Box::new(Media { media_type: media_type.to_owned(), data, name: None }))
    };
    match (block.get("text"), block.get("image_data"), block.get("image_url")) {
        (Some(text), ..) => Some(Content::Text(text.as_str()?.to_owned())),
        (_, Some(data), _) => {
            let bytes = MediaData::Base64(data.get("data")?.as_str()?.to_owned());
            Some(picture(data.get("media_type")?.as_str()?, bytes))
        }
        (.., Some(url)) => Some(picture("image/png", MediaData::Url(url.as_str()?.to_owned()))),
        _ => None,
    }
}

fn result_from(format: ApiFormat, input: &Value) -> Result<Answer, String> {
    let results = reader(format)?.parse_results(input).map(|results| {
        results
            .first()
            .map(|result| json!({"tool_call_id": result.call_id.as_str(), "result": result.to_text()}))
    });
    Ok(answer(results.map(Option::unwrap_or_default)))
}

/// Their result as the text that the model read.
fn plain_result(ir: &Value) -> Value {
    let Value::Object(fields) = ir else { return ir.clone() };
    let mut fields = fields.clone();
    for name in ["type", "is_error", "tool_type", "provider_metadata", "cache_hint"] {
        fields.shift_remove(name);
    }
    if let Some(result) = fields.get_mut("result") {
        let blocks = result.as_array().into_iter().flatten();
        let texts: Option<Vec<&str>> = blocks.map(|block| block.get("text")?.as_str()).collect();
        *result = match (&*result, texts) {
            (Value::String(text), _) => json!(text),
            (Value::Array(_), Some(texts)) => json!(texts.join("\n")),
            (other, _) => json!(other.to_string()),
        };
    }
    fields.into()
}

fn answer<T>(ours: Result<T, WireError>) -> Result<T, String> {
    ours.map_err(|error| error.to_string())
}
