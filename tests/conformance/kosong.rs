//! Schemas without references, assembled streams, and calls handed over.

use serde_json::{Value, json};
use toolkit_core::schema::SchemaDialect;
use toolkit_llm::{ApiFormat, StreamEvent};

use crate::formats::theirs;
use crate::handled;
use crate::meaning;
use crate::report::{Answer, Answers, Report};
use crate::vectors::{entry, rows, text};

/// `kosong.json`
pub(crate) fn kosong(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    handled::handle(file, report)?;
    #[cfg(feature = "jsonschema")]
    handled::schemas(file, report)?;
    let schemas = json!({"deref_and_types": rows(file, "deref_and_types")?});
    report.section(&schemas, "deref_and_types", &["deref", "ensure_property_types"], |row| {
        let schema = entry(row, "schema")?;
        let schema = &meaning::without_nullable(schema);
        let theirs = theirs(row, "deref")?;
        let theirs =
            theirs.map(|resolved| json!({"meaning": same(schema, &meaning::without_nullable(&resolved))}));
        let converted = SchemaDialect::Gemini.convert(schema);
        let losses: Vec<_> = converted.losses.into_iter().map(|loss| (loss.path, loss.keyword)).collect();
        let ours = meaning::without_nullable(&converted.schema);
        let meaning = meaning::verdict(&meaning::without_closing(schema), &ours, &losses);
        Ok(Answers { theirs, ours: Ok(json!({"meaning": meaning})) })
    })?;
    report.section(file, "generate_merging", &["result"], |row| {
        Ok(Answers {
            theirs: theirs(row, "result")?.map(|result| message(&result)),
            ours: streamed(entry(row, "stream")?)?,
        })
    })
}

fn same(one: &Value, other: &Value) -> String {
    meaning::difference(one, other).map_or("kept".to_owned(), |value| format!("different for {value}"))
}

/// Their message's text, reasoning and calls, and announced calls.
fn message(result: &Value) -> Value {
    let parts = match &result["message"]["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(parts) => parts.clone(),
        _ => Vec::new(),
    };
    let joined = |name: &str| parts.iter().filter_map(|part| part[name].as_str()).collect::<String>();
    let calls = |calls: &Value| calls.as_array().into_iter().flatten().map(call).collect::<Value>();
    json!({
        "text": joined("text"),
        "reasoning": joined("think"),
        "calls": calls(&result["message"]["tool_calls"]),
        "announced": calls(&result["on_tool_call"]),
    })
}

fn call(call: &Value) -> Value {
    json!([call["id"], call["function"]["name"], call["function"]["arguments"]])
}

/// Their stream as chunks of Chat Completions, assembled by ours.
fn streamed(parts: &Value) -> Result<Answer, String> {
    let mut stream = ApiFormat::OpenAiChat.accumulator();
    let mut index = -1;
    let mut events = Vec::new();
    for part in parts.as_array().ok_or("`stream` is not a list")? {
        let delta = match (part.get("type").and_then(Value::as_str), part.get("arguments_part")) {
            (_, Some(arguments)) if index >= 0 => {
                json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
            }
            (_, Some(arguments)) => json!({"tool_calls": [{"function": {"arguments": arguments}}]}),
            (Some("function"), _) => {
                index += 1;
                json!({"tool_calls": [{"index": index, "id": part["id"], "function": part["function"]}]})
            }
            (Some("text"), _) => json!({"content": text(part, "text")?}),
            (Some("think"), _) => json!({"reasoning_content": text(part, "think")?}),
            _ => json!({"content": [part]}),
        };
        events
            .extend(stream.push(&json!({"choices": [{"delta": delta}]})).map_err(|error| error.to_string())?);
    }
    let end = stream.finish();
    events.extend(end.events);
    let parsed = match ApiFormat::OpenAiChat.parse_calls(&end.body) {
        Ok(calls) => calls,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut said = String::new();
    let mut thought = String::new();
    let mut announced = Vec::new();
    for event in events {
        match event {
            StreamEvent::Text(text) => said.push_str(&text),
            StreamEvent::Reasoning(text) => thought.push_str(&text),
            StreamEvent::Call(call) => announced.push(json!([call.id, call.name, call.arguments])),
            _ => {}
        }
    }
    let calls: Value = parsed.iter().map(|call| json!([call.id, call.name, call.arguments])).collect();
    Ok(Ok(json!({"text": said, "reasoning": thought, "calls": calls, "announced": announced})))
}
