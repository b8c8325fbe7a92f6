//! JSON Schemas: generated from types, tidied, and described in words.

mod describe;
mod generate;
mod tidy;
mod walk;

pub(crate) use describe::{Step, describe, lookup};
pub(crate) use generate::SchemaBuilder;
pub use generate::schema_of;
pub use tidy::tidy;
