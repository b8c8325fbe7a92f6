//! One connection to a server: its endpoint, its handshake and its requests.

mod endpoint;
mod handshake;
mod listing_pace;
#[cfg(feature = "client-http")]
mod mcp_url;
mod pages;
mod server_requests;
#[cfg(feature = "client-http")]
mod server_url;
mod session;
mod session_span;

pub use endpoint::McpEndpoint;
pub(super) use listing_pace::ListingPace;
#[cfg(feature = "client-http")]
pub use mcp_url::McpUrl;
pub(super) use pages::{ListedPage, PageParams};
pub(super) use server_requests::{MOST_QUESTIONS, ServerRequestHandler};
pub use session::McpServerInfo;
pub(super) use session::{CLOSING, Pending, Session};
