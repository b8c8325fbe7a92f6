//! Parameter descriptions in docstrings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolkit_docstring::Docstring;

use crate::report::{Answers, Report};
use crate::vectors::{entry, some_text, text};

/// `docstring_params.json`, in which SoulBot finds parameters in several styles.
pub(crate) fn docstring_params(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let outputs = ["id", "note", "soulbot", "openjiuwen", "toolregistry"];
    report.section(file, "cases", &outputs, |row| {
        let ours = toolkit_docstring::parse(some_text(row, "docstring")?.unwrap_or_default());
        let soulbot = entry(row, "soulbot")?;
        let summary = text(soulbot, "description")?;
        let params = entry(soulbot, "params")?.as_object().ok_or("`params` is not an object")?;
        let params = params.iter().map(|(name, text)| (name.as_str(), text.as_str().unwrap_or_default()));
        Ok(answers(summary, &params.collect(), &ours))
    })
}

/// Their summary is the first line, ours the first paragraph. Parameters are compared by name, as `text` in
/// both, `only_theirs` or `only_ours`.
fn answers(summary: &str, theirs: &BTreeMap<&str, &str>, ours: &Docstring) -> Answers {
    let described = ours.params.iter().filter(|param| !param.description.is_empty());
    let params: BTreeMap<&str, &str> =
        described.map(|param| (param.name.as_str(), param.description.as_str())).collect();
    let shared: BTreeSet<&str> = theirs.keys().copied().filter(|name| params.contains_key(name)).collect();
    let texts =
        |of: &BTreeMap<&str, &str>| shared.iter().map(|name| json!([name, of.get(name)])).collect::<Value>();
    let only = |of: &BTreeMap<&str, &str>| {
        of.keys().filter(|name| !shared.contains(*name)).copied().collect::<Value>()
    };
    let our_summary = if ours.summary.starts_with(summary) { summary } else { &ours.summary };
    Answers::values(
        json!({"summary": summary, "text": texts(theirs), "only_theirs": only(theirs), "only_ours": []}),
        json!({"summary": our_summary, "text": texts(&params), "only_theirs": [], "only_ours": only(&params)}),
    )
}
