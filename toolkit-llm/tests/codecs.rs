//! Asks the codec of every API the questions in `data`, and compares the answers.
//!
//! `data/<case>/<format>.json` holds what one API has to answer in one case. `tests/README.md` of the
//! repository describes the questions, and how to add a case or an API.

#[path = "codecs/answers.rs"]
mod answers;
#[path = "codecs/values.rs"]
mod values;

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit_llm::ApiFormat;

type Fields = Map<String, Value>;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    rule: String,
    /// Why the rule is there, for readers only.
    #[serde(default, rename = "why")]
    _why: String,
    questions: Vec<Fields>,
}

/// Reads the rules of a file, or none if it has the reason why the API has no part in the case.
fn parse_rules(text: &str) -> Result<Vec<Rule>, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match file.get("not").and_then(Value::as_str) {
        Some("") => Err("`not` gives no reason".to_owned()),
        Some(_) => Ok(Vec::new()),
        None => serde_json::from_value(file).map_err(|error| error.to_string()),
    }
}

/// Returns the failures of one file, each with the case and the format.
fn failures_of(case: &str, format: ApiFormat) -> Vec<String> {
    let place = format!("{case}/{format}.json");
    let Ok(text) = fs::read_to_string(data().join(&place)) else {
        return vec![format!("{place} is missing: write the answers of this API, or `{{\"not\": \"why\"}}`")];
    };
    let rules = match parse_rules(&text) {
        Ok(rules) => rules,
        Err(error) => return vec![format!("{place}: {error}")],
    };
    let mut failures = Vec::new();
    for Rule { rule, questions, .. } in rules {
        for (index, question) in questions.iter().enumerate() {
            let difference = answers::difference(format, question);
            failures.extend(difference.map(|found| format!("{place}: {rule} (question {index}): {found}")));
        }
    }
    failures
}

#[test]
fn every_codec_answers_as_written() {
    let cases = names_in(&data());
    assert!(!cases.is_empty(), "{} has no cases", data().display());
    let files: BTreeSet<String> = ApiFormat::ALL.iter().map(|format| format!("{format}.json")).collect();
    let mut failures = Vec::new();
    for case in cases {
        let unknown = names_in(&data().join(&case));
        failures
            .extend(unknown.difference(&files).map(|file| format!("{case}/{file}: no format has this name")));
        failures.extend(ApiFormat::ALL.iter().flat_map(|format| failures_of(&case, *format)));
    }
    assert!(failures.is_empty(), "{} answers differ:\n\n{}\n", failures.len(), failures.join("\n\n"));
}
