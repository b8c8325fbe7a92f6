//! Returned values: how a plain value is written for the model.

use serde_json::{Value, json};

use crate::python;
use crate::report::{Answers, Report};
use crate::vectors::{Context, entry, text};
use toolkit_ai::output::TruncationStrategy;

/// `results_toolregistry.json`
pub(crate) fn results(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    report.section(file, "encode_tool_result", &["encoded"], |row| {
        let encoded = entry(row, "encoded")?;
        let theirs = match (encoded.get("ok"), encoded.get("error")) {
            (Some(encoded), _) => Ok(written(encoded)),
            (None, Some(error)) => Err(error.to_string()),
            (None, None) => return Err("`encoded` is neither `ok` nor `error`".to_owned()),
        };
        let ours = python::read(text(row, "python")?).and_then(|value| {
            let output = value.returned().map_err(|error| error.to_string())?;
            Ok(written(&output.to_text().into()))
        });
        Ok(Answers { theirs, ours })
    })?;
    report.section(file, "truncate_result", &["content", "str", "original_size", "truncated"], |row| {
        let whole = text(row, "text")?;
        let limit =
            usize::try_from(entry(row, "max_size")?.as_u64().unwrap_or_default()).context("max_size")?;
        let strategy = match text(row, "strategy")? {
            "head" => TruncationStrategy::Head,
            "head_tail" => TruncationStrategy::HeadTail,
            other => return Err(format!("no strategy `{other}`")),
        };
        let ours = strategy.cut(whole, limit);
        let mut theirs = parts(text(row, "content")?);
        theirs["truncated"] = entry(row, "truncated")?.clone();
        let mut ours_in_parts = parts(&ours);
        ours_in_parts["truncated"] = (ours != whole).into();
        Ok(Answers::values(theirs, ours_in_parts))
    })
}

/// The text around the words about the missing part, and their number.
fn parts(cut: &str) -> Value {
    let words = cut.split_once("\n... (truncated ");
    let after = words.and_then(|(_, rest)| rest.split_once(" chars) ..."));
    match (words, after) {
        (Some((head, _)), Some((missing, tail))) => {
            json!({"head": head, "missing": missing, "tail": tail.strip_prefix('\n').unwrap_or(tail)})
        }
        _ => json!({"head": cut, "missing": null, "tail": ""}),
    }
}

/// The text for the model, and its value if it is JSON.
fn written(encoded: &Value) -> Value {
    let value = encoded.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({"text": encoded, "value": value})
}
