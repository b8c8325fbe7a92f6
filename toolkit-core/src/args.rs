//! Decoding of arguments: from the JSON text of a call to typed parameters.
//!
//! Every parameter has a slot: an `Option` of its type. One function, shared by all tools, walks over the
//! JSON object once, and each slot parses its own value. If this fast path fails, slower code reads the
//! arguments by their contract: it coerces near misses and reports all violations.

mod aliases;
pub mod constraints;
mod decode;
mod default;
mod members;
mod param;
mod parameter_types;
mod read;
mod struct_args;

pub(crate) use aliases::Aliases;
pub(crate) use decode::decode;
pub use default::{
    DefaultByContainer, DefaultBySerialize, DefaultByVariant, DefaultJson, PlainVariants, default_value,
    set_default,
};
pub(crate) use members::{ObjectText, not_json};
pub use param::{Fill, ParamDefault, ParamExtras, ParamSchema, ParamSpec, PlainParamType};
pub(crate) use param::{Param, ParamType, parameters_schema};
pub use parameter_types::ToolParams;
pub(crate) use read::{ArgumentRules, given_twice, parse_value, read_arguments, unknown};
pub use struct_args::struct_args;
pub(crate) use struct_args::{close, decode_struct, is_object};
