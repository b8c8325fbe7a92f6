//! Asks the codec of every API the questions in `data`, and compares the answers with the written ones.
//!
//! `data/<case>/<format>.json` holds what one API has to answer in one case. `tests/README.md` of the repository
//! describes the questions, and how to add a case or an API.

#[path = "codecs/answers.rs"]
mod answers;
#[path = "codecs/values.rs"]
mod values;

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit_llm::ApiFormat;

/// The fields of a question or of an answer.
type Fields = Map<String, Value>;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Returns the names in a folder, sorted.
fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the failures of one file. Each begins with the case and the format.
fn failures_of(case: &str, format: ApiFormat) -> Vec<String> {
    let place = format!("{case}/{format}.json");
    let Ok(text) = fs::read_to_string(data().join(&place)) else {
        return vec![format!("{place} is missing: write the answers of this API, or `{{\"not\": \"why\"}}`")];
    };
    let file: Value = match serde_json::from_str(&text) {
        Ok(file) => file,
        Err(error) => return vec![format!("{place}: {error}")],
    };
    if file["not"].is_string() {
        return Vec::new();
    }
    let mut failures = Vec::new();
    for group in file.as_array().unwrap_or_else(|| panic!("{place}: a list, or `not`")) {
        let sentence = group["says"].as_str().unwrap_or_else(|| panic!("{place}: `says`"));
        let questions = group["asks"].as_array().unwrap_or_else(|| panic!("{place}: {sentence}: `asks`"));
        for (index, question) in questions.iter().enumerate() {
            let question = question.as_object().unwrap_or_else(|| panic!("{place}: {sentence}: an object"));
            let found = answers::differences(format, question);
            failures
                .extend(found.iter().map(|found| format!("{place}: {sentence} (question {index}): {found}")));
        }
    }
    failures
}

#[test]
fn every_codec_answers_as_written() {
    let mut failures = Vec::new();
    for case in names_in(&data()) {
        let files: BTreeSet<String> = ApiFormat::ALL.iter().map(|format| format!("{format}.json")).collect();
        let unknown: Vec<String> = names_in(&data().join(&case)).difference(&files).cloned().collect();
        failures.extend(unknown.iter().map(|file| format!("{case}/{file}: no format has this name")));
        for format in ApiFormat::ALL {
            failures.extend(failures_of(&case, format));
        }
    }
    assert!(failures.is_empty(), "{} answers differ:\n\n{}\n", failures.len(), failures.join("\n\n"));
}
