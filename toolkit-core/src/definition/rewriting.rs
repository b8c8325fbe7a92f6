//! Rewriting the text of a JSON object: members are dropped, renamed or added, and all others stay as
//! written.

use serde_json::Value;
use std::ptr;

/// The state of rewriting a JSON object: the original text, and the text written so far.
pub(super) struct Rewriting<'a> {
    object: &'a str,
    /// The number of bytes of `object` already processed.
    read: usize,
    written: String,
    is_empty: bool,
}

impl<'a> Rewriting<'a> {
    /// Starts rewriting `object`, the text of a JSON object from brace to brace.
    pub(super) fn new(object: &'a str) -> Self {
        let mut written = String::with_capacity(object.len() + 32);
        written.push('{');
        Self { object, read: 1, written, is_empty: true }
    }

    /// Drops the next member and returns the text before the member's value.
    ///
    /// `value` must be a slice of the object's text, because the address of the slice gives the position.
    pub(super) fn skip(&mut self, value: &str) -> &'a str {
        let start = ptr::from_ref(value).addr() - ptr::from_ref(self.object).addr();
        let before = self.object.get(self.read..start).unwrap_or_default();
        self.read = start + value.len();
        before
    }

    /// Copies the next member. If `name` is given, the copy gets this name.
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

    /// Adds a new member after the members written so far.
    pub(super) fn add(&mut self, name: &str, value: &Value) {
        let comma = if std::mem::replace(&mut self.is_empty, false) { "" } else { "," };
        self.written.push_str(&format!("{comma}{}:{value}", Value::from(name)));
    }

    /// Returns the rewritten text of the object.
    pub(super) fn finish(mut self) -> String {
        self.written.push_str(self.object.get(self.read..).unwrap_or_default());
        self.written
    }
}
