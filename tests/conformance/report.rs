//! Counting the rows that agree, and showing others.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::known::{Case, KnownDifferences, Verdict};
use crate::places;
use crate::vectors::{self, Context};

/// The value or refusal of one side.
pub(crate) type Answer = Result<Value, String>;

pub(crate) struct Answers {
    pub(crate) theirs: Answer,
    pub(crate) ours: Answer,
}

struct Difference {
    place: String,
    path: String,
    theirs: Value,
    ours: Value,
}

impl Answers {
    pub(crate) fn values(theirs: impl Into<Value>, ours: impl Into<Value>) -> Self {
        Self { theirs: Ok(theirs.into()), ours: Ok(ours.into()) }
    }

    /// Compares objects by key, and `parameters` by keyword; words of refusals may differ.
    fn differences(&self, section: &str) -> Vec<Difference> {
        let at = |place: &str, theirs: &Value, ours: &Value| Difference {
            place: format!("{section}{place}"),
            path: String::new(),
            theirs: theirs.clone(),
            ours: ours.clone(),
        };
        let found = match (&self.theirs, &self.ours) {
            (Err(_), Err(_)) => Vec::new(),
            (Ok(theirs), Err(ours)) => return vec![at(".refused", theirs, &json!(ours))],
            (Err(theirs), Ok(ours)) => return vec![at(".accepted", &json!(theirs), ours)],
            (Ok(Value::Object(theirs)), Ok(Value::Object(ours))) => {
                let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
                let value = |answer: &Map<String, Value>, key| answer.get(key).cloned().unwrap_or_default();
                keys.into_iter()
                    .map(|key| at(&format!(".{key}"), &value(theirs, key), &value(ours, key)))
                    .collect()
            }
            (Ok(theirs), Ok(ours)) => vec![at("", theirs, ours)],
        };
        let differ = found.into_iter().filter(|difference| difference.theirs != difference.ours);
        differ.flat_map(keyword_by_keyword).collect()
    }
}

fn keyword_by_keyword(difference: Difference) -> Vec<Difference> {
    if !difference.place.ends_with(".parameters") {
        return vec![difference];
    }
    let found = places::differences(&difference.theirs, &difference.ours).into_iter();
    found
        .map(|place| Difference {
            place: format!("{}.{}", difference.place, place.keyword),
            path: place.path,
            theirs: place.theirs,
            ours: place.ours,
        })
        .collect()
}

pub(crate) struct Report<'a> {
    file: &'a str,
    rules: &'a KnownDifferences,
    sections: BTreeSet<String>,
    agree: usize,
    stated: usize,
    unexplained: Vec<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(file: &'a str, rules: &'a KnownDifferences) -> Self {
        Self { file, rules, sections: BTreeSet::new(), agree: 0, stated: 0, unexplained: Vec::new() }
    }

    /// Compares a section's rows, if the file has it.
    ///
    /// Entries not listed in `outputs` are input for the rules.
    pub(crate) fn section(
        &mut self,
        file: &Value,
        section: &str,
        outputs: &[&str],
        check: impl Fn(&Value) -> Result<Answers, String>,
    ) -> Result<(), String> {
        self.section_with_facts(file, section, outputs, |row| Ok((check(row)?, Value::Null)))
    }

    /// Compares rows with the check's `facts`.
    pub(crate) fn section_with_facts(
        &mut self,
        file: &Value,
        section: &str,
        outputs: &[&str],
        check: impl Fn(&Value) -> Result<(Answers, Value), String>,
    ) -> Result<(), String> {
        self.sections.insert(section.to_owned());
        for row in vectors::rows(file, section)? {
            let (answers, facts) = check(row).with_context(|| format!("{section}: row {row}"))?;
            let mut input = vectors::without(row, outputs);
            if let (Value::Object(fields), false) = (&mut input, facts.is_null()) {
                fields.insert("facts".to_owned(), facts);
            }
            self.row(section, &input, &answers);
        }
        Ok(())
    }

    fn row(&mut self, section: &str, input: &Value, answers: &Answers) {
        let answer = answers.ours.clone().unwrap_or_else(Value::from);
        let differences = answers.differences(section);
        if differences.is_empty() {
            self.agree += 1;
            return;
        }
        let mut unexplained = Vec::new();
        for Difference { place, path, theirs, ours } in &differences {
            let case = Case { file: self.file, place, path, input, theirs, ours, answer: &answer };
            if let Verdict::Otherwise(reasons) = self.rules.verdict(&case) {
                let mut lines = format!("    {place} {path}\n      theirs: {theirs}\n      ours:   {ours}");
                lines.extend(reasons.iter().map(|reason| format!("\n      not so: {reason}")));
                unexplained.push(lines);
            }
        }
        if unexplained.is_empty() {
            self.stated += 1;
        } else {
            self.unexplained.push(format!(
                "  {}: {section} of {input}\n{}",
                self.file,
                unexplained.join("\n")
            ));
        }
    }

    pub(crate) fn agree(&self) -> usize {
        self.agree
    }

    pub(crate) fn stated(&self) -> usize {
        self.stated
    }

    pub(crate) fn failed(&self) -> usize {
        self.unexplained.len()
    }

    /// The counts, uncompared sections, and differences that no rule states.
    pub(crate) fn lines(&self, file: &Value) -> Vec<String> {
        let Self { file: name, agree, stated, .. } = self;
        let rows = agree + stated + self.failed();
        let mut lines = vec![format!("{name}: agree {agree} of {rows}, {stated} differ as stated")];
        let unknown = vectors::sections(file).filter(|section| !self.sections.contains(*section));
        lines.extend(unknown.map(|section| format!("  {section}: not compared")));
        lines.extend(self.unexplained.iter().cloned());
        lines
    }
}
