//! Rewriting a JSON object: members are dropped, renamed or added; the rest stays as written.

use serde_json::Value;
use std::ptr;

pub(super) struct Rewriting<'a> {
    object: &'a str,
    /// The number of processed bytes of `object`.
    read: usize,
    written: String,
    is_empty: bool,
}

impl<'a> Rewriting<'a> {
    pub(super) fn new(object: &'a str) -> Self {
        let mut written = String::with_capacity(object.len() + 32);
        written.push('{');
        Self { object, read: 1, written, is_empty: true }
    }

    /// Drops the next member and returns the text before its value.
    ///
    /// `value` must be a slice of the object's text: its address gives the position.
    pub(super) fn skip(&mut self, value: &str) -> &'a str {
        let start = ptr::from_ref(value).addr() - ptr::from_ref(self.object).addr();
        let before = self.object.get(self.read..start).unwrap_or_default();
        self.read = start + value.len();
        before
    }

    /// Copies the next member, under `name` if given.
    pub(super) fn keep(&mut self, value: &str, name: Option<&str>) {
        let mut before = self.skip(value);
        if std::mem::replace(&mut self.is_empty, false) {
            before = before.trim_start().trim_start_matches(',');
        }
        let own_name = before.find('"').zip(before.rfind('"'));
        match (name, own_name) {
            (Some(name), Some((start, end))) => {
                self.written.push_str(before.get(..start).unwrap_or_default());
                self.written.push_str(&Value::from(name).to_string());
                self.written.push_str(before.get(end + 1..).unwrap_or_default());
            }
            _ => self.written.push_str(before),
        }
        self.written.push_str(value);
    }

    pub(super) fn add(&mut self, name: &str, value: &Value) {
        let comma = if std::mem::replace(&mut self.is_empty, false) { "" } else { "," };
        self.written.push_str(&format!("{comma}{}:{value}", Value::from(name)));
    }

    pub(super) fn finish(mut self) -> String {
        self.written.push_str(self.object.get(self.read..).unwrap_or_default());
        self.written
    }
}
