//! Arguments: from the JSON text of a call to typed parameters.
//!
//! Every parameter has a slot, an `Option` of its type. One function, the same for all tools, walks
//! the object once and lets each slot parse its own value where it stands. Only when something is
//! wrong is the text read a second time, slowly and thoroughly, to coerce what can be meant and to
//! report everything else.

mod canonical;
pub mod constraints;
mod decode;
mod default;
#[cfg(feature = "jsonschema")]
mod dynamic;
mod explain;
mod fields;
mod members;
mod param;
mod place;
mod whole;

pub(crate) use canonical::canonical_arguments;
pub(crate) use decode::{Rules, decode};
pub use default::{DefaultValue, DefaultValueBySerialize, ParamDefault, Unwritable};
#[cfg(feature = "jsonschema")]
pub(crate) use dynamic::DynamicArgs;
pub(crate) use explain::unknown;
pub(crate) use members::{Member, arguments_value, with_members, with_object};
pub(crate) use param::Param;
pub(crate) use param::parameters_schema;
pub use param::{Decode, Describe, Fill, ParamExtras, ParamSchema, ParamSpec, Probe, ProbePlain, ToolParams};
pub use whole::{Shape, whole};
pub(crate) use whole::{close, decode_whole};
