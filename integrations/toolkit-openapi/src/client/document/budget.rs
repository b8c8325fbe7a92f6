//! How much may be made from a document.

use super::limits::OpenApiLimits;
use serde_json::Value;

/// The values that even a short document may become.
const LEAST: usize = 10_000;

/// The bytes of text that count as one value.
const BYTES_PER_VALUE: usize = 32;

/// Returns the number of values that `bytes` may become.
pub(crate) fn allowed(limits: &OpenApiLimits, bytes: usize) -> usize {
    limits.values.min(bytes.saturating_mul(limits.values_per_byte).max(LEAST))
}

pub(crate) fn of_text(bytes: usize) -> usize {
    1 + bytes / BYTES_PER_VALUE
}

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

pub(crate) struct Budget {
    pub(crate) limit: usize,
    /// `None` after more was needed than was left.
    left: Option<usize>,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, left: Some(limit) }
    }

    /// Takes values if they are left; if not, nothing is left from now on.
    pub(crate) fn take(&mut self, values: usize) -> bool {
        self.left = self.left.and_then(|left| left.checked_sub(values));
        self.left.is_some()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}

pub(crate) struct Meter {
    values: usize,
    bytes: usize,
    /// The maximum bytes of the schema in JSON.
    limit: usize,
}

impl Meter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { values: 0, bytes: 0, limit }
    }

    /// Counts values, and bytes of texts. Returns whether the schema may still be within its limit.
    pub(crate) fn add(&mut self, values: usize, bytes: usize) -> bool {
        self.values = self.values.saturating_add(values);
        self.bytes = self.bytes.saturating_add(bytes);
        !self.is_full()
    }

    /// Counts a value. Returns whether the schema may still be within its limit.
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

    /// Returns whether the schema surely exceeds its limit. Every value has a byte, and at most half of the
    /// texts are replaced by others.
    pub(crate) fn is_full(&self) -> bool {
        self.values > self.limit || self.bytes / 2 > self.limit
    }

    pub(crate) fn cost(&self) -> usize {
        self.values.saturating_add(self.bytes / BYTES_PER_VALUE)
    }
}
