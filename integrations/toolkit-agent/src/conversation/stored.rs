//! The forms of the fields of a conversation in JSON.

/// Serializes the session values of a conversation as a JSON object.
pub(super) mod session_values {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;
    use std::collections::BTreeMap;
    use toolkit_core::Session;

    pub(in super::super) fn is_empty(session: &Session) -> bool {
        session.store().snapshot().is_empty()
    }

    pub(in super::super) fn serialize<S: Serializer>(
        session: &Session,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        session.store().snapshot().serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Session, D::Error> {
        let values = BTreeMap::<String, Value>::deserialize(deserializer)?;
        Ok(Session::default().with_store(values.into_iter().collect()))
    }
}

/// Serializes shared text as a string.
pub(super) mod shared_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    pub(in super::super) fn serialize<S: Serializer>(
        text: &Arc<str>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (**text).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}
