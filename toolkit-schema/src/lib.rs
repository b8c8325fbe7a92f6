//! JSON Schema for LLM tools: generation, description, checks, coercion, and conversion to the dialects of
//! providers.
#![doc = include_str!("../README.md")]

mod bounds;
mod check;
mod coerce;
mod constraints;
mod default;
mod describe;
mod dialect;
mod diff;
mod discriminator;
mod disjoint;
mod effective;
mod fault;
mod format;
mod generate;
mod hash;
mod json;
pub mod keyword;
mod meaning;
mod mend;
mod nearest;
mod number;
mod optional;
mod own;
mod pattern;
mod probe;
mod properties;
mod reference;
mod sample;
mod single;
mod tidy;
mod time;
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
pub use keyword::{Subschema, booleans_to_objects, each_subschema, subschemas};
pub use nearest::nearest;
pub use reference::SchemaRef;
pub use tidy::tidy;
#[cfg(feature = "jsonschema")]
pub use validate::{CompiledSchema, SchemaError};
pub use violation::{Violation, ViolationKind};

/// Internals for the other crates of toolkit. This module may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::bounds::has_constraints;
    pub use crate::check::{
        Scope, TOO_COMPLEX, check, missing, repeated_names, repeated_names_in, rounded, roundings,
    };
    pub use crate::coerce::{check_decoded, coerced, coerced_except_words, coerced_with_words};
    pub use crate::default::{check_null_default, set_default, strip_faulty_default};
    pub use crate::fault::{Fault, fault, mark_unusable, strip_unusable};
    pub use crate::generate::{SchemaBuilder, argument_schema_of, output_schema, type_name};
    pub use crate::json::{Json, Kind, Member, members_of, quoted};
    pub use crate::meaning::{remove_defaults, use_own_members, use_own_names};
    pub use crate::mend::object_in;
    pub use crate::number::Decimal;
    pub use crate::own::{Enforcements, mark_enforced, mark_lists_of_author, strip_aliases, unmark_all};
    pub use crate::probe::{Difference, difference};
    pub use crate::properties::{aliases, mark_exact};
    pub use crate::single::mark_overflowing;
    pub use crate::tidy::{constants_to_enum, remove_description, tidy_arguments, with_notes};
    pub use crate::words::{shorten, shorten_to, value_in_words};
}
