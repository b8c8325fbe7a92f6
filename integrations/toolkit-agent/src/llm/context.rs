//! What the model reads: the history as a request, kept within the model's context window.

pub(super) mod compact;
pub(super) mod history;
pub(super) mod meter;
pub(super) mod plan;
pub(super) mod reduce;
pub(super) mod request;
pub(super) mod summaries;
