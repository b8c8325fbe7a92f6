//! All that generated code may name. Not part of the public interface: it may change in any release.

#![allow(missing_docs)]

pub use crate::args::kinds::{Items, has_items, is_countable, is_number, is_text};
pub use crate::args::{
    Decode, DefaultValue, Describe, Fill, ParamDefault, ParamExtras, ParamSchema, ParamSpec, Probe, Shape,
    Unwritable, whole,
};
pub use crate::context::{StateNeed, ToolContext};
pub use crate::error::ToolError;
pub use crate::output::{Failure, Output, Returned, SchemaFn, Unconvertible, Undescribed};
pub use crate::registry::Registration;
pub use crate::schema::__private::type_name;
pub use crate::schema::Constraints;
pub use crate::tool::{
    CallFn, Function, FunctionTool, Invocation, ToolCell, ToolFuture, Toolset, UnknownArguments,
};
pub use core::option::Option::{None, Some};
pub use core::result::Result::{Err, Ok};
pub use {inventory, schemars, serde};

/// What the derive of `JsonSchema` counts on, for modules without a prelude.
pub mod params {
    pub use core::convert::{From as _, Into as _};
    pub use core::default::Default as _;
    pub use core::option::Option::Some;
}

/// The traits whose methods are found where a type has no inherent ones. Nameless, so that they hide
/// no name of the user.
pub mod prelude {
    pub use crate::args::{DefaultValueBySerialize as _, ProbePlain as _};
    pub use crate::output::{
        AlwaysSuccess as _, ByConversion as _, ByDisplay as _, ByError as _, BySerialize as _,
        Infallible as _, SchemaByConversion as _, SchemaByType as _,
    };
}
