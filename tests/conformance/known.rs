//! The differences that are meant, as data: for which inputs, and why.

use jsonschema::Validator;
use serde_json::Value;

use crate::vectors::{self, Context};

/// All rules of `known_differences.json`.
pub(crate) struct KnownDifferences(Vec<Rule>);

/// Inputs of one section for which toolkit answers something else.
struct Rule {
    file: String,
    section: String,
    when: Validator,
    reason: String,
}

impl KnownDifferences {
    pub(crate) fn read() -> Result<Self, String> {
        let rules: Vec<Value> =
            serde_json::from_str(include_str!("known_differences.json")).context("known_differences.json")?;
        let rules: Result<_, String> = rules.iter().map(Rule::read).collect();
        rules.map(Self).context("known_differences.json")
    }

    /// Why the answers to `input` may differ at `place`, for example `cases` or `cases.name`.
    pub(crate) fn reason(&self, file: &str, place: &str, input: &Value) -> Option<&str> {
        let rule = self.0.iter().find(|rule| rule.covers(file, place) && rule.when.is_valid(input))?;
        Some(&rule.reason)
    }
}

impl Rule {
    fn read(rule: &Value) -> Result<Self, String> {
        let text = |name| vectors::text(rule, name).map(str::to_owned);
        let when = jsonschema::draft202012::new(vectors::entry(rule, "when")?)
            .with_context(|| format!("{rule}: when"))?;
        Ok(Self { file: text("file")?, section: text("section")?, when, reason: text("reason")? })
    }

    /// A rule for `cases` is one for `cases.name` too. A `*` in the file's name stands for any text.
    fn covers(&self, file: &str, place: &str) -> bool {
        let in_file = match self.file.split_once('*') {
            Some((start, end)) => file.starts_with(start) && file.ends_with(end),
            None => self.file == file,
        };
        let rest = place.strip_prefix(self.section.as_str());
        in_file && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}
