//! Tests whether a Rust type itself refuses all values outside of a range or an `enum`.

use super::Probe;
use crate::check::{Scope, check_text};
use crate::own::{Enforcement, is_of_author, listed_values, names_of_type, range_of_type};
use serde_json::{Value, json};
use std::ptr;

/// A string that is assumed to be in no `enum`.
const NO_NAME: &str = "\u{1}";

/// The ends of serde's messages about integers outside of the range of their type.
const INTEGERS: [&str; 10] = ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

/// The message of `serde_json` about a negative number in place of a `u128`.
const OUT_OF_RANGE: &str = "number out of range";

impl<'a> Probe<'a, '_> {
    /// Asks the type about values missing from the list of values in `own`.
    pub(super) fn list(&mut self, own: &'a Value, around: &dyn Fn(Value) -> Value) {
        if is_of_author(own) || self.left == 0 {
            return;
        }
        let listed: Vec<&Value> = listed_values(own).collect();
        let name = listed.iter().find_map(|value| value.as_str());
        let tag = own.get("const").filter(|only| self.siblings.contains_key(&ptr::from_ref(*only)));
        let enforced = match name {
            _ if self.takes_other_boolean(&listed, around) => Enforcement::Exact,
            Some(_) if tag.is_some() => self.enum_enforces(own, &listed, tag, around),
            Some(name) if self.is_enum(name, around) => self.enum_enforces(own, &listed, None, around),
            _ if self.takes_others(&listed, around) => Enforcement::Unknown,
            // The type has rules of its own, such as a pattern, and may accept values missing from the list.
            _ => Enforcement::Exact,
        };
        self.record(own, enforced);
    }

    /// Records whether the type enforces the rule in `own`. The type may have been asked about the same schema in
    /// another place.
    fn record(&mut self, own: &Value, enforced: Enforcement) {
        if let Some(keywords) = own.as_object() {
            let known = self.found.enforced.entry(ptr::from_ref(keywords)).or_insert(enforced);
            *known = enforced.max(*known);
        }
    }

    fn takes_other_boolean(&mut self, listed: &[&Value], around: &dyn Fn(Value) -> Value) -> bool {
        let others = [json!(true), json!(false)];
        listed.iter().any(|value| value.is_boolean())
            && others.into_iter().filter(|other| !listed.contains(&other)).any(|it| self.takes(&around(it)))
    }

    fn takes_others(&mut self, listed: &[&Value], around: &dyn Fn(Value) -> Value) -> bool {
        let others = [json!(NO_NAME), json!(97), json!(113), json!(0.000_123)];
        others.into_iter().filter(|other| !listed.contains(&other)).any(|it| self.takes(&around(it)))
    }

    /// Returns whether the type decodes an enum in place of a variant called `name`.
    ///
    /// Only an enum accepts a variant without data as `"name"` and as `{"name": null}`, but neither an empty object nor
    /// a second member. A type with its own visitor for strings and maps behaves differently.
    fn is_enum(&mut self, name: &str, around: &dyn Fn(Value) -> Value) -> bool {
        self.takes(&around(json!({name: null})))
            && !self.takes(&around(json!({})))
            && !self.takes(&around(json!({name: null, NO_NAME: null})))
    }

    /// Returns whether an enum enforces its list of values: whether the names in serde's message about an unknown
    /// variant are all in the list, declared to be aliases, or other variants of the union.
    ///
    /// Another name is an alias that the schema does not publish, or a variant that an attribute has left out. An
    /// enum that accepts every name, also as `{"name": null}`, has a variant for all others, so its list contains
    /// examples.
    fn enum_enforces(
        &mut self,
        own: &'a Value,
        listed: &[&'a Value],
        tag: Option<&Value>,
        around: &dyn Fn(Value) -> Value,
    ) -> Enforcement {
        let declared = names_of_type(own);
        let is_declared = declared.is_some();
        let Some(message) = self.refusal(&around(json!(NO_NAME))) else {
            let is_open = tag.is_none() && self.takes(&around(json!({NO_NAME: null})));
            return match self.takes_unlisted(listed, is_open, around) {
                true if tag.is_none() && !is_declared => Enforcement::Exact,
                false if is_open => Enforcement::Proven,
                _ => Enforcement::Unknown,
            };
        };
        let place = tag.unwrap_or(own);
        let siblings = self.siblings.get(&ptr::from_ref(place)).map_or(&[][..], |names| &**names);
        let listed = listed.iter().filter_map(|value| value.as_str());
        let known: Vec<&str> =
            listed.chain(declared.into_iter().flatten()).chain(siblings.iter().copied()).collect();
        match variants_in(&message).map(|variants| are_all_among(variants, &known)) {
            Some(true) => Enforcement::Proven,
            Some(false) if tag.is_none() => Enforcement::Exact,
            _ => Enforcement::Unknown,
        }
    }

    /// Returns whether a type that decodes an enum also takes values that the schema refuses: the type is a union
    /// of the enum and another type. With `is_open`, the enum takes all names.
    fn takes_unlisted(&mut self, listed: &[&Value], is_open: bool, around: &dyn Fn(Value) -> Value) -> bool {
        let others = [json!(97), json!(113), json!(0.000_123), json!(NO_NAME)].into_iter();
        let mut others =
            others.filter(|other| !(listed.contains(&other) || is_open && other.is_string())).map(around);
        others.any(|other| {
            !check_text(self.schema, &other.to_string(), Scope::All).is_empty() && self.takes(&other)
        })
    }

    /// Decodes integers just outside of the range in `own`, and records whether the Rust type refuses them. Only a
    /// range marked as enforced by the Rust type is tested.
    ///
    /// Only serde's own message proves that an integer type refuses all integers on this side of its range.
    pub(super) fn range(&mut self, own: &Value, around: &dyn Fn(Value) -> Value) {
        let (least, most) = range_of_type(own);
        let below = least.and_then(|least| least.checked_sub(1));
        let above = most.and_then(|most| most.checked_add(1));
        let mut others = below.into_iter().chain(above);
        let is_proven = others
            .all(|other| self.refusal(&around(other.into())).is_some_and(|message| is_of_integer(&message)));
        self.record(own, if is_proven { Enforcement::Proven } else { Enforcement::Unknown });
    }
}

