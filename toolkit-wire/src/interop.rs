//! Conversions to the shapes in which other systems describe tools and calls.

mod neutral;
pub mod openjiuwen;

pub use neutral::{definition_from_neutral, definition_to_neutral};
