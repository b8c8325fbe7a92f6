//! openJiuwen's tools, written and read as those of OpenAI's Responses API.

use serde_json::{Value, json};
use toolkit_llm::translate::RequestFormat;

use crate::formats::theirs;
use crate::report::{Answer, Answers, Report};
use crate::vectors::entry;

/// The tools of `openjiuwen.json`, of the documented version.
pub(crate) fn openjiuwen(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let tools = entry(entry(file, "seed_era_0.1.1")?, "tool_decorator")?;
    let tools = tools.as_object().ok_or("`tool_decorator` is not an object")?;
    let rows: Vec<Value> = tools
        .iter()
        .filter(|(_, answer)| answer.get("ok").is_some())
        .map(|(what, answer)| json!({"what": what, "answer": answer}))
        .collect();
    report.section(&json!({"tool_decorator": rows}), "tool_decorator", &[], |row| {
        let theirs = theirs(row, "answer")?;
        let ours = theirs.clone().and_then(|tool| read_again(&tool));
        Ok(Answers { theirs, ours })
    })
}

/// Returns what is read of a tool, in its fields. Schemas with a list where JSON Schema has none are not
/// compared as written.
fn read_again(tool: &Value) -> Answer {
    let read = RequestFormat::OpenAiResponses.parse_definitions(&json!([tool]));
    let definitions = read.map_err(|error| error.to_string())?;
    let [read] = definitions.as_slice() else { return Err(format!("{} tools", definitions.len())) };
    let (name, description) = (read.name.as_str(), &read.description);
    Ok(json!({"type": "function", "name": name, "description": description, "parameters": read.parameters}))
}
