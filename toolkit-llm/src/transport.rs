//! Request bodies in the JSON of a provider's API, and models over your own transport.

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
mod wire_model;

pub use draft::Server;
#[doc(hidden)]
pub use fragment::without_secrets;
pub use fragment::{EventStream, Fragment};
#[doc(hidden)]
pub use request::native_losses;
pub use request::{EncodedRequest, encode_request, request_body};
pub use response::parse_response;
pub use wire_model::{Transport, WireModel};
