//! Request bodies in the JSON of a provider's API, and models over your own transport.
//!
//! The crate `toolkit_wire` encodes and decodes tool definitions, calls, results, responses and streams. This
//! module adds the other fields of a request body, such as instructions and options.

mod background;
mod cache;
mod draft;
mod extra;
mod fragment;
mod request;
mod response;
mod settings;
mod state;
mod stream;
mod thinking;
mod transport;

pub use draft::Server;
#[cfg(feature = "_http")]
pub(crate) use fragment::without_secrets;
pub use fragment::{EventStream, Fragment};
#[cfg(feature = "genai")]
pub(crate) use request::native_losses;
pub use request::{EncodedRequest, encode_request, request_body};
pub use response::parse_response;
pub use transport::{Transport, WireModel};
