//! Lists of violations and names in messages.

use super::Violation;
use std::fmt::Display;

/// The maximum number of entries listed in a message.
pub(super) const LISTED: usize = 16;

/// Returns the message for `violations` and the number of further ones.
pub(super) fn listed(violations: &[Violation], more: usize) -> String {
    let total = violations.len() + more;
    let mut message = "Error validating JSON arguments: ".to_owned();
    if let [only] = violations {
        message.push_str(&only.to_string());
        return message;
    }
    message.push_str(&format!("{total} problems"));
    for violation in violations.iter().take(LISTED) {
        message.push_str(&format!("\n- {violation}"));
    }
    if let Some(more @ 1..) = total.checked_sub(LISTED) {
        message.push_str(&format!("\n- and {more} more"));
    }
    message
}

/// Joins names as `` `a` or `b` ``.
pub(crate) fn one_of(names: &[&str]) -> String {
    quoted(names).join(" or ")
}

/// Joins names as `` `a`, `b` ``.
pub(super) fn names(names: &[&str]) -> String {
    quoted(names).join(", ")
}

/// Returns the end of a message about a missing name: the names probably meant, or else the known ones.
pub(super) fn suggested(nearest: &[String], known: &[String]) -> String {
    match (nearest, known) {
        ([], []) => String::new(),
        ([], known) => format!("; known are {}", quoted(known).join(", ")),
        (nearest, _) => format!("; did you mean {}?", quoted(nearest).join(" or ")),
    }
}

fn quoted(names: &[impl Display]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}
