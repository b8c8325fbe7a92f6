//! Provider-specific fields of a call.

use crate::depth::serialize_within_depth;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Provider-specific fields of a call, sent back with the call. Examples are Gemini's `thoughtSignature`,
/// and `namespace` and `caller` of the Responses API.
///
/// The fields carry the name of their API and never go to another. Clones are cheap, and empty extras
/// allocate nothing.
///
/// ```
/// use toolkit_ai::call::ProviderExtras;
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
    serialize_within_depth(fields, fields.values(), serializer)
}

impl ProviderExtras {
    /// Creates the extras of a call. `api` is the name of the API's format, such as `gemini`.
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

    /// Returns the name of the API's format and the fields; `None` without fields.
    #[must_use]
    pub fn origin(&self) -> Option<(&str, &Map<String, Value>)> {
        self.0.as_deref().map(|origin| (origin.api.as_str(), &origin.fields))
    }

    /// Returns the fields if they belong to the API format `api`.
    #[must_use]
    pub fn for_api(&self, api: &str) -> Option<&Map<String, Value>> {
        let origin = self.0.as_deref()?;
        if origin.api == api { Some(&origin.fields) } else { None }
    }

    /// Returns `field` if the fields belong to the API format `api`.
    #[must_use]
    pub fn get(&self, api: &str, field: &str) -> Option<&Value> {
        self.for_api(api)?.get(field)
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
