//! JSON Schemas: generated from types, tidied, described in words, compared with values and with each other.

mod aliases;
mod choice;
mod constraints;
mod describe;
mod dialect;
mod diff;
mod faults;
mod format;
mod generate;
mod hash;
mod limits;
mod meant;
mod tidy;
#[cfg(feature = "jsonschema")]
mod validate;
mod walk;

pub(crate) use aliases::{property_named, without_aliases};
pub use constraints::Constraints;
pub(crate) use describe::{describe, value_in_words};
pub use dialect::{ConvertedSchema, SchemaDialect, SchemaLoss};
pub use diff::{Compatibility, SchemaChange, SchemaChangeKind, SchemaDiff};
pub(crate) use faults::{Fault, Step, broken_constraints, faults, missing, path};
pub(crate) use generate::{SchemaBuilder, judged_schema_of, written_schema};
pub use generate::{schema_of, type_name};
pub use hash::schema_hash;
pub(crate) use limits::has_demands;
pub(crate) use meant::as_meant;
pub(crate) use tidy::keep_notes;
pub use tidy::tidy;
#[cfg(feature = "jsonschema")]
pub(crate) use validate::{CompiledSchema, SchemaFault};
pub(crate) use walk::each_schema;

/// Marks an `enum` that is a constraint, not the list of a type's variants, until the schema is tidied.
const ONE_OF: &str = "x-one-of";
