//! Functions for the cache points of a request.

use super::RequestBuilder;
use crate::model::PromptCache;
use serde_json::Value;

/// Adds the long lifetime to a cache point, if the settings ask for it.
pub(crate) fn with_lifetime(mut point: Value, cache: &PromptCache) -> Value {
    if cache.long_lifetime
        && let Some(fields) = point.as_object_mut()
    {
        fields.insert("ttl".to_owned(), "1h".into());
    }
    point
}

impl RequestBuilder<'_> {
    /// Returns the content of the last message.
    pub(crate) fn last_content(&mut self) -> Option<&mut Value> {
        self.body.get_mut("messages")?.as_array_mut()?.last_mut()?.get_mut("content")
    }
}
