//! What a provider says about a call beyond its id, name and arguments, and wants back with it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a provider says about a call beyond its id, name and arguments, and wants back with it:
/// Gemini's `thoughtSignature`, the `namespace` and `caller` of Responses, and whatever comes next year.
///
/// The fields mean something to the API that sent them only, so they carry its name, and no other API
/// gets them. Clones are cheap; a call without extras allocates nothing.
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
pub struct ProviderExtras(Option<Arc<Origin>>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    api: String,
    fields: Map<String, Value>,
}

impl ProviderExtras {
    /// The fields that an API (the [name](crate::ApiFormat::name) of its format) wants back; none is
    /// the same as no extras.
    #[must_use]
    pub fn new(api: &str, fields: Map<String, Value>) -> Self {
        if fields.is_empty() {
            return Self::default();
        }
        Self(Some(Arc::new(Origin { api: api.to_owned(), fields })))
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The fields, if they came from this API.
    #[must_use]
    pub fn of(&self, api: &str) -> Option<&Map<String, Value>> {
        let origin = self.0.as_deref()?;
        (origin.api == api).then_some(&origin.fields)
    }

    /// One field, if it came from this API.
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
