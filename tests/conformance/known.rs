//! The intended differences: the place, the inputs, toolkit's answer and the reason.

use std::cell::Cell;

use jsonschema::Validator;
use serde_json::Value;

use crate::answers;
use crate::vectors::{self, Context};

pub(crate) struct KnownDifferences(Vec<Rule>);

/// A place of a row with different answers.
pub(crate) struct Case<'a> {
    pub(crate) file: &'a str,
    /// For example `cases.name`.
    pub(crate) place: &'a str,
    /// The differing schema within the answer, as a JSON pointer.
    pub(crate) path: &'a str,
    /// The row without answers, and with the check's `facts`.
    pub(crate) input: &'a Value,
    pub(crate) theirs: &'a Value,
    pub(crate) ours: &'a Value,
    pub(crate) answer: &'a Value,
}

/// An intended difference: its places, and toolkit's answer.
struct Rule {
    /// Files and places, for example `kosong.json handle.output`.
    at: Vec<(String, String)>,
    when: Option<Validator>,
    ours: Statement,
    reason: String,
    uses: Cell<usize>,
}

enum Statement {
    Value(Value),
    /// Parts of the whole answer have these values.
    Answer(Vec<(String, Value)>),
    /// It is this part of the row.
    Row(String),
    /// A refusal holds these words, with `{/name}` for a part of the row.
    Refused(String),
    Is(fn(&Case<'_>) -> bool),
}

pub(crate) enum Verdict {
    Stated,
    /// Rules cover the place, but state no such answer.
    Otherwise(Vec<String>),
}

impl KnownDifferences {
    pub(crate) fn read() -> Result<Self, String> {
        let rules: Vec<Value> =
            serde_json::from_str(include_str!("known_differences.json")).context("known_differences.json")?;
        let rules: Result<_, String> = rules.iter().map(Rule::read).collect();
        rules.map(Self).context("known_differences.json")
    }

    pub(crate) fn verdict(&self, case: &Case<'_>) -> Verdict {
        let mut otherwise = Vec::new();
        for rule in self.0.iter().filter(|rule| rule.covers(case)) {
            if rule.ours.holds(case) {
                rule.uses.set(rule.uses.get() + 1);
                return Verdict::Stated;
            }
            otherwise.push(rule.reason.clone());
        }
        Verdict::Otherwise(otherwise)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The reasons of rules, with the number of differences for each.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|rule| (rule.reason.as_str(), rule.uses.get()))
    }

    pub(crate) fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.0.iter().filter(|rule| rule.uses.get() == 0);
        unused.map(|rule| format!("{:?}: {}", rule.at, rule.reason))
    }
}

impl Rule {
    fn read(rule: &Value) -> Result<Self, String> {
        let fields = rule.as_object().ok_or_else(|| format!("{rule}: not an object"))?;
        if let Some(name) =
            fields.keys().find(|name| !["at", "when", "ours", "reason"].contains(&name.as_str()))
        {
            return Err(format!("{rule}: no entry `{name}` is known"));
        }
        let at = vectors::entry(rule, "at")?.as_array().ok_or("`at` is not a list")?;
        let at = at.iter().map(|at| {
            let (file, place) = at.as_str()?.split_once(' ')?;
            Some((file.to_owned(), place.to_owned()))
        });
        let at = at.collect::<Option<Vec<_>>>().filter(|at| !at.is_empty());
        let when = rule.get("when").map(jsonschema::draft202012::new).transpose();
        Ok(Self {
            at: at.ok_or_else(|| format!("{rule}: `at` is not a list of files and places"))?,
            when: when.with_context(|| format!("{rule}: when"))?,
            ours: Statement::read(vectors::entry(rule, "ours")?)?,
            reason: vectors::text(rule, "reason")?.to_owned(),
            uses: Cell::new(0),
        })
    }

    /// A rule for `cases` covers `cases.name`, and `*` in the file's name any text.
    fn covers(&self, case: &Case<'_>) -> bool {
        let is_there = self.at.iter().any(|(file, place)| {
            let in_file = match file.split_once('*') {
                Some((start, end)) => case.file.starts_with(start) && case.file.ends_with(end),
                None => file == case.file,
            };
            let rest = case.place.strip_prefix(place.as_str());
            in_file && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        is_there && self.when.as_ref().is_none_or(|when| when.is_valid(case.input))
    }
}

impl Statement {
    fn read(ours: &Value) -> Result<Self, String> {
        let entry =
            ours.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let statement = entry.and_then(|(kind, value)| match kind.as_str() {
            "value" => Some(Self::Value(value.clone())),
            "answer" => {
                let parts = value.as_object()?.iter();
                Some(Self::Answer(parts.map(|(place, part)| (place.clone(), part.clone())).collect()))
            }
            "row" => text(value).map(Self::Row),
            "refused" => text(value).map(Self::Refused),
            "is" => text(value).and_then(|name| answers::named(&name)).map(Self::Is),
            _ => None,
        });
        statement.ok_or_else(|| format!("`ours` states nothing: {ours}"))
    }

    fn holds(&self, case: &Case<'_>) -> bool {
        match self {
            Self::Value(value) => case.ours == value,
            Self::Answer(parts) => {
                parts.iter().all(|(place, part)| case.answer.pointer(place).unwrap_or(&Value::Null) == part)
            }
            Self::Row(pointer) => case.input.pointer(pointer).unwrap_or(&Value::Null) == case.ours,
            Self::Refused(words) => {
                let text = case.ours.as_str();
                case.place.ends_with(".refused")
                    && text.is_some_and(|text| text.contains(&filled(words, case.input)))
            }
            Self::Is(holds) => holds(case),
        }
    }
}

/// Replaces each `{/name}` by that part of the row.
fn filled(words: &str, row: &Value) -> String {
    let mut pieces = words.split('{');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (pointer, rest) = piece.split_once('}').unwrap_or((piece, ""));
        filled += row.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        filled += rest;
    }
    filled
}
