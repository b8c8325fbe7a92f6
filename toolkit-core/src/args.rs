//! Decoding of arguments: from the JSON text of a call to typed parameters.
//!
//! Every parameter has a slot: an `Option` of the parameter's type. One function, shared by all tools, walks
//! over the JSON object once and lets each slot parse its own value. Only if this fast path fails, slower
//! code reads the arguments a second time. The slower code coerces near misses, such as `"5"` for an integer,
//! and reports all violations.

mod compared;
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
mod slot;
mod struct_args;

pub(crate) use decode::decode;
pub use default::{
    DefaultByContainer, DefaultBySerialize, DefaultByVariant, DefaultJson, PlainVariants, default_value,
    set_default,
};
#[cfg(feature = "jsonschema")]
pub(crate) use dynamic::DynamicArgs;
pub(crate) use explain::{check_json, given_twice, parse_value, unknown};
pub(crate) use members::{Member, not_an_object, not_json, with_members, with_object};
pub(crate) use options::DecodeOptions;
pub(crate) use param::{Param, ParamType, parameters_schema};
pub use param::{ParamDefault, ParamExtras, ParamSchema, ParamSpec, PlainParamType};
pub use slot::{Fill, ToolParams};
pub use struct_args::{ObjectInfo, struct_args};
pub(crate) use struct_args::{close, decode_struct};
