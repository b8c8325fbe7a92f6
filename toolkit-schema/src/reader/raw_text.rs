//! The text of a value, as `serde_json` keeps it.

use super::ReadError;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, MapAccess};

/// The name by which serde_json's `RawValue` asks for text.
pub const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Text for serde_json's `RawValue`.
pub(super) struct RawText<'t>(pub(super) Option<&'t str>);

impl<'t> MapAccess<'t> for RawText<'t> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        if self.0.is_none() {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW_VALUE)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        seed.deserialize(BorrowedStrDeserializer::new(self.0.take().unwrap_or_default()))
    }
}
