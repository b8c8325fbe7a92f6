//! What must not stand in a recording.

use serde_json::{Map, Value};
use std::env;

/// How the names of variables and fields end that hold secrets.
const NAMES: &[&str] = &["key", "token", "secret", "password", "authorization", "credentials"];

/// A shorter value is no secret, but a setting, and would be found in other words.
const SHORTEST: usize = 8;

/// Texts that must not be written, and what is written for them. The longest stand first, because one may be a part of
/// another.
#[derive(Clone)]
pub(super) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// The values of the environment whose names say that they are secrets.
    pub(super) fn of_environment() -> Self {
        let mut secrets = Self(Vec::new());
        for (name, value) in env::vars_os() {
            if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string())
                && is_telling(&name)
            {
                secrets.add(value, &name);
            }
        }
        secrets
    }

    pub(super) fn add(&mut self, secret: String, name: &str) {
        if secret.len() >= SHORTEST {
            self.0.push((secret, format!("[{name}]")));
            self.0.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        }
    }

    /// Hides the secrets in all texts of a value.
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

    /// Hides the values of fields whose names say that they are secrets.
    pub(super) fn hide_fields(&self, fields: &mut Map<String, Value>) {
        for (name, value) in fields {
            match value {
                Value::Object(inner) => self.hide_fields(inner),
                Value::String(_) if is_telling(name) => *value = "[hidden]".into(),
                _ => {}
            }
        }
    }
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|end| name.ends_with(end))
}
