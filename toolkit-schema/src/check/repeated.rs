//! Repeated names: two members with the same name in one object.

use crate::json::{Json, Kind};
use crate::violation::{Violation, ViolationKind};
use std::collections::HashMap;

/// The maximum number of reported names.
const MOST: usize = 64;

/// Returns a violation for each name given more than once in the same object, at every depth.
///
/// `at` is the path of the value. Only one of the values can be meant, but a map would silently keep the
/// last.
#[must_use]
pub fn repeated_names(value: &Json<'_>, at: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    collect(value, &mut at.to_owned(), &mut found);
    found
}

fn collect(value: &Json<'_>, path: &mut String, found: &mut Vec<Violation>) {
    let here = path.len();
    match &value.kind {
        Kind::Object(members) => {
            let mut given: HashMap<&str, usize> = HashMap::with_capacity(members.len());
            for (name, member) in members {
                path.extend([if here == 0 { "" } else { "." }, name]);
                let times = given.entry(name).or_default();
                *times += 1;
                if *times == 2 && found.len() < MOST {
                    let message = "given twice; give it once";
                    found.push(Violation::new(path.as_str(), ViolationKind::Duplicate, message));
                }
                collect(member, path, found);
                path.truncate(here);
            }
        }
        Kind::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                collect(item, path, found);
                path.truncate(here);
            }
        }
        _ => {}
    }
}
