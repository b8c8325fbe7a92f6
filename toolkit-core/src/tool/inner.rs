//! The data shared by function tools and closure tools.

use super::{ClosureTool, FunctionTool, ToolDefinition, ToolMetadata, UnknownArguments};
use crate::args::{self, DecodeOptions, ObjectInfo, Param, ToolParams};
use crate::context::ToolContext;
use crate::error::ToolError;
use serde_json::Value;
use std::sync::Arc;

/// The definition of a tool, and the data for decoding the tool's arguments.
#[derive(Debug, Clone)]
pub(super) struct ToolInner {
    pub(super) definition: ToolDefinition,
    pub(super) params: Vec<Param<'static>>,
    /// For each parameter, whether the schema has constraints that decoding does not check, such as `maximum`.
    has_constraints: Vec<bool>,
    /// The data of the arguments struct, for a tool with a struct instead of `params`.
    info: Option<ObjectInfo>,
}

impl ToolInner {
    /// Creates the data of a tool with a separate function parameter for each argument.
    pub(super) fn of_params(
        mut definition: ToolDefinition,
        params: Vec<Param<'static>>,
        has_constraints: Vec<bool>,
    ) -> Self {
        for param in &params {
            let aliases = param.aliases().iter().map(|alias| ((*alias).to_owned(), param.name.to_owned()));
            definition.aliases.extend(aliases);
        }
        let is_none = |param: &&Param<'static>| param.none_if_null();
        definition.none_if_null = params.iter().filter(is_none).map(|param| param.name).collect();
        Self::new(definition, params, has_constraints, None)
    }

    /// Creates the data of a tool with one struct for all arguments.
    pub(super) fn of_struct(definition: ToolDefinition, info: ObjectInfo) -> Self {
        Self::new(definition, Vec::new(), Vec::new(), Some(info))
    }

    fn new(
        mut definition: ToolDefinition,
        params: Vec<Param<'static>>,
        has_constraints: Vec<bool>,
        info: Option<ObjectInfo>,
    ) -> Self {
        definition.strip_aliases();
        if let Some(info) = &info {
            let listed = definition.parameters.get("properties").and_then(Value::as_object);
            let is_listed = |name: &str| {
                definition.parameter_named(name).is_some() || listed.is_some_and(|all| all.contains_key(name))
            };
            definition.unlisted =
                info.fields().map(|fields| fields.iter().copied().filter(|name| !is_listed(name)).collect());
        }
        let mut inner = Self { definition, params, has_constraints, info };
        inner.close();
        inner
    }

    /// Makes the schemas refuse or allow unknown arguments, according to the metadata.
    fn close(&mut self) {
        let ToolDefinition { parameters, with_aliases, metadata, .. } = &mut self.definition;
        let closed = metadata.unknown == UnknownArguments::Refuse;
        for schema in std::iter::once(parameters).chain(with_aliases) {
            match &self.info {
                Some(info) => info.close(schema, closed),
                None => args::close(schema, closed),
            }
        }
    }

    /// Returns the options for decoding the arguments of one call.
    #[inline]
    pub(super) fn options<'a>(&'a self, context: &'a ToolContext) -> DecodeOptions<'a> {
        let ToolDefinition { parameters, with_aliases, metadata, .. } = &self.definition;
        DecodeOptions {
            schema: with_aliases.as_ref().unwrap_or(parameters),
            has_constraints: &self.has_constraints,
            refuse_unknown: metadata.unknown == UnknownArguments::Refuse,
            coerce: metadata.coerce && context.may_coerce(),
            context: Some(context),
        }
    }

    /// Decodes the arguments into one struct; `None` for a tool with separate parameters.
    pub(super) fn decode_struct<T: ToolParams>(
        &self,
        arguments: &str,
        context: &ToolContext,
    ) -> Option<Result<T, ToolError>> {
        let decoded = args::decode_struct(arguments, self.info.as_ref()?, &self.options(context));
        Some(decoded.and_then(|value| context.end_check().map(|()| value)))
    }
}

macro_rules! inner_setters {
    ($($ty:ident)*) => {$(
        impl $ty {
            pub(super) fn definition_mut(&mut self) -> &mut ToolDefinition {
                &mut Arc::make_mut(&mut self.inner).definition
            }

            /// Changes the metadata with the function `change`.
            ///
            /// ```
            /// use toolkit::{ClosureTool, Tool};
            ///
            /// let add = ClosureTool::without_arguments("add", "Adds.", || 1)?;
            /// let add = add.with_metadata(|metadata| metadata.with_title("Add").with_read_only(true));
            /// assert_eq!(add.definition().metadata.read_only, Some(true));
            /// # Ok::<(), toolkit::BuildError>(())
            /// ```
            #[must_use]
            pub fn with_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
                let inner = Arc::make_mut(&mut self.inner);
                inner.definition.metadata = change(std::mem::take(&mut inner.definition.metadata));
                inner.close();
                self
            }

            /// Sets the [output schema](ToolDefinition::output_schema). Neither the schema nor the tool's
            /// output is checked.
            #[must_use]
            pub fn with_output_schema(mut self, schema: Value) -> Self {
                self.definition_mut().output = super::definition::OutputSchema::known(schema);
                self
            }
        }
    )*};
}

inner_setters! { FunctionTool ClosureTool }
