//! Items used by macro-generated code and by servers of the integrations. They are not part of the public
//! API.
//!
//! Generated code stands in modules of users, whose traits may add methods to every type. A method called
//! with a dot is therefore inherent and takes `self` by value, so it is found first; or its name begins
//! with `toolkit_`, as all names do that are looked up in traits.

#![allow(missing_docs)]

use crate::call::ToolCall;
use crate::context::Session;
use std::borrow::Cow;

pub use crate::args::constraints::{Items, has_items, is_countable, is_number, is_parameter, is_text};
pub use crate::args::{
    DefaultJson, Fill, ParamDefault, ParamExtras, ParamSchema, ParamSpec, PlainVariants, ToolParams,
    default_value, set_default, struct_args,
};
pub use crate::context::{StateNeed, ToolContext};
pub use crate::definition::{
    BlockTools, CallFn, Function, FunctionTool, Invocation, MoreTools, Tool, ToolCell, ToolFuture, ToolTag,
    ToolsetWithoutExtends, UnknownArguments,
};
pub use crate::error::ToolError;
pub use crate::guard::lock;
pub use crate::output::probes::{Output, OutputType, Returned, SchemaFn};
pub use crate::registry::discover::Registration;
pub use crate::schema::__private::{constants_to_enum, remove_description, type_name};
pub use crate::schema::Constraints;
pub use crate::serve::{CallPermit, ServedCalls, dispatcher_for};
pub use core::option::Option::{None, Some};
pub use core::result::Result::{Err, Ok};
pub use {inventory, schemars, serde};

/// Approves later calls of `tool` that need approval for `reason`, as an approval for the session does.
pub fn grant(session: &Session, tool: &str, reason: &str) {
    crate::context::grant(session, tool, reason);
}

/// Returns the name of the tool that a call means: that of a deferred tool is in the arguments.
#[must_use]
pub fn target_of(call: &ToolCall) -> Cow<'_, str> {
    crate::search::target_of(call)
}

/// The type of a parameter: an alias, so that compiler messages name `ParamType` instead of this module.
pub type Parameter<T> = crate::args::ParamType<T>;

/// Resolves to the type `T`, and makes the compiler evaluate `CHECKED`, so that a failed check is a
/// compile error.
pub trait Checked<T, const CHECKED: bool> {
    type Type;
}

impl<T, const CHECKED: bool> Checked<T, CHECKED> for () {
    type Type = T;
}

pub mod trace {
    pub use crate::trace::*;
}

/// The names in code derived from `JsonSchema`, for modules without the standard prelude.
pub mod params {
    pub use core::convert::{From as _, Into as _};
    pub use core::default::Default as _;
    pub use core::option::Option::Some;

    pub use super::prelude::*;
}

/// Traits for method resolution in generated code, imported as `_`.
pub mod prelude {
    pub use crate::args::{
        DefaultByContainer as _, DefaultBySerialize as _, DefaultByVariant as _, PlainParamType as _,
    };
    pub use crate::output::probes::{
        AlwaysSuccess as _, ByConversion as _, ByDisplay as _, ByError as _, BySerialize as _,
        Infallible as _, SchemaByConversion as _, SchemaByType as _,
    };
}
