//! Integers that a `Value` would round, in values with a schema.

use super::Checks;
use crate::json::{Json, Kind, budget};
use crate::properties::{item_schema, member_schemas};
use crate::types::types;
use crate::violation::{Violation, ViolationKind};
use crate::words::value_in_words;
use serde_json::Value;

impl<'a> Checks<'a> {
    /// Returns a violation for each integer that a [`Value`] would store as a different integer. Where the schema takes
    /// any `number`, an integer may be rounded like a number with a fraction.
    pub(crate) fn rounded(&self, schema: &'a Value, value: &Json<'_>, at: &str) -> Vec<Violation> {
        let mut found = Vec::new();
        if !value.is_exact() {
            self.add_rounded(&[schema], value, &mut at.to_owned(), &mut found);
        }
        found
    }

    fn add_rounded(
        &self,
        schemas: &[&'a Value],
        value: &Json<'_>,
        path: &mut String,
        found: &mut Vec<Violation>,
    ) {
        let mut left = budget(value);
        let parts: Vec<&'a Value> =
            schemas.iter().flat_map(|schema| self.parts(schema, value, &mut left)).collect();
        let here = path.len();
        match &value.kind {
            Kind::Number => {
                let is_number = |part: &&Value| types(part.get("type")).any(|name| name == "number");
                if value.is_other_integer() && !parts.iter().any(is_number) {
                    let got = value_in_words(value.text);
                    let message = format!("expected integer of at most 64 bits, got {got}");
                    found.push(Violation::new(path.as_str(), ViolationKind::Constraint, message));
                }
            }
            Kind::Object(members) => {
                for (name, member) in members {
                    let of_name = parts.iter().map(|part| member_schemas(part, name));
                    let inner: Vec<&Value> =
                        of_name.flat_map(|(named, other)| named.into_iter().chain(other)).collect();
                    path.extend([if here == 0 { "" } else { "." }, name]);
                    self.add_rounded(&inner, member, path, found);
                    path.truncate(here);
                }
            }
            Kind::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let inner: Vec<&Value> =
                        parts.iter().filter_map(|part| item_schema(part, index)).collect();
                    path.push_str(&format!("[{index}]"));
                    self.add_rounded(&inner, item, path, found);
                    path.truncate(here);
                }
            }
            _ => {}
        }
    }
}
