//! Requests in the JSON of a provider's API, and models that speak it.
//!
//! `toolkit_wire` reads and writes definitions, calls, results, responses and streams; this module adds the
//! other fields of a request.

mod request;
mod transport;

pub use request::request_body;
pub use transport::{EventStream, Fragment, Transport, WireModel, parse_response};
