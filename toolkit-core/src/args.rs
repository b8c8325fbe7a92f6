//! Arguments: from the JSON text of a call to typed parameters.
//!
//! Every parameter has a slot, an `Option` of its type. One function, shared by all tools, walks the object once
//! and lets each slot parse its value in place. Only a faulty text is read a second time, by slower code that
//! coerces near misses and reports all violations.

mod canonical;
pub mod constraints;
mod decode;
mod default;
#[cfg(feature = "jsonschema")]
mod dynamic;
mod explain;
mod fields;
mod members;
mod options;
mod param;
mod place;
mod struct_args;

pub(crate) use canonical::canonical_arguments;
pub(crate) use decode::decode;
pub use default::{
    DefaultBySerialize, DefaultByVariant, ParamDefault, PlainVariants, default_value, set_default,
};
#[cfg(feature = "jsonschema")]
pub(crate) use dynamic::DynamicArgs;
pub(crate) use explain::unknown;
pub(crate) use members::{Member, arguments_value, with_members, with_object};
pub(crate) use options::DecodeOptions;
pub use param::{Fill, ParamExtras, ParamSchema, ParamSpec, ProbePlain, ToolParams};
pub(crate) use param::{Param, Probe, parameters_schema};
pub use struct_args::{ObjectInfo, struct_args};
pub(crate) use struct_args::{close, decode_struct};
