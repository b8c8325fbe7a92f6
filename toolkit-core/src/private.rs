//! Everything named by generated code. Not public interface: it may change in any release.

#![allow(missing_docs)]

pub use crate::args::constraints::{Items, has_items, is_countable, is_number, is_text};
pub use crate::args::{
    Decode, DefaultValue, Describe, Fill, ObjectInfo, ParamDefault, ParamExtras, ParamSchema, ParamSpec,
    ParamType, Unwritable, struct_args,
};
pub use crate::context::{StateNeed, ToolContext};
pub use crate::error::ToolError;
pub use crate::output::probes::{Failure, Output, Returned, SchemaFn, Unconvertible, Undescribed};
pub use crate::registry::discover::Registration;
pub use crate::schema::__private::type_name;
pub use crate::schema::Constraints;
pub use crate::tool::{
    CallFn, Function, FunctionTool, Invocation, Tool, ToolCell, ToolFuture, Toolset, UnknownArguments, shared,
};
pub use core::option::Option::{None, Some};
pub use core::result::Result::{Err, Ok};
pub use {inventory, schemars, serde};

/// Names for the derive of `JsonSchema` in modules without a prelude.
pub mod params {
    pub use core::convert::{From as _, Into as _};
    pub use core::default::Default as _;
    pub use core::option::Option::Some;
}

/// The traits of method resolution, imported without names to shadow none of the user.
pub mod prelude {
    pub use crate::args::{DefaultValueBySerialize as _, PlainParamType as _};
    pub use crate::output::probes::{
        AlwaysSuccess as _, ByConversion as _, ByDisplay as _, ByError as _, BySerialize as _,
        Infallible as _, SchemaByConversion as _, SchemaByType as _,
    };
}
