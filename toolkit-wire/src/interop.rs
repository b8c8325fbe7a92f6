//! Converts tools and calls to and from the data formats of other systems.

mod neutral;
pub mod openjiuwen;

pub use neutral::{definition_from_neutral, definition_to_neutral};
