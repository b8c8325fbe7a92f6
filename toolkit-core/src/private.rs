//! Everything named by generated code. Not public interface: it may change in any release.

#![allow(missing_docs)]

pub use crate::args::constraints::{Items, has_items, is_countable, is_number, is_parameter, is_text};
pub use crate::args::{
    Fill, ObjectInfo, ParamDefault, ParamExtras, ParamSchema, ParamSpec, PlainVariants, ToolParams,
    default_value, set_default, struct_args,
};
pub use crate::context::{StateNeed, ToolContext};
pub use crate::error::ToolError;
pub use crate::output::probes::Output;
pub use crate::output::schema_probes::{Returned, SchemaFn};
pub use crate::registry::discover::Registration;
pub use crate::schema::__private::type_name;
pub use crate::schema::Constraints;
pub use crate::tool::{
    BlockTools, CallFn, Function, FunctionTool, Invocation, MoreTools, Tool, ToolCell, ToolFuture, Toolset,
    UnknownArguments, tools_of,
};
pub use core::option::Option::{None, Some};
pub use core::result::Result::{Err, Ok};
pub use {inventory, schemars, serde};

/// The type of a parameter. An alias, because the compiler names `Probe` in messages, and would name this module.
pub type Parameter<T> = crate::args::Probe<T>;

/// The type `T`, if the check `CHECKED` succeeds. If it fails, the type is an error that the compiler has reported.
pub trait Checked<T, const CHECKED: bool> {
    type Type;
}

impl<T, const CHECKED: bool> Checked<T, CHECKED> for () {
    type Type = T;
}

/// Names for the derive of `JsonSchema` in modules without a prelude.
pub mod params {
    pub use core::convert::{From as _, Into as _};
    pub use core::default::Default as _;
    pub use core::option::Option::Some;

    pub use super::prelude::*;
}

/// The traits of method resolution, imported without names to shadow none of the user.
pub mod prelude {
    pub use crate::args::{DefaultBySerialize as _, DefaultByVariant as _, ProbePlain as _};
    pub use crate::output::probes::{
        ByConversion as _, ByDisplay as _, ByError as _, BySerialize as _, Infallible as _,
    };
    pub use crate::output::schema_probes::{AlwaysSuccess as _, SchemaByConversion as _, SchemaByType as _};
}
