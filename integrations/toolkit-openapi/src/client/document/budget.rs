//! How much may be made from a document.

use super::limits::OpenApiLimits;
use serde_json::Value;

/// The number of values that any document may become, so that short documents are not limited by their length.
const LEAST: usize = 10_000;

/// The number of bytes of text that count as one value.
const BYTES_PER_VALUE: usize = 32;

/// Returns the number of values that a document of `bytes` may become.
pub(crate) fn allowed(limits: &OpenApiLimits, bytes: usize) -> usize {
    limits.values.min(bytes.saturating_mul(limits.values_per_byte).max(LEAST))
}

/// Returns the number of values that a text counts as.
pub(crate) fn of_text(bytes: usize) -> usize {
    1 + bytes / BYTES_PER_VALUE
}

/// Returns the number of values that a JSON value counts as.
pub(crate) fn of_value(value: &Value) -> usize {
    match value {
        Value::String(text) => of_text(text.len()),
        Value::Array(items) => 1 + items.iter().map(of_value).sum::<usize>(),
        Value::Object(members) => {
            let mut values = 1;
            for (name, member) in members {
                values += name.len() / BYTES_PER_VALUE + of_value(member);
            }
            values
        }
        _ => 1,
    }
}

/// The values that may still be made from a document.
pub(crate) struct Budget {
    pub(crate) limit: usize,
    /// `None` after more was needed than was left.
    left: Option<usize>,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, left: Some(limit) }
    }

    /// Takes a number of values. Returns whether they were left; if not, nothing is left from now on.
    pub(crate) fn take(&mut self, values: usize) -> bool {
        self.left = self.left.and_then(|left| left.checked_sub(values));
        self.left.is_some()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}

/// What was written for the schema of one tool.
pub(crate) struct Meter {
    values: usize,
    bytes: usize,
    /// The maximum size of the schema, in bytes of JSON.
    limit: usize,
}

impl Meter {
    /// Creates the meter of a schema that may have `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { values: 0, bytes: 0, limit }
    }

    /// Counts values, and bytes of names and texts. Returns whether the schema may still be within its limit.
    pub(crate) fn add(&mut self, values: usize, bytes: usize) -> bool {
        self.values = self.values.saturating_add(values);
        self.bytes = self.bytes.saturating_add(bytes);
        !self.is_full()
    }

    /// Counts a value that is taken over from the document. Returns whether the schema may still be within its limit.
    pub(crate) fn add_value(&mut self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.add(1, text.len()),
            Value::Array(items) => self.add(1, 0) && items.iter().all(|item| self.add_value(item)),
            Value::Object(members) => {
                if !self.add(1, 0) {
                    return false;
                }
                for (name, value) in members {
                    if !self.add(0, name.len()) || !self.add_value(value) {
                        return false;
                    }
                }
                true
            }
            _ => self.add(1, 0),
        }
    }

    /// Returns whether the schema is larger than its limit for sure. Every value has a byte, and at most half of the
    /// texts are replaced by others.
    pub(crate) fn is_full(&self) -> bool {
        self.values > self.limit || self.bytes / 2 > self.limit
    }

    /// Returns the number of values that the schema counts as.
    pub(crate) fn cost(&self) -> usize {
        self.values.saturating_add(self.bytes / BYTES_PER_VALUE)
    }
}
