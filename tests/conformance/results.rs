//! What tools return: how a plain value is written for the model.

use serde_json::{Value, json};

use crate::python;
use crate::report::{Answers, Report};
use crate::vectors::{entry, text};

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
    })
}

/// The text that the model reads, and what it is as JSON, where it is JSON.
fn written(encoded: &Value) -> Value {
    let value = encoded.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({"text": encoded, "value": value})
}
