//! Checks without a schema: repeated names, and integers that a `Value` would round.

use crate::index::Names;
use crate::json::{Json, Kind};
use crate::violation::{Violation, ViolationKind};
use crate::words::value_in_words;
use std::borrow::Cow;

/// The maximum number of violations to report.
const MOST: usize = 64;

/// Returns a violation for each repeated name, of which a map keeps only the last value.
///
/// `at` is the path of the value.
#[must_use]
pub(crate) fn repeated_names(value: &Json<'_>, at: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    each(value, &mut at.to_owned(), &mut |value, path| add_repeated_names(value, path, &mut found));
    found
}

fn add_repeated_names(value: &Json<'_>, path: &str, found: &mut Vec<Violation>) {
    let Kind::Object(members) = &value.kind else { return };
    let mut given = Names::default();
    for (name, _) in members {
        let times = given.count(Cow::Borrowed(&**name));
        if times == 2 && found.len() < MOST {
            let path_of_member = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            found.push(Violation::new(path_of_member, ViolationKind::Duplicate, "given twice; give it once"));
        }
    }
}

/// Returns a violation for each integer that a [`serde_json::Value`] would round.
///
/// `at` is the path of the value.
#[must_use]
pub(crate) fn rounded_integers(value: &Json<'_>, at: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    each(value, &mut at.to_owned(), &mut |value, path| add_rounded_integer(value, path, &mut found));
    found
}

fn add_rounded_integer(value: &Json<'_>, path: &str, found: &mut Vec<Violation>) {
    if matches!(value.kind, Kind::Number) && found.len() < MOST && value.is_other_integer() {
        let message = format!("expected integer of at most 64 bits, got {}", value_in_words(value.text));
        found.push(Violation::new(path, ViolationKind::Constraint, message));
    }
}

/// Calls `visit` with every value and its path, outer values first.
fn each<'v, 'j>(value: &'v Json<'j>, path: &mut String, visit: &mut dyn FnMut(&'v Json<'j>, &str)) {
    visit(value, path);
    let here = path.len();
    match &value.kind {
        Kind::Object(members) => {
            for (name, member) in members {
                path.extend([if here == 0 { "" } else { "." }, name]);
                each(member, path, visit);
                path.truncate(here);
            }
        }
        Kind::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                each(item, path, visit);
                path.truncate(here);
            }
        }
        _ => {}
    }
}
