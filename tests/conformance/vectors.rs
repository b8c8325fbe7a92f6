//! Finding and reading the vector files.

use std::env;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Says where a problem came up.
pub(crate) trait Context<T> {
    fn context(self, place: &str) -> Result<T, String>;
    fn with_context(self, place: impl Fn() -> String) -> Result<T, String>;
}

impl<T, E: Display> Context<T> for Result<T, E> {
    fn context(self, place: &str) -> Result<T, String> {
        self.with_context(|| place.to_owned())
    }

    fn with_context(self, place: impl Fn() -> String) -> Result<T, String> {
        self.map_err(|error| format!("{}: {error}", place()))
    }
}

/// The folders of this repository and of all rows, which may be absent by default outside of CI.
pub(crate) fn folders() -> Result<Vec<PathBuf>, String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let asked = env::var_os("TOOLKIT_VECTORS");
    let is_needed = asked.is_some() || env::var_os("CI").is_some_and(|ci| ci == "true");
    let all = tests.join("..").join(asked.unwrap_or_else(|| "../shared/vectors".into()));
    if is_needed && !all.is_dir() {
        return Err(format!("no vectors at {}", all.display()));
    }
    let own = tests.join("data/vectors");
    Ok([own].into_iter().chain(all.is_dir().then_some(all)).collect())
}

pub(crate) fn read(folder: &Path, name: &str) -> Result<Value, String> {
    let text = fs::read_to_string(folder.join(name)).context(name)?;
    serde_json::from_str(&without_nan(&text)).context(name)
}

/// Writes `null` for Python's `NaN`, which is no JSON, except within texts.
fn without_nan(text: &str) -> String {
    let mut is_text = false;
    let outside = text.split_inclusive('"').map(|piece| {
        let was_text = is_text;
        let is_escaped = piece.trim_end_matches('"').ends_with('\\');
        is_text ^= !(was_text && is_escaped);
        if was_text { piece.to_owned() } else { piece.replace("NaN", "null") }
    });
    outside.collect()
}

/// The names of a file's sections.
pub(crate) fn sections(file: &Value) -> impl Iterator<Item = &String> {
    let parts = file.as_object().into_iter().flatten();
    parts.filter(|(_, part)| part.is_array()).map(|(name, _)| name)
}

/// The rows of a section, if the file has it.
pub(crate) fn rows<'a>(file: &'a Value, section: &str) -> Result<&'a [Value], String> {
    match file.get(section) {
        None => Ok(&[]),
        Some(Value::Array(rows)) => Ok(rows),
        Some(_) => Err(format!("`{section}` is not a list of rows")),
    }
}

pub(crate) fn without(row: &Value, entries: &[&str]) -> Value {
    let mut row = row.clone();
    if let Value::Object(row) = &mut row {
        row.retain(|name, _| !entries.contains(&name.as_str()));
    }
    row
}

pub(crate) fn entry<'a>(row: &'a Value, name: &str) -> Result<&'a Value, String> {
    row.get(name).ok_or_else(|| format!("no entry `{name}`"))
}

pub(crate) fn text<'a>(row: &'a Value, name: &str) -> Result<&'a str, String> {
    entry(row, name)?.as_str().ok_or_else(|| format!("`{name}` is not a text"))
}

/// A text entry, or `None` if it is absent, null or empty.
pub(crate) fn some_text<'a>(row: &'a Value, name: &str) -> Result<Option<&'a str>, String> {
    match row.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{name}` is not a text")),
    }
}

pub(crate) fn flag(row: &Value, name: &str) -> Result<bool, String> {
    entry(row, name)?.as_bool().ok_or_else(|| format!("`{name}` is neither true nor false"))
}
