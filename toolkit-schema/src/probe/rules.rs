//! Tests whether a Rust type itself refuses all values outside of a range or an `enum`.

use super::Probe;
use crate::check::{Scope, check_text};
use crate::own::{is_of_author, is_of_type, names_of_type, range_of_type};
use crate::reference::SchemaRef;
use serde_json::{Value, json};
use std::ptr;

/// A string that is assumed to be in no `enum`.
const NO_NAME: &str = "\u{1}";

/// The integers to test outside of a range. Each number is the distance from the first integer outside.
const DISTANCES: [i64; 8] = [0, 1, 4, 9, 44, 744, 99_744, 1 << 40];

/// The type names at the end of serde's messages about integers out of range.
const INTEGERS: [&str; 10] = ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

impl Probe<'_, '_> {
    /// Decodes values that are missing from the `enum` or `const` of `own`, and records whether the Rust type refuses
    /// them.
    pub(super) fn list(&mut self, own: &Value, around: &dyn Fn(Value) -> Value) {
        if is_of_author(own) {
            return;
        }
        if self.left == 0 {
            self.found.enforces_lists = false;
            return;
        }
        let others = [json!(NO_NAME), json!(97), json!(113), json!(0.000_123)];
        let only = own.get("const");
        let listed: Vec<&Value> = match own.get("enum").and_then(Value::as_array) {
            Some(list) => list.iter().collect(),
            None => only.into_iter().collect(),
        };
        if listed.iter().any(|value| value.is_boolean()) {
            let mut others = [json!(true), json!(false)].into_iter().filter(|it| !listed.contains(&it));
            if others.any(|other| self.takes(&around(other))) {
                self.found.exact_lists.extend(own.as_object().map(ptr::from_ref));
                return;
            }
        }
        if listed.iter().find_map(|it| it.as_str()).is_some_and(|name| self.is_enum(name, around)) {
            if self.knows_other_names(own, &listed, around) || self.takes_unlisted(own, &listed, around) {
                self.found.exact_lists.extend(own.as_object().map(ptr::from_ref));
            }
        } else {
            let is_listed = |value: &Value| {
                check_text(SchemaRef::new(own, own), &value.to_string(), Scope::All).is_empty()
            };
            let others = others.into_iter().filter(|value| !is_listed(value)).map(around);
            let taken: Vec<Value> = others.filter(|other| self.takes(other)).collect();
            // For a marked list, a value is wrong only if the whole schema refuses it. Another variant of an untagged
            // enum may accept the value.
            let is_wrong = |other: &Value| {
                !is_of_type(own) || !check_text(self.schema, &other.to_string(), Scope::All).is_empty()
            };
            if !taken.is_empty() {
                self.found.enforces_lists &= !taken.iter().any(is_wrong);
                return;
            }
            // The Rust type has its own rules, such as a pattern, and may accept values that the list does not contain.
            if !only.is_some_and(|only| self.tags.contains(&ptr::from_ref(only))) {
                self.found.exact_lists.extend(own.as_object().map(ptr::from_ref));
            }
        }
    }

    /// Returns whether the Rust type decodes a variant called `name` as an enum does.
    ///
    /// Only an enum accepts a variant without data as `"name"` and as `{"name": null}`, but neither an empty object nor
    /// a second member. A type with its own visitor for strings and maps behaves differently.
    fn is_enum(&mut self, name: &str, around: &dyn Fn(Value) -> Value) -> bool {
        self.takes(&around(json!({name: null})))
            && !self.takes(&around(json!({})))
            && !self.takes(&around(json!({name: null, NO_NAME: null})))
    }

    /// Returns whether a union of an enum and another type accepts values that belong to neither the enum nor another
    /// branch of the schema.
    ///
    /// A catch-all variant does not count. With such a variant, an enum accepts an unknown `name` also as
    /// `{"name": null}`.
    fn takes_unlisted(&mut self, own: &Value, listed: &[&Value], around: &dyn Fn(Value) -> Value) -> bool {
        if is_of_type(own) {
            return false;
        }
        let others = [json!(97), json!(113), json!(0.000_123), json!(NO_NAME)];
        let others = others.into_iter().filter(|other| !listed.contains(&other)).map(|other| {
            let is_name = other.is_string();
            (is_name, around(other))
        });
        let mut refused = others
            .filter(|(_, other)| !check_text(self.schema, &other.to_string(), Scope::All).is_empty())
            .collect::<Vec<_>>()
            .into_iter();
        refused.any(|(is_name, other)| {
            self.takes(&other) && !(is_name && self.takes(&around(json!({NO_NAME: null}))))
        })
    }

    /// Returns whether an enum with `#[derive(ToolParams)]` accepts names that are neither in its `enum` list nor
    /// declared as aliases. An attribute has then shortened the list.
    ///
    /// If the Rust enum accepts every name, it has a catch-all variant, and its list contains examples. Enums without
    /// the derive do not declare aliases, so every name missing from the list may be an alias.
    fn knows_other_names(&mut self, own: &Value, listed: &[&Value], around: &dyn Fn(Value) -> Value) -> bool {
        let Some(aliases) = names_of_type(own) else { return false };
        let Some(message) = self.refusal(&around(json!(NO_NAME))) else { return false };
        let mut others = names_in(&message).filter(|name| listed.iter().all(|it| it.as_str() != Some(*name)));
        others.any(|name| !aliases.contains(&name))
    }

    /// Decodes integers just outside of the range in `own`, and records whether the Rust type refuses them. Only a
    /// range marked as enforced by the Rust type is tested.
    ///
    /// Serde's own error message proves that an integer type refuses all integers on this side of its range. After any
    /// other message, more distant integers are decoded.
    pub(super) fn range(&mut self, own: &Value, around: &dyn Fn(Value) -> Value) {
        let (least, most) = range_of_type(own);
        let below = least.and_then(|least| least.checked_sub(1)).map(|beside| (beside, -1));
        let above = most.and_then(|most| most.checked_add(1)).map(|beside| (beside, 1));
        for (beside, side) in below.into_iter().chain(above) {
            for distance in DISTANCES {
                let Some(other) = beside.checked_add(side * distance) else { break };
                match self.refusal(&around(other.into())) {
                    Some(message) if is_of_integer(&message) => break,
                    Some(_) => {}
                    None if check_text(self.schema, &around(other.into()).to_string(), Scope::All)
                        .is_empty() => {}
                    None => {
                        self.found.enforces_ranges = false;
                        break;
                    }
                }
            }
        }
    }
}

/// Returns the names of all variants listed in serde's message about an unknown variant.
fn names_in(message: &str) -> impl Iterator<Item = &str> {
    let expected = message.split_once("unknown variant `\u{1}`, expected ").map_or("", |(_, names)| names);
    let names = expected.rsplit_once(" at line ").map_or(expected, |(names, _)| names);
    let names = names.strip_prefix("one of ").unwrap_or(names);
    names
        .split(", ")
        .flat_map(|names| names.split("` or `"))
        .map(|name| name.trim_matches('`'))
        .filter(|name| !name.is_empty())
}

/// Returns whether `message` is serde's message about an integer outside of the range of its type.
fn is_of_integer(message: &str) -> bool {
    let said = message.rsplit_once(" at line ").map_or(message, |(said, _)| said);
    let expected =
        said.strip_prefix("invalid value: integer `").and_then(|said| said.split_once("`, expected "));
    expected.is_some_and(|(_, expected)| INTEGERS.contains(&expected) || expected.starts_with("a nonzero "))
}
