//! Assembles arguments received in pieces. Each piece states its location with a path such as
//! `$.rows[0].name`.

use crate::fields::Fields;
use crate::gemini::spelling::{camel, get};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of steps in a path. JSON parsers stop at a similar depth.
const DEEPEST: usize = 100;

/// The arguments of one call so far.
#[derive(Debug, Default)]
pub(super) struct PartialArgs {
    args: Value,
    /// The paths of strings continued by later pieces.
    growing: HashSet<String>,
    /// Whether the location of a piece was invalid.
    broken: bool,
}

impl PartialArgs {
    /// Adds an element of `partialArgs`: `{jsonPath, stringValue | numberValue | …, willContinue?}`.
    pub(super) fn add(&mut self, piece: &Value) {
        let piece = piece.as_object();
        let path = piece.and_then(|piece| get(piece, "jsonPath")).and_then(Value::as_str);
        let (Some(piece), Some(path)) = (piece, path) else {
            self.broken = true;
            return;
        };
        if let Some(value) = value(piece) {
            let goes_on = self.growing.contains(path);
            match (place(&mut self.args, path), value) {
                (Some(Value::String(text)), Value::String(more)) if goes_on => text.push_str(&more),
                (Some(place), value) => *place = value,
                (None, _) => self.broken = true,
            }
        }
        match get(piece, "willContinue") {
            Some(Value::Bool(true)) if !self.growing.contains(path) => {
                self.growing.insert(path.to_owned());
            }
            Some(Value::Bool(true)) => {}
            _ => {
                self.growing.remove(path);
            }
        }
    }

    /// Adds complete arguments.
    pub(super) fn merge(&mut self, args: &Value) {
        match (&mut self.args, args) {
            (Value::Object(members), Value::Object(more)) => members.extend(more.clone()),
            (place, args) => *place = args.clone(),
        }
    }

    /// Returns the arguments. If they are incomplete or a piece had an invalid location, the result is a
    /// string without valid JSON. The call is then refused instead of being run with incomplete arguments.
    pub(super) fn finish(self, complete: bool) -> Value {
        let args = if self.args.is_null() { Value::Object(Fields::new()) } else { self.args };
        if complete && !self.broken {
            return args;
        }
        let mut text = args.to_string();
        text.pop();
        text.into()
    }
}

/// Returns the value of a piece. `null` is a value only in the field `nullValue`.
fn value(piece: &Fields) -> Option<Value> {
    piece.iter().find_map(|(name, value)| match &*camel(name) {
        "nullValue" => Some(Value::Null),
        name if name.ends_with("Value") && !value.is_null() => Some(value.clone()),
        _ => None,
    })
}

/// Returns the value at `path`, creating missing objects and lists. Returns `None` if the path leads through
/// another kind of value.
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
                // Elements arrive in order. A gap is an error, and could be huge.
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

/// Splits a path to a single location into its steps: `.name`, `['name']`, `["name"]` and `[0]` (RFC 9535).
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == DEEPEST {
            return None;
        }
        let step;
        (step, rest) = match rest.strip_prefix('.') {
            Some(after) => {
                let end = after.find(['.', '[']).unwrap_or(after.len());
                let (name, after) = after.split_at(end);
                (Step::Member(Some(name).filter(|name| !name.is_empty())?.into()), after)
            }
            None => bracket(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
    }
    Some(steps)
}

/// Returns the step in brackets and the remaining path.
fn bracket(inside: &str) -> Option<(Step<'_>, &str)> {
    let Some(quote) = inside.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let (index, after) = inside.split_once(']')?;
        return Some((Step::Element(index.parse().ok()?), after));
    };
    let text = &inside[1..];
    let mut escaped = false;
    let end = text.find(|c| {
        let is_end = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        is_end
    })?;
    let (name, after) = text.split_at(end);
    let after = after[1..].strip_prefix(']')?;
    if !name.contains('\\') {
        return Some((Step::Member(name.into()), after));
    }
    // The escapes are those of JSON, except for quotes.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(pieces: &[Value], args: &Value) {
        let mut partial = PartialArgs::default();
        pieces.iter().for_each(|piece| partial.add(piece));
        assert_eq!(partial.finish(true), *args);
    }

    #[test]
    fn pieces_find_their_places() {
        check(
            &[
                json!({"jsonPath": "$.city", "stringValue": "New ", "willContinue": true}),
                json!({"jsonPath": "$.city", "stringValue": "Delhi", "willContinue": true}),
                json!({"jsonPath": "$.city", "stringValue": ""}),
                json!({"json_path": "$.rows[0].n", "number_value": 1.5}),
                json!({"jsonPath": "$.rows[0]['a.b']", "boolValue": true}),
                json!({"jsonPath": "$.rows[1]", "nullValue": null}),
                json!({"jsonPath": "$[\"none\"]", "nullValue": "NULL_VALUE"}),
                json!({"jsonPath": "$.all", "structValue": {"a": [1]}}),
                json!({"jsonPath": "$.open", "willContinue": true}),
            ],
            &json!({"city": "New Delhi", "rows": [{"n": 1.5, "a.b": true}, null], "none": null, "all": {"a": [1]}}),
        );
        check(&[], &json!({}));
    }

    #[test]
    fn a_text_that_does_not_go_on_is_replaced() {
        let piece = |text: &str| json!({"jsonPath": "$.a", "stringValue": text});
        check(&[piece("x"), piece("y")], &json!({"a": "y"}));
    }

    #[test]
    fn a_piece_without_a_place_breaks_the_call() {
        for piece in [
            json!({"stringValue": "x"}),
            json!({"jsonPath": "a", "stringValue": "x"}),
            json!({"jsonPath": "$..a", "stringValue": "x"}),
            json!({"jsonPath": "$[*]", "stringValue": "x"}),
            json!({"jsonPath": "$.a[99999999999]", "stringValue": "x"}),
            json!({"jsonPath": "$['a", "stringValue": "x"}),
            json!({"jsonPath": "$.ok.inside", "stringValue": "x"}),
            json!({"jsonPath": format!("${}", "[0]".repeat(101)), "stringValue": "x"}),
            json!(null),
        ] {
            let mut partial = PartialArgs::default();
            partial.add(&json!({"jsonPath": "$.ok", "numberValue": 1}));
            partial.add(&piece);
            let Value::String(text) = partial.finish(true) else { panic!("{piece} has a place") };
            assert!(serde_json::from_str::<Value>(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_cut_off_is_not_json() {
        let mut partial = PartialArgs::default();
        partial.add(&json!({"jsonPath": "$.city", "stringValue": "New", "willContinue": true}));
        assert_eq!(partial.finish(false), r#"{"city":"New""#);
        assert_eq!(PartialArgs::default().finish(false), "{");
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
