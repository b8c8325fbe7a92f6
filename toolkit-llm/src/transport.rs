//! Request bodies in the JSON of a provider's API, and models over your own transport.

mod background;
mod extra;
mod fragment;
mod request;
mod response;
mod settings;
mod stream;
mod wire_model;

pub use crate::facts::Server;
pub use fragment::EventStream;
#[doc(hidden)]
pub use request::native_losses;
pub use request::{EncodedRequest, encode_request};
pub use response::parse_response;
pub use wire_model::{Transport, WireModel};
