//! Parts of JSON answers: chosen fields, and the beginnings of lists.

use serde_json::{Map, Value};

/// Returns the value with only these fields, which are named with dots.
pub(super) fn chosen(value: &Value, fields: &[impl AsRef<str>]) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| chosen(item, fields)).collect(),
        Value::Object(members) => {
            let mut picked = Map::new();
            for (name, value) in members {
                let mut is_whole = false;
                let mut inside: Vec<&str> = Vec::new();
                for field in fields {
                    match field.as_ref().strip_prefix(name.as_str()) {
                        Some("") => is_whole = true,
                        Some(rest) => inside.extend(rest.strip_prefix('.')),
                        None => {}
                    }
                }
                if is_whole {
                    picked.insert(name.clone(), value.clone());
                } else if !inside.is_empty() {
                    picked.insert(name.clone(), chosen(value, &inside));
                }
            }
            Value::Object(picked)
        }
        single => single.clone(),
    }
}

/// Returns whether a value is nothing but empty objects and lists.
pub(super) fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_hollow),
        Value::Object(members) => members.values().all(is_hollow),
        _ => false,
    }
}

/// Cuts all lists after `limit` items. Returns a sentence for each of up to five cut lists.
pub(super) fn cut_lists(value: &mut Value, limit: usize) -> Vec<String> {
    const SENTENCES: usize = 5;
    let mut sentences = Vec::new();
    let mut pending = vec![(value, String::new())];
    while let Some((value, path)) = pending.pop() {
        match value {
            Value::Array(items) => {
                if items.len() > limit {
                    let what = if path.is_empty() { "The list".to_owned() } else { format!("`{path}`") };
                    sentences.push(format!("{what} has {} items; the first {limit} are shown.", items.len()));
                    items.truncate(limit);
                }
                for (index, item) in items.iter_mut().enumerate() {
                    pending.push((item, format!("{path}[{index}]")));
                }
            }
            Value::Object(members) => {
                let dot = if path.is_empty() { "" } else { "." };
                for (name, value) in members {
                    pending.push((value, format!("{path}{dot}{name}")));
                }
            }
            _ => {}
        }
    }
    sentences.truncate(SENTENCES);
    sentences
}
