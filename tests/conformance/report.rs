//! Counting the rows that agree, and showing those that do not.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::known::KnownDifferences;
use crate::vectors::{self, Context};

/// What one side answers: a value, or the words of a refusal.
pub(crate) type Answer = Result<Value, String>;

/// Both answers to one row.
pub(crate) struct Answers {
    pub(crate) theirs: Answer,
    pub(crate) ours: Answer,
}

/// A place where the answers differ.
struct Difference {
    place: String,
    theirs: Value,
    ours: Value,
}

impl Answers {
    pub(crate) fn values(theirs: impl Into<Value>, ours: impl Into<Value>) -> Self {
        Self { theirs: Ok(theirs.into()), ours: Ok(ours.into()) }
    }

    /// Compares objects key by key; the words of a refusal may differ.
    fn differences(self, section: &str) -> Vec<Difference> {
        let at = |place: &str, theirs, ours| Difference { place: format!("{section}{place}"), theirs, ours };
        let found = match (self.theirs, self.ours) {
            (Err(_), Err(_)) => Vec::new(),
            (Ok(theirs), Err(ours)) => return vec![at(".refused", theirs, ours.into())],
            (Err(theirs), Ok(ours)) => return vec![at(".accepted", theirs.into(), ours)],
            (Ok(Value::Object(theirs)), Ok(Value::Object(ours))) => {
                let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
                let value = |answer: &Map<String, Value>, key| answer.get(key).cloned().unwrap_or_default();
                keys.into_iter()
                    .map(|key| at(&format!(".{key}"), value(&theirs, key), value(&ours, key)))
                    .collect()
            }
            (Ok(theirs), Ok(ours)) => vec![at("", theirs, ours)],
        };
        found.into_iter().filter(|difference| difference.theirs != difference.ours).collect()
    }
}

/// The outcome for one file.
pub(crate) struct Report<'a> {
    file: &'a str,
    rules: &'a KnownDifferences,
    sections: BTreeSet<String>,
    agree: usize,
    known: usize,
    failed: usize,
    reasons: BTreeMap<&'a str, usize>,
    unexplained: Vec<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(file: &'a str, rules: &'a KnownDifferences) -> Self {
        Self {
            file,
            rules,
            sections: BTreeSet::new(),
            agree: 0,
            known: 0,
            failed: 0,
            reasons: BTreeMap::new(),
            unexplained: Vec::new(),
        }
    }

    /// Compares every row of a section; no row, if the file has no such section.
    ///
    /// What is not listed in `outputs` is the row's input, which the known differences look at.
    pub(crate) fn section(
        &mut self,
        file: &Value,
        section: &str,
        outputs: &[&str],
        check: impl Fn(&Value) -> Result<Answers, String>,
    ) -> Result<(), String> {
        self.sections.insert(section.to_owned());
        for row in vectors::rows(file, section)? {
            let answers = check(row).with_context(|| format!("{section}: row {row}"))?;
            self.row(section, &vectors::without(row, outputs), answers.differences(section));
        }
        Ok(())
    }

    fn row(&mut self, section: &str, input: &Value, differences: Vec<Difference>) {
        if differences.is_empty() {
            self.agree += 1;
            return;
        }
        let mut unexplained = Vec::new();
        for Difference { place, theirs, ours } in differences {
            if let Some(reason) = self.rules.reason(self.file, &place, input) {
                *self.reasons.entry(reason).or_default() += 1;
            } else {
                unexplained.push(format!("    {place}\n      theirs: {theirs}\n      ours:   {ours}"));
            }
        }
        if unexplained.is_empty() {
            self.known += 1;
            return;
        }
        self.failed += 1;
        self.unexplained.push(format!("  {}: {section} of {input}\n{}", self.file, unexplained.join("\n")));
    }

    /// Rows that agree or are known to differ.
    pub(crate) fn passed(&self) -> usize {
        self.agree + self.known
    }

    /// Rows that differ for no known reason.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// The counts, the sections that nobody compares, the differences and, if wanted, the reasons.
    pub(crate) fn lines(&self, file: &Value, with_reasons: bool) -> Vec<String> {
        let Self { file: name, agree, known, .. } = self;
        let rows = self.passed() + self.failed;
        let mut lines = vec![format!("{name}: agree {agree} of {rows}, {known} known differences")];
        let unknown = vectors::sections(file).filter(|section| !self.sections.contains(*section));
        lines.extend(unknown.map(|section| format!("  {section}: not compared")));
        if with_reasons {
            lines.extend(self.reasons.iter().map(|(reason, times)| format!("  {times} × {reason}")));
        }
        lines.extend(self.unexplained.iter().cloned());
        lines
    }
}