/// Returns the list of names in serde's message about an unknown variant.
fn variants_in(message: &str) -> Option<&str> {
    let (_, expected) = message.split_once("unknown variant `\u{1}`, expected ")?;
    let variants = expected.rsplit_once(" at line ").map_or(expected, |(variants, _)| variants);
    Some(variants.strip_prefix("one of ").unwrap_or(variants))
}

/// Returns whether a list of names in backquotes contains only `known` names. Names may contain the separators of
/// the list.
fn are_all_among(mut variants: &str, known: &[&str]) -> bool {
    loop {
        let after = |name: &&str| variants.strip_prefix('`')?.strip_prefix(*name)?.strip_prefix('`');
        let shortest = known.iter().filter_map(after).min_by_key(|after| after.len());
        let Some(after) = shortest else { return false };
        let next = after.strip_prefix(", ").or_else(|| after.strip_prefix(" or "));
        match next {
            Some(next) => variants = next,
            None => return after.is_empty(),
        }
    }
}

/// Returns whether `message` is serde's message about an integer outside of the range of its type.
fn is_of_integer(message: &str) -> bool {
    let said = message.rsplit_once(" at line ").map_or(message, |(said, _)| said);
    let expected =
        said.strip_prefix("invalid value: integer `").and_then(|said| said.split_once("`, expected "));
    said == OUT_OF_RANGE
        || expected
            .is_some_and(|(_, expected)| INTEGERS.contains(&expected) || expected.starts_with("a nonzero "))
}
