//! Secrets to keep out of a recording.

use serde_json::{Map, Value};
use std::env;

/// The name endings of environment variables and fields with secret values, in lowercase.
const SECRET_ENDINGS: &[&str] = &["key", "token", "secret", "password", "authorization", "credentials"];

/// The minimum length of a secret in bytes. Shorter values are settings, and may occur inside other words.
const MIN_BYTES: usize = 8;

/// Secret strings and their replacements. Long secrets come first, because a secret may contain a shorter
/// secret.
#[derive(Clone)]
pub(super) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Collects the values of environment variables with secret names.
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
        if secret.len() >= MIN_BYTES {
            self.0.push((secret, format!("[{name}]")));
            self.0.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        }
    }

    /// Replaces the secrets in all strings inside `value`.
    pub(super) fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (secret, name) in &self.0 {
                    if text.contains(secret) {
                        *text = text.replace(secret, name);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.hide(member)),
            _ => {}
        }
    }

    /// Replaces the string values of fields with secret names, also in nested objects.
    pub(super) fn hide_fields(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields {
            match value {
                Value::Object(inner) => self.hide_fields(inner),
                Value::String(_) if is_secret(name) => *value = "[hidden]".into(),
                _ => {}
            }
        }
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|end| name.ends_with(end))
}
