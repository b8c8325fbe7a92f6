//! Short digests, which keep names apart.

use toolkit_core::schema::schema_hash;

/// The length of a digest in a name, in characters.
pub(crate) const DIGEST: usize = 6;

pub(crate) fn digest(text: &str) -> String {
    schema_hash(&text.into()).chars().take(DIGEST).collect()
}
