//! The guards of servers: allowed hosts and origins, a bearer token, limits of time and size, and a graceful end.
//!
//! A server holds [`HttpGuards`] and passes each request through [`guard`](HttpGuards::guard):
//!
//! ```no_run
//! use http::{Request, Response};
//! use std::sync::Arc;
//! use toolkit_http::server::{HttpBody, HttpGuards, Refusal, terminated};
//!
//! async fn answer(guards: Arc<HttpGuards>, request: Request<HttpBody>) -> Response<HttpBody> {
//!     let answer = guards.guard(request, async |parts, body| {
//!         if let Err(refusal) = guards.authorize(&parts.headers) {
//!             return refusal.into_response();
//!         }
//!         match guards.read_body(body).await {
//!             Ok(bytes) => Response::new(format!("{} bytes", bytes.len()).into()),
//!             Err(refusal) => refusal.into_response(),
//!         }
//!     });
//!     answer.await.unwrap_or_else(Refusal::into_response)
//! }
//!
//! # async fn run() -> std::io::Result<()> {
//! let guards = Arc::new(HttpGuards::new("POST", ""));
//! let listener = guards.bind("127.0.0.1:8000").await?;
//! let shared = guards.clone();
//! guards.serve(listener, move |request| answer(shared.clone(), request), terminated()).await;
//! # Ok(())
//! # }
//! ```

mod accept;
mod allowed;
mod arriving_bodies;
mod guards;
mod http_body;
mod limit_setters;
mod path;
mod peer_limits;
mod refusal;
mod write_timeout;

pub use accept::terminated;
pub use guards::{HttpGuards, bearer};
pub use http_body::HttpBody;
pub use path::checked_path;
pub use peer_limits::PeerLimits;
pub use refusal::Refusal;

#[cfg(test)]
mod tests;
