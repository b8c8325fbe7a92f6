//! Redaction of hidden argument values in the texts about a call.

use crate::schema::__private::{quoted, sort_by};
use serde_json::Value;

const HIDDEN: &str = "[hidden]";

/// The minimum length, in characters, of a hidden string.
const SHORTEST: usize = 8;

/// The minimum length, in bytes, of a hidden string's beginning found before an ellipsis.
const BEGINNING: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// The strings to hide, plain and JSON-escaped, longer ones first.
    texts: Vec<String>,
    /// The members with hidden arguments, as JSON text.
    members: Vec<String>,
}

impl Secrets {
    /// Adds a hidden argument. Its member is removed from quotations of the whole object.
    pub(super) fn add_hidden(&mut self, name: &str, value: &Value) {
        let member = format!("{}:{value}", quoted(name));
        self.members.extend([format!(",{member}"), member]);
        self.add(value);
    }

    /// Adds each string of at least eight characters in a value.
    pub(super) fn add(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => members.values().for_each(|value| self.add(value)),
            Value::String(text) if text.chars().count() >= SHORTEST => {
                let quoted = quoted(text);
                let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
                self.texts.extend([text.clone(), escaped.to_owned()]);
                sort_by(&mut self.texts, |one, other| other.len().cmp(&one.len()));
            }
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.members.is_empty()
    }

    /// Replaces each hidden string with `[hidden]`, also one that an ellipsis cuts off.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut redacted = text.to_owned();
        for member in &self.members {
            redacted = redacted.replace(member, "");
        }
        for secret in &self.texts {
            redacted = redacted.replace(secret, HIDDEN);
        }
        let cuts: Vec<usize> = redacted.match_indices('…').map(|(cut, _)| cut).collect();
        for cut in cuts.into_iter().rev() {
            let before = redacted.get(..cut).unwrap_or_default();
            let length = self.texts.iter().filter_map(|secret| length_of_beginning(secret, before)).max();
            if let Some(length) = length {
                redacted.replace_range(cut - length..cut, HIDDEN);
            }
        }
        redacted
    }
}

/// Returns the length of the longest beginning of `secret` that ends `text`.
fn length_of_beginning(secret: &str, text: &str) -> Option<usize> {
    for length in (BEGINNING..secret.len()).rev() {
        if let Some(beginning) = secret.get(..length)
            && text.ends_with(beginning)
        {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn strings_of_eight_characters_are_found_as_they_are_and_as_json_escapes_them() {
        for (value, text, redacted) in [
            (json!("sk-12345"), "got \"sk-12345\", usersk-12345x", "got \"[hidden]\", user[hidden]x"),
            (json!({"a": ["x y z 1 2"]}), "x y z 1 2!", "[hidden]!"),
            (
                json!("a\"b\ncdefg"),
                "a\"b\ncdefg and {\"k\":\"a\\\"b\\ncdefg\"}",
                "[hidden] and {\"k\":\"[hidden]\"}",
            ),
            (json!(["abcdefgh", "abcdefgh-ij"]), "abcdefgh-ij, abcdefgh", "[hidden], [hidden]"),
            (json!("abcdefgh"), "got \"abcdefg…, ab…", "got \"[hidden]…, ab…"),
            (json!("short"), "short", "short"),
            (json!([12_345_678, true]), "12345678 true", "12345678 true"),
        ] {
            let mut secrets = Secrets::default();
            secrets.add(&value);
            assert_eq!(secrets.redact(text), redacted);
        }
    }

    proptest! {
        #[test]
        fn no_beginning_of_a_shortened_value_is_left(secret in "[a-z\"\\\\\n ]{8,60}", length in 1_usize..80) {
            let mut secrets = Secrets::default();
            secrets.add(&json!([{"key": secret}]));
            let shown = crate::error::shorten_to(&json!({"key": secret}).to_string(), length);
            let escaped = Value::from(secret).to_string();
            let beginning: String = escaped.chars().skip(1).take(4).collect();
            prop_assert!(!secrets.redact(&shown).contains(&beginning), "{shown}");
        }
    }
}
