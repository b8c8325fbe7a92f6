//! Reads and writes the JSON of payloads, and describes payloads in the wrong format.

mod blocked;
pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod texts;
pub(crate) mod unknown_fields;

pub use error::WireError;
