//! The check of numbers that a `serde_json::Value` cannot store exactly.

use super::{MOST, Scope, Search, TOO_COMPLEX};
use crate::json::{Json, Kind};
use crate::reference::SchemaRef;
use crate::violation::{Violation, ViolationKind};
use crate::words::value_in_words;
use std::ptr;

/// Returns the violations of a schema by numbers that a [`Value`](serde_json::Value) cannot store exactly.
///
/// The original text of each number is compared with the schema. An integer that would become a different integer is
/// also a violation, unless the schema accepts any `number`.
#[must_use]
pub fn rounded(schema: SchemaRef<'_>, value: &Json<'_>) -> Vec<Violation> {
    if value.is_exact() {
        return Vec::new();
    }
    let mut search = Search::new(schema.root, value, "", Scope::Validator);
    search.inspect(schema.schema, value);
    search.add_rounded(value);
    let mut found = search.into_violations();
    found.retain(|violation| violation.message != TOO_COMPLEX);
    found
}

impl<'v> Search<'_, 'v, '_> {
    /// Adds a violation for each integer in the value that would be stored as a different integer.
    fn add_rounded(&mut self, value: &Json<'v>) {
        match &value.kind {
            Kind::Number
                if self.found.len() < MOST
                    && value.is_other_integer()
                    && !self.numbers.contains(&ptr::from_ref(value)) =>
            {
                let got = value_in_words(value.text);
                let message = format!("expected integer of at most 64 bits, got {got}");
                self.add(ViolationKind::Constraint, message);
            }
            Kind::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.at_item(index, |this| this.add_rounded(item));
                }
            }
            Kind::Object(members) => {
                for (name, member) in members {
                    self.at_member(name, |this| this.add_rounded(member));
                }
            }
            _ => {}
        }
    }
}
