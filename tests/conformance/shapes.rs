//! openJiuwen's shapes of tools and calls.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolkit_core::ToolDefinition;
use toolkit_llm::translate::openjiuwen::{Parameters, ToolCall, ToolInfo};

use crate::formats::theirs;
use crate::report::{Answer, Answers, Report};
use crate::vectors::entry;

/// `openjiuwen.json`, of the version that the document describes.
pub(crate) fn openjiuwen(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let of_then = entry(file, "seed_era_0.1.1")?;
    let defaults = entry(of_then, "defaults")?.as_object().ok_or("`defaults` is not an object")?;
    let rows: Vec<Value> =
        defaults.iter().map(|(what, answer)| json!({"what": what, "answer": answer})).collect();
    report.section(&json!({"defaults": rows}), "defaults", &["answer"], |row| {
        let answer = entry(row, "answer")?;
        let theirs = if answer.get("ok").or(answer.get("error")).is_some() {
            theirs(row, "answer")?
        } else {
            Ok(answer.clone())
        };
        Ok(Answers { theirs, ours: made(row["what"].as_str().unwrap_or_default())? })
    })?;
    let tools = entry(of_then, "tool_decorator")?.as_object().ok_or("`tool_decorator` is not an object")?;
    let rows: Vec<Value> = tools
        .iter()
        .filter(|(_, answer)| answer.get("ok").is_some())
        .map(|(what, answer)| json!({"what": what, "answer": answer}))
        .collect();
    report.section(&json!({"tool_decorator": rows}), "tool_decorator", &[], |row| {
        let theirs = theirs(row, "answer")?;
        let ours = theirs.clone().and_then(|tool| there_and_back(&tool));
        Ok(Answers { theirs, ours })
    })
}

/// The value that each row makes.
fn made(what: &str) -> Result<Answer, String> {
    let city = json!({"city": {"type": "string", "description": "城市名称"}});
    Ok(match what {
        "Parameters()" => shaped::<Parameters>(json!({})),
        "ToolInfo()" => shaped::<ToolInfo>(json!({})),
        "ToolInfo full" => {
            shaped::<ToolInfo>(json!({"name": "get_weather", "description": "根据城市名称查询实时天气信息",
            "parameters": {"properties": city, "required": ["city"]}}))
        }
        "ToolInfo dict params" => shaped::<ToolInfo>(json!({"parameters": {"properties": {"a": {}}}})),
        "ToolCall" => {
            shaped::<ToolCall>(json!({"id": "call_890123", "type": "function", "name": "get_weather",
            "arguments": "{\"city\":\"北京\",\"units\":\"c\"}"}))
        }
        "ToolCall no id (seed example 2)" => {
            shaped::<ToolCall>(json!({"type": "function", "name": "x", "arguments": "{}"}))
        }
        "ToolCall id None" => {
            shaped::<ToolCall>(json!({"id": null, "type": "function", "name": "x", "arguments": "{}"}))
        }
        "ToolCall dict args" => {
            shaped::<ToolCall>(json!({"id": "1", "type": "function", "name": "x", "arguments": {"a": 1}}))
        }
        "extra fields ignored" => shaped::<Parameters>(json!({"additionalProperties": false})),
        "type not fixed" => shaped::<Parameters>(json!({"type": "array"})),
        other => return Err(format!("the row `{other}` is unknown")),
    })
}

fn shaped<T: DeserializeOwned + Serialize>(fields: Value) -> Answer {
    let shape: T = serde_json::from_value(fields).map_err(|error| error.to_string())?;
    serde_json::to_value(shape).map_err(|error| error.to_string())
}

fn there_and_back(tool: &Value) -> Answer {
    let info: ToolInfo = serde_json::from_value(tool.clone()).map_err(|error| error.to_string())?;
    let definition = ToolDefinition::try_from(info).map_err(|error| error.to_string())?;
    let info = ToolInfo::try_from(&definition).map_err(|error| error.to_string())?;
    serde_json::to_value(info).map_err(|error| error.to_string())
}
