//! The rendered `tools` of a request, made once and shared.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// The list that a request carries as its `tools`, rendered once. Clones are cheap, and serialising
/// it into a request copies the text.
#[derive(Clone)]
pub struct Definitions(Arc<RawValue>);

impl Definitions {
    pub(crate) fn new(tools: &[Value]) -> Self {
        let rendered = serde_json::value::to_raw_value(tools).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self(rendered.into())
    }

    /// The list as JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The list as a value, for programs that build their requests of values.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.as_json()).unwrap_or_default()
    }
}

impl Serialize for Definitions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Display for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}
