//! Redaction: secrets of the program are removed from what other programs send.
//!
//! A service may repeat what it got, such as the key of a request. What arrives is [`Unread`] until a
//! [`Redactor`] with the secrets has read it. Texts are shortened afterwards, because a part of a secret
//! cannot be found.
//!
//! ```
//! use toolkit_ai::redaction::{Redactor, Unread};
//!
//! let mut redactor = Redactor::new();
//! redactor.add("sk/123456");
//! let answer = Unread::new(r#"{"error": "`sk\/123456` is no key", "see": "/keys?key=sk%2F123456"}"#);
//! assert_eq!(answer.text(&redactor).as_str(), r#"{"error": "`…` is no key", "see": "/keys?key=…"}"#);
//! ```

mod spelling;

use crate::schema::__private::sort_by;
use serde_json::Value;
use spelling::{Escapes, without_cut_escape};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The minimum length of a secret in bytes.
const SHORTEST: usize = 6;

/// The minimum length of the beginning of a secret at the end of a cut text, in bytes.
const BEGINNING: usize = 4;

/// The depth of nested escapes, such as JSON in a string of JSON, with a URL in it.
const LAYERS: usize = 3;

/// The number of partial escapes that are read at the end of a cut text.
const CUT_PARTS: usize = 16;

const MARK: &str = "…";

/// The secrets of a program, to be removed from texts.
///
/// A secret is found as it is, and as JSON, URLs and forms escape it, also nested, but not in Base64 or
/// HTML. Secrets shorter than six bytes are ignored, because they could be ordinary words. `Debug` shows
/// no secret.
///
/// ```
/// use toolkit_ai::redaction::Redactor;
///
/// let redactor = Redactor::from(vec!["key=123456".to_owned()]);
/// assert_eq!(redactor.redact("`key=123456`, `key%3D123456`, `key\\u003d123456`"), "`…`, `…`, `…`");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<SecretText>,
}

#[derive(Clone, PartialEq, Eq)]
struct SecretText {
    text: String,
    mark: Cow<'static, str>,
}

/// A secret part of a text, and its mark.
type Marked<'a> = (Range<usize>, &'a str);

impl Redactor {
    /// Creates a redactor without secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a secret, to be replaced by `…`.
    pub fn add(&mut self, secret: &str) {
        self.insert(secret, MARK.into());
    }

    /// Adds a secret, to be replaced by `mark`.
    pub fn add_marked(&mut self, secret: &str, mark: impl Into<String>) {
        self.insert(secret, mark.into().into());
    }

    /// Adds a secret as it stands in a URL, a cookie or a form, and decoded.
    pub fn add_encoded(&mut self, secret: &str) {
        self.add(secret);
        if let Some(decoded) = Escapes::Url.decoded(secret, None) {
            self.add(&decoded);
        }
    }

    fn insert(&mut self, secret: &str, mark: Cow<'static, str>) {
        let secret = SecretText { text: folded(secret).into_owned(), mark };
        if secret.text.len() >= SHORTEST && !self.secrets.contains(&secret) {
            self.secrets.push(secret);
        }
    }

    /// Adds the secrets of another redactor.
    pub fn extend(&mut self, other: &Self) {
        for secret in &other.secrets {
            self.insert(&secret.text, secret.mark.clone());
        }
    }

