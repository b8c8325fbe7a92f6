//! Redaction: hidden argument values are removed from every text about a call.

use super::encodings::{Unit, base64_forms, readings};
use foldhash::fast::RandomState;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

/// The text shown in place of a hidden value.
const HIDDEN: &str = "[hidden]";

/// The minimum length, in characters, of hidden strings that are also found inside of a longer word.
const GLUED: usize = 5;

/// The minimum and the maximum length, in characters, of the parts of a hidden string that are found separately.
/// Between these bounds, a part has a quarter of the string's characters.
const PART: (usize, usize) = (8, 16);

/// The minimum length, in bytes, of an object member to be removed if an ellipsis cuts it off.
const MEMBER: usize = 3;

/// The minimum length, in bytes, of a line or a quoted piece of a hidden string that is found separately.
const PIECE: usize = 4;

/// The hidden values of one call.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    values: Vec<Value>,
    /// The members of the arguments object that contain hidden arguments, as JSON text.
    members: Vec<String>,
    /// The texts to search for. Created when the first text is redacted, because most calls have no text to redact.
    texts: OnceLock<Texts>,
}

/// The texts of hidden values, in lowercase.
#[derive(Debug, Default)]
struct Texts {
    /// The texts of hidden values that are too short to be split into parts.
    short: BTreeSet<Vec<char>>,
    /// The parts of all other texts, by the length of the part.
    parts: BTreeMap<usize, HashSet<Vec<char>, RandomState>>,
    /// The texts to hide even if an ellipsis cuts them off.
    plain: BTreeSet<Vec<char>>,
}

impl Secrets {
    /// Adds a hidden value.
    pub(super) fn add(&mut self, value: &Value) {
        self.values.push(value.clone());
        self.texts = OnceLock::new();
    }

