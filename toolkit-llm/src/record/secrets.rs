//! The secrets that a recording must not contain.

use crate::StreamEvent;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::env;
use std::mem::{Discriminant, discriminant};
use toolkit_core::CallId;

/// The endings that mark an environment variable or a field as secret, in lowercase.
const SECRET_ENDINGS: &[&str] = &["key", "token", "secret", "password", "authorization", "credentials"];

/// The minimum length of a secret in bytes. Shorter values are usually settings, and could occur inside of
/// words.
const MIN_BYTES: usize = 8;

/// Secrets, each with its replacement. Long secrets come first, because a secret may contain a shorter one.
#[derive(Clone)]
pub(super) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Collects the values of all environment variables with the name of a secret.
    pub(super) fn of_environment() -> Self {
        let mut secrets = Self(Vec::new());
        for (name, value) in env::vars_os() {
            if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string())
                && is_secret(&name)
            {
                secrets.add(value, &name);
            }
        }
        secrets
    }

    pub(super) fn add(&mut self, secret: String, name: &str) {
        if secret.len() < MIN_BYTES {
            return;
        }
        // Inside of JSON text, such as the arguments of a call, characters of the secret may be escaped.
        let quoted = Value::from(secret.as_str()).to_string();
        let in_json = quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned();
        self.0.extend([(in_json, format!("[{name}]")), (secret, format!("[{name}]"))]);
        self.0.sort_by_key(|(secret, _)| Reverse(secret.len()));
    }

    /// Returns `text` with all secrets replaced, or `None` if `text` contains no secret.
    fn hidden(&self, text: &str) -> Option<String> {
        let found = self.0.iter().filter(|(secret, _)| text.contains(secret));
        found.fold(None, |hidden: Option<String>, (secret, name)| {
            Some(hidden.as_deref().unwrap_or(text).replace(secret, name))
        })
    }

    /// Replaces the secrets in all strings and member names of a JSON value.
    pub(super) fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(hidden) = self.hidden(text) {
                    *text = hidden;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| self.hide(member));
                if members.keys().any(|name| self.hidden(name).is_some()) {
                    let all = std::mem::take(members).into_iter();
                    *members = all.map(|(name, value)| (self.hidden(&name).unwrap_or(name), value)).collect();
                }
            }
            _ => {}
        }
    }

    /// Replaces the values of all fields with the name of a secret, also in nested objects. `null` and
    /// booleans stay unchanged.
    pub(super) fn hide_fields(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(Self::hide_fields),
            Value::Object(members) => {
                for (name, value) in members {
                    if is_secret(name) && !matches!(value, Value::Null | Value::Bool(_)) {
                        *value = "[hidden]".into();
                    }
                    Self::hide_fields(value);
                }
            }
            _ => {}
        }
    }

    /// Replaces the secrets in the deltas of a stream. A secret may be split between the pieces of a text. If so, the
    /// first piece becomes the complete text, and the other pieces are removed.
    pub(super) fn hide_in_deltas(&self, deltas: &mut Vec<StreamEvent>) {
        let mut texts: HashMap<_, String> = HashMap::new();
        for delta in deltas.iter_mut() {
            if let Some((key, piece)) = piece(delta) {
                texts.entry(key).or_default().push_str(piece);
            }
        }
        let hidden = |text: String| {
            // Parsed first, because the model may have escaped more characters than necessary.
            let plain = serde_json::from_str::<Value>(&text).ok().map(|value| value.to_string());
            plain.and_then(|plain| self.hidden(&plain)).or_else(|| self.hidden(&text))
        };
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Some(hidden(text)?))));
        let mut texts: HashMap<_, Option<String>> = texts.collect();
        deltas.retain_mut(|delta| {
            let Some((key, piece)) = piece(delta) else { return true };
            let Some(text) = texts.get_mut(&key) else { return true };
            *piece = text.take().unwrap_or_default();
            !piece.is_empty()
        });
    }
}

/// The kind of a streamed text, and its call if the text is the arguments of a call.
type TextKey = (Discriminant<StreamEvent>, Option<CallId>);

/// Returns the piece of text in a delta, and the key that all pieces of the same text have.
fn piece(delta: &mut StreamEvent) -> Option<(TextKey, &mut String)> {
    let kind = discriminant(delta);
    match delta {
        StreamEvent::Text(piece) | StreamEvent::Reasoning(piece) => Some(((kind, None), piece)),
        StreamEvent::Arguments { id, piece } => Some(((kind, Some(id.clone())), piece)),
        _ => None,
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|end| name.ends_with(end))
}
