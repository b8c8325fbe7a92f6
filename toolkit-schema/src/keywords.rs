//! Setting keywords: code that a program contains once.

use serde_json::{Map, Value};

/// The keywords of a schema.
pub trait Keywords {
    /// Returns a schema with one keyword.
    fn only(keyword: &str, value: Value) -> Self;

    /// Sets a keyword.
    fn set(&mut self, keyword: &str, value: Value);
}

impl Keywords for Map<String, Value> {
    #[inline(never)]
    fn only(keyword: &str, value: Value) -> Self {
        let mut keywords = Self::new();
        keywords.set(keyword, value);
        keywords
    }

    #[inline(never)]
    fn set(&mut self, keyword: &str, value: Value) {
        self.insert(keyword.to_owned(), value);
    }
}

#[inline(never)]
pub(crate) fn of_type(name: &str) -> Value {
    Map::only("type", name.into()).into()
}
