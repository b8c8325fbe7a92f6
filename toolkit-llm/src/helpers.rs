//! Macros and small functions used throughout the crate.

#[cfg(feature = "model")]
mod functions;
#[cfg(feature = "model")]
mod json_serializer;
#[cfg(feature = "model")]
mod json_writer;
#[macro_use]
mod macros;

#[cfg(feature = "model")]
pub use functions::{BoxFuture, MAX_NESTING, append_json};
#[cfg(feature = "model")]
pub use toolkit_core::__private::lock;