    /// Adds a hidden argument. In texts that quote the whole arguments object, the member is removed.
    pub(super) fn add_hidden(&mut self, name: &str, value: &Value) {
        self.members.push(format!("{}:{value}", Value::from(name)));
        self.add(value);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns `text` with `[hidden]` in place of each hidden value, in every letter case and encoding. The
    /// documentation of [`fixed`](super::ArgumentTransform::fixed) lists what is found.
    pub(super) fn redact(&self, text: &str) -> String {
        let texts = self.texts.get_or_init(|| {
            let mut texts = Texts::default();
            self.values.iter().for_each(|value| texts.add(value));
            texts
        });
        let text = &*self.without_members(text);
        let mut hidden = vec![false; text.len()];
        for units in readings(text) {
            let characters: Vec<char> = units.iter().map(|unit| lowercase(unit.character)).collect();
            texts.find(&characters, |found| {
                let units = units.get(found).unwrap_or_default();
                units.iter().for_each(|Unit { bytes, .. }| hidden[bytes.clone()].fill(true));
            });
        }
        let mut redacted = String::with_capacity(text.len());
        let mut was_hidden = false;
        for (at, c) in text.char_indices() {
            match (hidden[at], was_hidden) {
                (true, false) => redacted.push_str(HIDDEN),
                (true, true) => {}
                (false, _) => redacted.push(c),
            }
            was_hidden = hidden[at];
        }
        redacted
    }
}

impl Secrets {
    /// Returns `text` without the members for hidden arguments, even if an ellipsis cuts off a member.
    fn without_members(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for member in self.members.iter().flat_map(|member| [format!(",{member}"), member.clone()]) {
            text = text.replace(&member, "");
            let cuts: Vec<usize> = text.match_indices('…').map(|(cut, _)| cut).collect();
            for cut in cuts.into_iter().rev() {
                let is_cut = |length: &usize| {
                    let before = text.get(..cut).unwrap_or_default();
                    member.get(..*length).is_some_and(|beginning| before.ends_with(beginning))
                };
                if let Some(length) = (MEMBER..member.len()).rev().find(is_cut) {
                    text.replace_range(cut - length..cut, "");
                }
            }
        }
        text
    }
}

impl Texts {
    /// Adds the texts of a hidden value. `true`, `false` and `null` are skipped, because they reveal nothing.
    fn add(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => members.values().for_each(|value| self.add(value)),
            Value::String(text) => {
                let text = text.trim();
                self.add_plain(text);
                if text.len() >= GLUED {
                    for form in base64_forms(text.as_bytes()) {
                        self.add_text(form.chars().map(lowercase).collect());
                    }
                }
                let pieces = text.split(|c: char| c.is_control() || matches!(c, '"' | '\'' | '\\'));
                pieces
                    .map(str::trim)
                    .filter(|piece| piece.len() >= PIECE)
                    .for_each(|piece| self.add_plain(piece));
            }
            Value::Number(number) => {
                self.add_plain(&number.to_string());
                if let Some(number) = number.as_f64() {
                    self.add_plain(&number.to_string());
                    self.add_plain(&format!("{number:?}"));
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn add_plain(&mut self, text: &str) {
        let characters: Vec<char> = text.chars().map(lowercase).collect();
        self.plain.insert(characters.clone());
        self.add_text(characters);
    }

    fn add_text(&mut self, text: Vec<char>) {
        let part = (text.len() / 4).clamp(PART.0, PART.1);
        if text.len() >= part {
            self.parts.entry(part).or_default().extend(text.windows(part).map(<[char]>::to_vec));
        } else if !text.is_empty() {
            self.short.insert(text);
        }
    }

    /// Calls `found` with each range of `text` that reveals a hidden value.
    fn find(&self, text: &[char], mut found: impl FnMut(Range<usize>)) {
        for (length, parts) in &self.parts {
            for (start, part) in text.windows(*length).enumerate().filter(|(_, part)| parts.contains(*part)) {
                found(start..start + part.len());
            }
        }
        for secret in &self.short {
            let is_secret =
                |(start, window): &(usize, &[char])| *window == secret && is_separate(secret, text, *start);
            for (start, _) in text.windows(secret.len()).enumerate().filter(is_secret) {
                found(start..start + secret.len());
            }
        }
        // An ellipsis may cut off a secret, so that the text contains only its beginning.
        for end in text.iter().enumerate().filter(|(_, c)| **c == '…').map(|(end, _)| end) {
            for secret in &self.plain {
                let is_beginning = |start: &usize| {
                    let before = start.checked_sub(1).and_then(|before| text.get(before));
                    text.get(*start..end) == secret.get(..end - start)
                        && !before.is_some_and(|before| before.is_alphanumeric())
                };
                if let Some(start) = (end.saturating_sub(secret.len())..end).find(is_beginning) {
                    found(start..end);
                }
            }
        }
    }
}

fn lowercase(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Returns whether `secret`, found at the index `start` of `text`, stands alone instead of being part of a longer word
/// or number.
fn is_separate(secret: &[char], text: &[char], start: usize) -> bool {
    let end = start + secret.len();
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    // The secret 5 is not quoted in 5.25: a dot before a digit continues the number.
    let after = match text.get(end) {
        Some('.') => text.get(end + 1).filter(|c| c.is_ascii_digit()).or(Some(&'.')),
        after => after,
    };
    let is_number = secret.iter().all(|c| !c.is_alphabetic());
    let goes_on = |own: Option<&char>, other: Option<&char>| match (own, other) {
        (Some(own), Some(other)) if is_number || secret.len() < GLUED => {
            own.is_alphanumeric()
                && other.is_alphanumeric()
                && (secret.len() < GLUED || other.is_ascii_digit())
        }
        _ => false,
    };
    !goes_on(secret.first(), before) && !goes_on(secret.last(), after)
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
        check(&json!("sk-1"), "got string `\"sk-1\"`, not sk-13", "got string `\"[hidden]\"`, not sk-13");
        check(&json!({"a": [7, "x y"]}), "7 of 17: x y!", "[hidden] of 17: [hidden]!");
        check(&json!(5.0), "5 and 5.0 and 5.01", "[hidden] and [hidden] and 5.01");
        check(&json!(123_456), "123456, a123456b, 1234567", "[hidden], a[hidden]b, 1234567");
        check(&json!("a\"b"), r#"a"b and {"k":"a\"b"}"#, r#"[hidden] and {"k":"[hidden]"}"#);
        check(&json!("abcdef"), "got \"abc…", "got \"[hidden]…");
        check(&json!("a\nb\"cdef"), r#"got "a\nb\…"#, r#"got "[hidden]\…"#);
        check(&json!("a+b/c"), "?q=a%2Bb%…&q=a%2Bb%2…", "?q=[hidden]%…&q=[hidden]%2…");
        check(&json!("<é>"), r"&lt;&eac…, <\u00…", r"[hidden]&eac…, [hidden]\u00…");
        check(&json!(true), "true", "true");
        check(&json!(""), "nothing", "nothing");
    }

    #[test]
    fn members_for_hidden_arguments_are_left_out() {
        let mut secrets = Secrets::default();
        secrets.add_hidden("key", &json!("sk-1"));
        for (text, redacted) in [
            (r#"got object {"q":1,"key":"sk-1"}"#, r#"got object {"q":1}"#),
            (r#"got object {"key":"sk-1"}"#, "got object {}"),
            (r#"got object {"q":1,"key":"s…"#, r#"got object {"q":1…"#),
            (r#"got object {"q":1,"ke…, {"ke…"#, r#"got object {"q":1…, {…"#),
        ] {
            assert_eq!(secrets.redact(text), redacted);
        }
    }

    #[test]
    fn encodings_letter_case_and_long_parts_are_found() {
        check(&json!("hunter2"), "userhunter2x HUNTER2 hunter", "user[hidden]x [hidden] hunter");
        check(&json!("p@ss w/1"), "?key=p%40ss%20w%2F1&a=p%40ss+w%2f1", "?key=[hidden]&a=[hidden]");
        check(&json!("a<b>'c'"), "a&lt;b&gt;&#39;c&#x27;", "[hidden]");
        check(&json!("a\"\nbc"), r#""{\"k\": \"a\\\"\\nbc\"}""#, r#""{\"k\": \"[hidden]\"}""#);
        check(
            &json!("ünï👍"),
            r"\u00fcn\u00ef\ud83d\udc4d or \u{fc}n\u{ef}\u{1f44d}",
            "[hidden] or [hidden]",
        );
        check(&json!("0123456789abcdef"), "ends with 89abcdef, 6789ab", "ends with [hidden], 6789ab");
        check(&json!("hunter2"), "Basic dXNlcjpodW50ZXIyIQ==", "Basic dXNlcjp[hidden]IQ==");
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
                let part: String = form.chars().take(PART.1).collect();
                prop_assert!(!redacted.contains(&part), "{redacted}");
            }
        }

        #[test]
        fn every_text_can_be_redacted(secret in ".{0,20}", text in r#"[%\\u&#x;{}a-f0-9+"… é]{0,60}"#) {
            let mut secrets = Secrets::default();
            secrets.add(&json!(secret));
            secrets.add_hidden(&secret, &json!(&text));
            secrets.redact(&text);
            prop_assert_eq!(Secrets::default().redact(&text), text);
        }
    }
}
