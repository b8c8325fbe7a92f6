//! Streamed responses: the events in the bytes, the pieces in the events, and their parts.

pub(crate) mod assembly;
mod event;
pub(crate) mod event_stream;
pub(crate) mod indexed;
pub(crate) mod merge;
pub(crate) mod part;
pub(crate) mod parts;
pub(crate) mod paths;
pub(crate) mod scan;
mod sse;

pub use event::StreamEvent;
