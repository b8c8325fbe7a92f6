//! Requests to language models and their answers; the types that most programs name are at the root of the
//! crate.

pub mod answer;
mod bill;
mod boxed;
pub(crate) mod chat_model;
mod chat_span;
pub(crate) mod error;
mod fallback;
mod forward;
pub(crate) mod options;
mod overflow;
pub(crate) mod price;
mod priced;
mod report;
pub(crate) mod request;
pub(crate) mod retry;
pub(crate) mod scripted;
mod settings;
pub(crate) mod stream;

pub use crate::message::RequestLoss;
#[doc(hidden)]
pub use bill::{Account, Bill, Billing, Unreported};
pub use boxed::BoxModel;
pub(crate) use chat_model::ChatModel;
#[doc(hidden)]
pub use chat_span::{ChatCaller, ChatSpan, record_server};
pub(crate) use error::{ModelError, ModelErrorKind, has_media};
pub use fallback::Fallback;
pub(crate) use forward::forward_properties;
pub(crate) use options::ModelOptions;
pub use options::{OutputFormat, OutputLosses};
pub(crate) use price::Price;
pub use priced::Priced;
pub(crate) use request::ModelRequest;
pub use retry::Retrying;
pub use settings::{CachePoint, Effort, PromptCache, ServerState, ServiceTier, Thinking};
pub(crate) use stream::ModelStream;
