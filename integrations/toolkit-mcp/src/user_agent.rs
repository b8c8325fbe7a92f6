//! The name of this library in requests over HTTP.

use http::header::HeaderValue;

pub(crate) const USER_AGENT_VALUE: HeaderValue =
    HeaderValue::from_static(concat!("toolkit-mcp/", env!("CARGO_PKG_VERSION")));
