//! Redaction: hidden argument values are removed from every text about a call.

use serde_json::Value;
use std::collections::BTreeSet;

/// Replaces a hidden value in a text.
const HIDDEN: &str = "[hidden]";

/// The number of characters from which the beginning of a secret is hidden too, for texts that quote a long
/// value only in part.
const ENOUGH: usize = 16;

/// The minimum length, in bytes, of a part of a secret string that is hidden on its own.
const PART: usize = 4;

/// The texts to hide for one call: the hidden values, in every form in which an error may quote them.
#[derive(Debug, Default)]
pub(super) struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Adds the texts of a value. `true`, `false` and `null` reveal nothing.
    pub(super) fn add(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => members.values().for_each(|value| self.add(value)),
            Value::String(text) => {
                let escaped = Value::from(text.trim()).to_string();
                self.0.insert(escaped.trim_matches('"').to_owned());
                self.0.extend([text.trim().to_owned(), text.trim().escape_debug().to_string()]);
                // A string may be escaped several times, as in JSON inside of a JSON string. The parts
                // between its escapes are the same in every form.
                let plain = text.split(|c: char| c.is_control() || matches!(c, '"' | '\'' | '\\'));
                self.0.extend(plain.map(str::trim).filter(|part| part.len() >= PART).map(str::to_owned));
            }
            Value::Number(number) => {
                self.0.insert(number.to_string());
                let number = number.as_f64();
                self.0.extend(
                    number.into_iter().flat_map(|number| [number.to_string(), format!("{number:?}")]),
                );
            }
            Value::Bool(_) | Value::Null => {}
        }
        self.0.remove("");
    }

    /// Returns `text` with `[hidden]` in place of each hidden value and each beginning of a hidden value.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut left = text;
        let mut redacted = String::with_capacity(text.len());
        while let Some(c) = left.chars().next() {
            let before = redacted.chars().next_back().filter(|_| !redacted.ends_with(HIDDEN));
            let found = self.0.iter().filter_map(|secret| quoted(secret, left, before)).max();
            let (length, written) = match found {
                Some(length) => (length, HIDDEN),
                None => (c.len_utf8(), left.get(..c.len_utf8()).unwrap_or_default()),
            };
            redacted.push_str(written);
            left = left.get(length..).unwrap_or_default();
        }
        redacted
    }
}

/// Returns the number of bytes to hide at the start of `text`, or `None` if they do not reveal `secret`.
/// `before` is the character in front of `text`.
fn quoted(secret: &str, text: &str, before: Option<char>) -> Option<usize> {
    let same = secret.chars().zip(text.chars()).take_while(|(a, b)| a == b);
    let (characters, length) =
        same.fold((0, 0), |(count, length), (c, _)| (count + 1, length + c.len_utf8()));
    let mut rest = text.get(length..).unwrap_or_default().chars();
    // The secret 5 is not quoted in 5.25: a dot before a digit continues the number.
    let after =
        rest.next().map(|c| if c == '.' { rest.next().filter(char::is_ascii_digit).unwrap_or(c) } else { c });
    // A short secret is only found as a separate word: 7 is not quoted in 17.
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let goes_on = |a: Option<char>, b: Option<char>| is_word(a) && is_word(b);
    let last = text.get(..length).and_then(|text| text.chars().next_back());
    let is_alone = !goes_on(before, text.chars().next()) && !goes_on(last, after);
    let is_whole = length == secret.len() && (is_alone || characters >= ENOUGH);
    let is_cut = characters > 0 && after == Some('…') && !is_word(before);
    (is_whole || is_cut || characters >= ENOUGH).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(value: &Value, text: &str, redacted: &str) {
        let mut secrets = Secrets::default();
        secrets.add(value);
        assert_eq!(secrets.redact(text), redacted);
    }

    #[test]
    fn hidden_values_are_replaced_wherever_they_are_quoted() {
        check(&json!("sk-12"), "got string `\"sk-12\"`, not sk-123", "got string `\"[hidden]\"`, not sk-123");
        check(&json!({"a": [7, "x y"]}), "7 of 17: x y!", "[hidden] of 17: [hidden]!");
        check(&json!(5.0), "5 and 5.0 and 5.01", "[hidden] and [hidden] and 5.01");
        check(&json!("a\"b"), r#"a"b and {"k":"a\"b"}"#, r#"[hidden] and {"k":"[hidden]"}"#);
        check(&json!("abcdef"), "got \"abc…", "got \"[hidden]…");
        check(&json!(true), "true", "true");
        check(&json!(""), "nothing", "nothing");
    }

    proptest! {
        #[test]
        fn no_part_of_a_long_value_is_left(
            secret in "[a-zé\"\\\\\n ]{12}[0-9a-z]{8,60}",
            before in "[ -~]{0,20}",
            length in 1_usize..80,
        ) {
            let mut secrets = Secrets::default();
            secrets.add(&json!([{"key": secret}]));
            let value = json!({"key": secret}).to_string();
            let shown = crate::error::shorten_to(&value, length);
            let text = format!("{before} `{shown}`");
            let redacted = secrets.redact(&text);
            let trimmed = secret.trim();
            for form in [trimmed.to_owned(), Value::from(trimmed).to_string().trim_matches('"').to_owned()] {
                prop_assert!(!redacted.contains(&form), "{redacted}");
                let part: String = form.chars().take(ENOUGH).collect();
                prop_assert!(!redacted.contains(&part), "{redacted}");
            }
        }
    }
}
