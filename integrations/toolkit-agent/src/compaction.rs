//! Compaction: shorter requests for conversations that outgrow the context window of a model.

mod count;
mod settings;
mod summary;

pub use count::{CountTokens, TokenEstimate};
pub use settings::Compaction;
pub(crate) use settings::{Bounds, Summarizer};
pub use summary::SummaryRequest;
pub(crate) use summary::{indented, paragraphs};
