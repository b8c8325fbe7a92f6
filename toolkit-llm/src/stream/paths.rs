//! Assembles arguments that are received as values with paths such as `$.rows[0].name`.

use crate::json::fields::Fields;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of steps in a path.
///
/// JSON parsers stop at a similar depth.
const DEEPEST: usize = 100;

/// The received arguments of one call.
#[derive(Debug, Default, Clone)]
pub(crate) struct PathArguments {
    args: Value,
    /// The paths of strings that later pieces continue.
    growing: HashSet<String>,
    /// Whether a piece had an invalid path, or one that does not fit the arguments.
    broken: bool,
}

impl PathArguments {
    /// Sets the value at `path`, or appends it to a string that continues.
    ///
    /// `goes_on` states whether the string continues in a later piece.
    pub(crate) fn add(&mut self, path: Option<&str>, value: Option<Value>, goes_on: bool) {
        let Some(path) = path else {
            self.broken = true;
            return;
        };
        if let Some(value) = value {
            let is_continued = self.growing.contains(path);
            match (place(&mut self.args, path), value) {
                (Some(Value::String(text)), Value::String(more)) if is_continued => text.push_str(&more),
                (Some(place), value) => *place = value,
                (None, _) => self.broken = true,
            }
        }
        if !goes_on {
            self.growing.remove(path);
        } else if !self.growing.contains(path) {
            self.growing.insert(path.to_owned());
        }
    }

    /// Adds arguments that are received as one object.
    pub(crate) fn merge(&mut self, args: &Value) {
        match (&mut self.args, args) {
            (Value::Object(members), Value::Object(more)) => members.extend(more.clone()),
            (place, args) => *place = args.clone(),
        }
    }

    /// Returns the arguments.
    ///
    /// Incomplete arguments and those with an invalid path become a string with invalid JSON, so that the
    /// call is refused.
    pub(crate) fn finish(self, complete: bool) -> Value {
        let args = if self.args.is_null() { Value::Object(Fields::new()) } else { self.args };
        if complete && !self.broken {
            return args;
        }
        let mut text = args.to_string();
        text.pop();
        text.into()
    }
}

/// Returns the value at `path`, creating missing objects and lists, or `None` if it does not fit.
fn place<'a>(args: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut place = args;
    for step in steps(path)? {
        place = match step {
            Step::Member(name) => {
                if place.is_null() {
                    *place = Value::Object(Fields::new());
                }
                place.as_object_mut()?.entry(name).or_insert(Value::Null)
            }
            Step::Element(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let list = place.as_array_mut()?;
                // Elements arrive in order. Filling a gap could create a huge list.
                if index == list.len() {
                    list.push(Value::Null);
                }
                list.get_mut(index)?
            }
        };
    }
    Some(place)
}

#[derive(Debug, PartialEq)]
enum Step<'a> {
    Member(Cow<'a, str>),
    Element(usize),
}

/// Splits a path to a single location into its steps (RFC 9535).
///
/// A step is `.name`, `['name']`, `["name"]` or `[0]`.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == DEEPEST {
            return None;
        }
        let step;
        (step, rest) = match rest.strip_prefix('.') {
            Some(path) => {
                let end = path.find(['.', '[']).unwrap_or(path.len());
                let (name, after) = path.split_at(end);
                if name.is_empty() {
                    return None;
                }
                (Step::Member(name.into()), after)
            }
            None => bracket(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
    }
    Some(steps)
}

/// Parses the step after an opening bracket.
///
/// Returns the remaining path, too.
fn bracket(inside: &str) -> Option<(Step<'_>, &str)> {
    let Some(quote) = inside.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let (index, after) = inside.split_once(']')?;
        return Some((Step::Element(index.parse().ok()?), after));
    };
    let text = &inside[1..];
    let (name, end) = text.split_at(end_of_name(text, quote)?);
    let after = end[1..].strip_prefix(']')?;
    if !name.contains('\\') {
        return Some((Step::Member(name.into()), after));
    }
    // The escape sequences are those of JSON, except for quotes.
    let mut json = String::from("\"");
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => match chars.next()? {
                '\'' => json.push('\''),
                escaped => json.extend(['\\', escaped]),
            },
            _ => json.push(c),
        }
    }
    json.push('"');
    let name: String = serde_json::from_str(&json).ok()?;
    Some((Step::Member(name.into()), after))
}

fn end_of_name(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(pieces: &[(&str, Value, bool)], args: &Value) {
        let mut partial = PathArguments::default();
        pieces
            .iter()
            .for_each(|(path, value, goes_on)| partial.add(Some(path), Some(value.clone()), *goes_on));
        assert_eq!(partial.finish(true), *args);
    }

    #[test]
    fn pieces_find_their_places() {
        check(
            &[
                ("$.city", json!("New "), true),
                ("$.city", json!("Delhi"), true),
                ("$.city", json!(""), false),
                ("$.rows[0].n", json!(1.5), false),
                ("$.rows[0]['a.b']", json!(true), false),
                ("$.rows[1]", json!(null), false),
                ("$[\"none\"]", json!(null), false),
                ("$.all", json!({"a": [1]}), false),
            ],
            &json!({"city": "New Delhi", "rows": [{"n": 1.5, "a.b": true}, null], "none": null, "all": {"a": [1]}}),
        );
        check(&[], &json!({}));
    }

    #[test]
    fn a_path_without_a_value_only_opens_the_string() {
        let mut partial = PathArguments::default();
        partial.add(Some("$.a"), None, true);
        partial.add(Some("$.a"), Some(json!("x")), true);
        partial.add(Some("$.a"), Some(json!("y")), false);
        assert_eq!(partial.finish(true), json!({"a": "xy"}));
    }

    #[test]
    fn a_text_that_does_not_go_on_is_replaced() {
        check(&[("$.a", json!("x"), false), ("$.a", json!("y"), false)], &json!({"a": "y"}));
    }

    #[test]
    fn a_piece_without_a_place_breaks_the_call() {
        let deep = format!("${}", "[0]".repeat(101));
        for path in [
            None,
            Some("a"),
            Some("$..a"),
            Some("$[*]"),
            Some("$.a[99999999999]"),
            Some("$['a"),
            Some("$.ok.inside"),
            Some(&*deep),
        ] {
            let mut partial = PathArguments::default();
            partial.add(Some("$.ok"), Some(json!(1)), false);
            partial.add(path, Some(json!("x")), false);
            let Value::String(text) = partial.finish(true) else { panic!("{path:?} has a place") };
            assert!(serde_json::from_str::<Value>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_cut_off_is_not_json() {
        let mut partial = PathArguments::default();
        partial.add(Some("$.city"), Some(json!("New")), true);
        assert_eq!(partial.finish(false), r#"{"city":"New""#);
        assert_eq!(PathArguments::default().finish(false), "{");
    }

    #[test]
    fn paths_are_those_of_the_rfc() {
        let member = |name: &str| Step::Member(name.to_owned().into());
        assert_eq!(steps("$"), Some(vec![]));
        assert_eq!(steps("$.a_b[2].é"), Some(vec![member("a_b"), Step::Element(2), member("é")]));
        assert_eq!(
            steps(r#"$['it\'s "x"']["\"\\\u00e9"]"#),
            Some(vec![member("it's \"x\""), member("\"\\é")])
        );
        assert_eq!(steps(r#"$["\\'"]"#), Some(vec![member("\\'")]));
        assert_eq!(steps("$['a]b'].c"), Some(vec![member("a]b"), member("c")]));
    }
}