    /// Returns whether there is no secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns a complete text without secrets.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        replaced(text, self.find(text, LAYERS, false))
    }

    /// Returns a text without secrets, also without a partial one at its cut end.
    #[must_use]
    pub fn redact_cut(&self, text: &str) -> String {
        replaced(text, self.find(text, LAYERS, true))
    }

    /// Removes the secrets from all strings and names of members. Returns whether there were any.
    pub fn redact_value(&self, value: &mut Value) -> bool {
        let mut is_changed = false;
        match value {
            Value::String(text) => is_changed = self.redact_string(text),
            Value::Array(items) => {
                for item in items {
                    is_changed |= self.redact_value(item);
                }
            }
            Value::Object(members) => {
                for (mut name, mut member) in std::mem::take(members) {
                    is_changed |= self.redact_string(&mut name) | self.redact_value(&mut member);
                    members.insert(name, member);
                }
            }
            _ => {}
        }
        is_changed
    }

    fn redact_string(&self, text: &mut String) -> bool {
        let found = self.find(text, LAYERS, false);
        let is_found = !found.is_empty();
        if is_found {
            *text = replaced(text, found);
        }
        is_found
    }

    fn find(&self, text: &str, layers: usize, is_cut: bool) -> Vec<Marked<'_>> {
        let mut found = Vec::new();
        if self.secrets.is_empty() {
            return found;
        }
        let plain = folded(text);
        for secret in &self.secrets {
            let matches = plain.match_indices(&secret.text);
            found.extend(matches.map(|(at, part)| (at..at + part.len(), &*secret.mark)));
            let beginning = if is_cut { beginning_at_end(&secret.text, &plain) } else { None };
            found.extend(beginning.map(|start| (start..text.len(), &*secret.mark)));
        }
        if layers == 0 {
            return found;
        }
        for escapes in [Escapes::Json, Escapes::Url] {
            let Some(decoded) = escapes.decoded(text, None) else { continue };
            let inside = self.find(&decoded, layers - 1, is_cut);
            if inside.is_empty() {
                continue;
            }
            let mut steps = Vec::new();
            escapes.decoded(text, Some(&mut steps));
            found.extend(inside.into_iter().map(|(range, mark)| (spelling::place(&steps, &range), mark)));
        }
        found
    }
}

/// Returns whether an environment variable, a field or a parameter holds a secret.
///
/// The name then ends with `key`, `token`, `secret`, `password`, `authorization` or `credentials`.
///
/// ```
/// use toolkit_ai::redaction::is_secret_name;
///
/// assert!(is_secret_name("OPENAI_API_KEY") && !is_secret_name("KEY_COUNT"));
/// ```
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "authorization", "credentials"]
        .iter()
        .any(|end| name.ends_with(end))
}

impl From<Vec<String>> for Redactor {
    fn from(secrets: Vec<String>) -> Self {
        let mut redactor = Self::new();
        for secret in &secrets {
            redactor.add(secret);
        }
        redactor
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

/// Returns a text of the same length with spaces for `+`, as in forms.
fn folded(text: &str) -> Cow<'_, str> {
    if text.contains('+') { text.replace('+', " ").into() } else { text.into() }
}

/// Returns where a secret begins at the end of a cut text, perhaps before partial escapes.
fn beginning_at_end(secret: &str, text: &str) -> Option<usize> {
    let mut end = text;
    for _ in 0..CUT_PARTS {
        for length in (BEGINNING..secret.len()).rev() {
            if secret.get(..length).is_some_and(|beginning| end.ends_with(beginning)) {
                return Some(end.len() - length);
            }
        }
        end = without_cut_escape(end);
    }
    None
}

fn replaced(text: &str, mut found: Vec<Marked<'_>>) -> String {
    sort_by(&mut found, |(a, _), (b, _)| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (range, mark) in found {
        if range.start >= end {
            result.push_str(text.get(end..range.start).unwrap_or_default());
            result.push_str(mark);
        }
        end = end.max(range.end);
    }
    result.push_str(text.get(end..).unwrap_or_default());
    result
}

/// What another program has sent, with secrets. `Debug` shows the length.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Unread {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Unread {
    /// Wraps what has arrived completely.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), is_cut: false }
    }

    /// Wraps the beginning of what has arrived, perhaps with a partial secret.
    #[must_use]
    pub fn cut(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), is_cut: true }
    }

    /// Returns the text without secrets. Bytes that are not UTF-8 become `�`.
    #[must_use]
    pub fn text(&self, redactor: &Redactor) -> Redacted {
        let text = String::from_utf8_lossy(&self.bytes);
        Redacted(replaced(&text, redactor.find(&text, LAYERS, self.is_cut)).into())
    }

    /// Returns whether nothing has arrived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns whether the bytes are UTF-8.
    #[must_use]
    pub fn is_text(&self) -> bool {
        std::str::from_utf8(&self.bytes).is_ok()
    }

    /// Returns the bytes with the secrets in them, for formats that are no text.
    #[must_use]
    pub fn bytes_with_secrets(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unread").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// A text of another program without the secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redacted(Arc<str>);

impl Redacted {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as JSON, if it is.
    #[must_use]
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.0).ok()
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
