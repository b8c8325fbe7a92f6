//! The data common to function and closure tools.

use super::made_once::ContractCell;
use super::{ClosureTool, FunctionTool, ToolDefinition, ToolMetadata, UnknownArguments};
use crate::args::{self, ArgumentRules, Param, ToolParams};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::schema::__private::{Contract, Fault, Unpublished};
use serde_json::Value;
use std::sync::Arc;

/// The definition of a tool, and the data for decoding its arguments.
#[derive(Debug, Clone)]
pub(super) struct TypedTool {
    pub(super) definition: ToolDefinition,
    /// The parameters. Empty for a struct of all arguments.
    pub(super) params: Vec<Param<'static>>,
}

impl TypedTool {
    /// Creates the data of a tool, whose schema still has the internal keywords of Rust types.
    pub(super) fn new(mut definition: ToolDefinition, params: Vec<Param<'static>>) -> Self {
        let unpublished = unpublished(&definition.metadata);
        let schema = &mut definition.parameters;
        args::close(schema, unpublished == Unpublished::Refused);
        let contract = match no_object(schema) {
            Some(fault) => Err(fault),
            None => Contract::of_type(schema, unpublished),
        };
        let aliases = &mut definition.aliases;
        for param in &params {
            for alias in param.aliases() {
                aliases.insert((*alias).to_owned(), param.name.to_owned());
            }
        }
        if let Ok(contract) = &contract {
            for (alias, name) in contract.aliases(schema) {
                aliases.insert(alias.to_owned(), name.to_owned());
            }
        }
        definition.contract = ContractCell::made(contract);
        definition.reads_arguments = true;
        Self { definition, params }
    }

    /// Applies the setting for unknown arguments.
    fn close(&mut self) {
        let unpublished = unpublished(&self.definition.metadata);
        let Ok(contract) = self.definition.contract() else { return };
        if contract.unpublished() == unpublished {
            return;
        }
        let (contract, schema) = contract
            .changed(&self.definition.parameters, unpublished, |schema| closed(schema.clone(), unpublished));
        self.definition.parameters = schema;
        self.definition.contract = ContractCell::made(Ok(contract));
    }

    pub(super) fn decode_struct<T: ToolParams>(
        &self,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<T, ToolError> {
        let value = args::decode_struct(arguments, &self.rules(context)?)?;
        context.end_check().map(|()| value)
    }

    #[inline]
    pub(super) fn rules<'a>(&'a self, context: &'a ToolContext) -> Result<ArgumentRules<'a>, ToolError> {
        Ok(self.definition.argument_rules(self.definition.contract()?, Some(context)))
    }
}

fn unpublished(metadata: &ToolMetadata) -> Unpublished {
    match metadata.unknown {
        UnknownArguments::Refuse => Unpublished::Refused,
        UnknownArguments::Ignore => Unpublished::Ignored,
    }
}

fn closed(mut schema: Value, unpublished: Unpublished) -> Value {
    args::close(&mut schema, unpublished == Unpublished::Refused);
    schema
}

/// Returns a fault if the schema accepts no object.
fn no_object(schema: &Value) -> Option<Fault> {
    let ty = schema.get("type")?;
    let accepts_object = match ty {
        Value::Array(types) => types.iter().any(|ty| ty == "object"),
        ty => ty == "object",
    };
    if accepts_object {
        return None;
    }
    let message = format!(
        "arguments are an object, but this type is {ty}; with `flatten`, the type is a struct or a map"
    );
    Some(("#".to_owned(), message))
}

macro_rules! inner_setters {
    ($($ty:ident)*) => {$(
        impl $ty {
            pub(super) fn definition_mut(&mut self) -> &mut ToolDefinition {
                &mut Arc::make_mut(&mut self.inner).definition
            }

            /// Changes the metadata with `change`.
            ///
            /// ```
            /// use toolkit_ai::{ClosureTool, Tool};
            ///
            /// let add = ClosureTool::without_arguments("add", "Adds.", || 1)?;
            /// let add = add.map_metadata(|metadata| metadata.with_title("Add").with_read_only(true));
            /// assert_eq!(add.definition().metadata.read_only, Some(true));
            /// # Ok::<(), toolkit_ai::BuildError>(())
            /// ```
            #[must_use]
            pub fn map_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
                let inner = Arc::make_mut(&mut self.inner);
                inner.definition.metadata = change(std::mem::take(&mut inner.definition.metadata));
                inner.close();
                self
            }

            /// Sets the [output schema](ToolDefinition::output_schema). Neither it nor the output is
            /// checked.
            #[must_use]
            pub fn with_output_schema(mut self, schema: Value) -> Self {
                self.definition_mut().output = super::made_once::OutputSchema::known(schema);
                self
            }
        }
    )*};
}

inner_setters! { FunctionTool ClosureTool }
