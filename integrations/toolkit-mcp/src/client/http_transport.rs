//! The transport over HTTP, with a token for each request.

mod event_stream;
mod http_answer;
mod token_client;
mod token_source;

pub(super) use token_client::{ServerStream, TokenClient};
pub(super) use token_source::DynTokenSource;
pub use token_source::{McpToken, TokenChallenge, TokenRequest, TokenSource};
