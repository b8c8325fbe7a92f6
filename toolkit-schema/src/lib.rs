//! JSON Schema for tools: generated from types, tidied, described, compared, and converted to providers' dialects.

mod aliases;
mod choice;
mod coerce;
mod constraints;
mod describe;
mod dialect;
mod diff;
mod faults;
mod format;
mod generate;
mod hash;
mod limits;
mod nearest;
mod tidy;
#[cfg(feature = "jsonschema")]
mod validate;
mod violation;
mod walk;

pub use aliases::{aliases, without_aliases};
pub use coerce::coerce;
pub use constraints::Constraints;
pub use describe::{describe, value_in_words};
pub use dialect::{ConvertedSchema, SchemaDialect, SchemaLoss};
pub use diff::{Compatibility, SchemaChange, SchemaChangeKind, SchemaDiff};
pub use faults::{Fault, Step, broken_constraints, faults, missing, path};
pub use generate::{SchemaBuilder, judged_schema_of, schema_of, type_name, written_schema};
pub use hash::schema_hash;
pub use limits::has_demands;
pub use nearest::nearest;
pub use tidy::{keep_notes, tidy};
#[cfg(feature = "jsonschema")]
pub use validate::{CompiledSchema, SchemaFault};
pub use violation::{Violation, ViolationKind, shorten, shorten_to};
pub use walk::each_schema;

/// Marks an `enum` that is a constraint, not the list of a type's variants, until the schema is tidied.
const ONE_OF: &str = "x-one-of";

/// The code of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
