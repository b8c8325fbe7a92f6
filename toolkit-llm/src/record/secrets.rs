//! The secrets that a recording must not contain.

use crate::stream::StreamEvent;
use serde_json::Value;
use std::collections::HashMap;
use std::env;
use std::mem::{Discriminant, discriminant};
use toolkit_core::CallId;
use toolkit_core::redaction::{Redactor, is_secret_name};

/// The minimum length of a secret in bytes. Shorter values are usually settings, and may occur inside of
/// words.
const MIN_BYTES: usize = 8;

#[derive(Clone)]
pub(super) struct Secrets(Redactor);

impl Secrets {
    /// Collects the environment variables with the name of a secret.
    pub(super) fn of_environment() -> Self {
        let mut secrets = Self(Redactor::new());
        for (name, value) in env::vars_os() {
            if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string())
                && is_secret_name(&name)
            {
                secrets.add(value, &name);
            }
        }
        secrets
    }

    pub(super) fn add(&mut self, secret: String, name: &str) {
        if secret.len() >= MIN_BYTES {
            self.0.add_marked(&secret, format!("[{name}]"));
        }
    }

    /// Replaces the secrets in all strings and member names.
    pub(super) fn hide(&self, value: &mut Value) {
        self.0.redact_value(value);
    }

    /// Replaces the values of all fields with the name of a secret, also in nested objects, except `null` and
    /// booleans.
    pub(super) fn hide_fields(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(Self::hide_fields),
            Value::Object(members) => {
                for (name, value) in members {
                    if is_secret_name(name) && !matches!(value, Value::Null | Value::Bool(_)) {
                        *value = "[hidden]".into();
                    }
                    Self::hide_fields(value);
                }
            }
            _ => {}
        }
    }

    /// Replaces the secrets in the deltas of a stream.
    ///
    /// If a secret is split between pieces, the first piece becomes the complete text, and the others are
    /// removed.
    pub(super) fn hide_in_deltas(&self, deltas: &mut Vec<StreamEvent>) {
        let mut texts: HashMap<_, String> = HashMap::new();
        for delta in deltas.iter_mut() {
            if let Some((key, piece)) = piece(delta) {
                texts.entry(key).or_default().push_str(piece);
            }
        }
        let mut hidden = HashMap::new();
        for (key, text) in texts {
            let redacted = self.0.redact(&text);
            if redacted != text {
                hidden.insert(key, Some(redacted));
            }
        }
        deltas.retain_mut(|delta| {
            let Some((key, piece)) = piece(delta) else { return true };
            let Some(text) = hidden.get_mut(&key) else { return true };
            *piece = text.take().unwrap_or_default();
            !piece.is_empty()
        });
    }
}

/// The kind of a streamed text, and the call whose arguments it is.
type TextKey = (Discriminant<StreamEvent>, Option<CallId>);

/// Returns the text in a delta, and the key of all pieces of this text.
fn piece(delta: &mut StreamEvent) -> Option<(TextKey, &mut String)> {
    let kind = discriminant(delta);
    match delta {
        StreamEvent::Text(piece) | StreamEvent::Reasoning(piece) => Some(((kind, None), piece)),
        StreamEvent::Arguments { id, piece } => Some(((kind, Some(id.clone())), piece)),
        _ => None,
    }
}
