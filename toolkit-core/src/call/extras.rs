//! Provider-specific fields of a call.

use crate::depth::readable;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Provider-specific fields of a call, to be sent back with it: Gemini's `thoughtSignature`, the `namespace` and
/// `caller` of Responses, and the like.
///
/// The fields carry the name of their API and are never sent to another one. Clones are cheap; a call without extras
/// allocates nothing.
///
/// ```
/// use toolkit::call::ProviderExtras;
///
/// let fields = serde_json::json!({"thoughtSignature": "CpcB"});
/// let extras = ProviderExtras::new("gemini", fields.as_object().cloned().unwrap_or_default());
/// assert_eq!(extras.get("gemini", "thoughtSignature").unwrap(), "CpcB");
/// assert!(extras.get("anthropic", "thoughtSignature").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Option<Origin>", into = "Option<Origin>")]
#[must_use]
pub struct ProviderExtras(Option<Arc<Origin>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    api: String,
    #[serde(serialize_with = "readable_fields")]
    fields: Map<String, Value>,
}

fn readable_fields<S: Serializer>(fields: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    readable(fields, fields.values(), serializer)
}

impl ProviderExtras {
    /// Creates the extras of an API, by the name of its format; without fields there are no extras.
    pub fn new(api: &str, fields: Map<String, Value>) -> Self {
        if fields.is_empty() {
            return Self::default();
        }
        Self(Some(Arc::new(Origin { api: api.to_owned(), fields })))
    }

    /// Returns whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the fields, if they came from this API.
    #[must_use]
    pub fn of(&self, api: &str) -> Option<&Map<String, Value>> {
        let origin = self.0.as_deref()?;
        (origin.api == api).then_some(&origin.fields)
    }

    /// Returns one field, if it came from this API.
    #[must_use]
    pub fn get(&self, api: &str, field: &str) -> Option<&Value> {
        self.of(api)?.get(field)
    }
}

impl From<Option<Origin>> for ProviderExtras {
    fn from(origin: Option<Origin>) -> Self {
        Self(origin.map(Arc::new))
    }
}

impl From<ProviderExtras> for Option<Origin> {
    fn from(extras: ProviderExtras) -> Self {
        extras.0.map(Arc::unwrap_or_clone)
    }
}
