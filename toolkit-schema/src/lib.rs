//! JSON Schema for LLM tools: generation, description, checks, coercion, and conversion to the dialects of
//! providers.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

mod bounds;
mod check;
mod closed;
mod coerce;
mod constraints;
mod contract;
mod default;
mod depth;
mod describe;
mod dialect;
mod diff;
mod discriminator;
mod encoding;
mod fault;
mod flatten;
mod format;
mod generate;
mod hash;
mod index;
mod json;
mod json_repair;
pub mod keyword;
mod keywords;
mod marks;
mod nearest;
mod normal;
mod number;
mod order;
mod pattern;
mod plan;
mod properties;
mod property_names;
mod reader;
mod reference;
mod rename;
mod sample;
mod tidy;
mod types;
#[cfg(feature = "jsonschema")]
mod validate;
mod violation;
mod words;

pub use check::violations;
pub use coerce::coerce;
pub use constraints::{Bound, Constraints};
pub use describe::describe;
pub use dialect::{ConvertedSchema, SchemaDialect, SchemaLoss};
pub use diff::{Compatibility, SchemaChange, SchemaChangeKind, SchemaDiff};
pub use generate::{output_schema_of, schema_of};
pub use hash::schema_hash;
pub use json::canonical_json;
pub use nearest::nearest;
pub use reference::SchemaRef;
pub use sample::sample;
pub use tidy::tidy;
#[cfg(feature = "jsonschema")]
pub use validate::{CompiledSchema, SchemaError};
pub use violation::{Violation, ViolationKind};

/// Internals for the other crates of toolkit. It may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::contract::{Contract, ReadValue, Unpublished};
    pub use crate::default::{check_null_default, set_default};
    pub use crate::depth::{MAX_DEPTH, nests_deeper};
    pub use crate::encoding::base64;
    pub use crate::fault::{Fault, faults};
    pub use crate::generate::{SchemaBuilder, argument_schema_of, output_schema, type_name};
    pub use crate::index::Names;
    pub use crate::json::{Json, Kind, Member, members_of, quoted, raw_json};
    pub use crate::json_repair::extract_object;
    pub use crate::keywords::Keywords;
    pub use crate::number::Decimal;
    pub use crate::order::{distinct, sort_by, sort_names};
    pub use crate::property_names::{rename_members, rename_properties};
    pub use crate::reader::{Arguments, RAW_VALUE, ReadError, Reader};
    pub use crate::reference::{LoopExits, fit_references};
    pub use crate::tidy::{constants_to_enum, remove_description, tidy_arguments, with_notes};
    pub use crate::words::{shorten, shorten_to, value_in_words};
}
