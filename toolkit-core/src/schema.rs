//! JSON Schemas: generated from types, tidied, described in words, compared with values.

mod describe;
mod faults;
mod generate;
mod tidy;
mod walk;

pub(crate) use describe::{describe, value_in_words};
pub(crate) use faults::{Step, faults, missing};
pub(crate) use generate::SchemaBuilder;
pub use generate::schema_of;
pub use tidy::tidy;
