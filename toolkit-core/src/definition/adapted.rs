//! Adapted tools: the same tool with another name, description, metadata or arguments.

use super::arguments::Arguments;
use super::made_once::ContractCell;
use super::{ArgumentTransform, Tool, ToolDefinition, ToolFuture, ToolKind, ToolMetadata};
use crate::context::ToolContext;
use crate::error::{BuildError, ToolError};
use std::sync::Arc;

/// A tool with another name, description, metadata or [arguments](Self::with_arguments).
///
/// The wrapped tool is shared.
///
/// ```
/// use toolkit_ai::{AdaptedTool, ClosureTool, Tool, ToolName, ToolRegistry};
///
/// let add = ClosureTool::without_arguments("add", "Adds.", || 1)?;
/// let plus = AdaptedTool::new(add).with_name(ToolName::new("plus")?).with_description("Counts on.");
/// assert_eq!(plus.definition().description, "Counts on.");
/// assert!(ToolRegistry::from_tools([plus])?.contains("plus"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AdaptedTool {
    tool: Arc<dyn Tool>,
    definition: ToolDefinition,
    arguments: Option<Arc<Arguments>>,
}

impl AdaptedTool {
    /// Wraps a tool without changes.
    #[must_use]
    pub fn new(tool: impl Tool + 'static) -> Self {
        Self::from_arc(Arc::new(tool))
    }

    /// Wraps a shared tool without changes.
    #[must_use]
    pub fn from_arc(tool: Arc<dyn Tool>) -> Self {
        Self { definition: tool.definition().clone(), tool, arguments: None }
    }

    pub(super) fn definition_mut(&mut self) -> &mut ToolDefinition {
        &mut self.definition
    }

    /// Changes the metadata with the function `change`.
    ///
    /// The treatment of unknown arguments and the coercion stay: the wrapped tool decodes with its own
    /// settings.
    #[must_use]
    pub fn map_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        self.definition.metadata = change(self.definition.metadata);
        self
    }

    /// Renames or hides arguments, or changes their descriptions and defaults, see [`ArgumentTransform`].
    ///
    /// The published schema shows the transformed arguments. In a call, they are renamed back, and the
    /// program's values are added; all else stays as the model wrote it. Error messages use the model's
    /// names and do not show supplied values. The model cannot set a hidden argument.
    ///
    /// Middleware such as [`Permissions`](crate::middleware::Permissions) sees the arguments as the model
    /// wrote them. The wrapped tool's [lane](ToolMetadata::lane) still orders calls, also with the tool
    /// itself and other adaptations.
    ///
    /// # Errors
    /// A [`BuildError`] listing every unknown argument, every taken name, every value refused by the
    /// schema, and every required argument hidden without a value.
    pub fn with_arguments(
        self,
        changes: impl IntoIterator<Item = ArgumentTransform>,
    ) -> Result<Self, BuildError> {
        let changes = changes.into_iter().collect();
        // In a second call, the transforms refer to the argument names after the first.
        let mut view = if self.arguments.is_some() { Self::new(self) } else { self };
        let (arguments, schema) = Arguments::new(&view.definition, changes)?;
        // The lane argument is read from the untransformed schema.
        view.definition.lane = arguments.adapt_lane(&view.definition).map(Box::new);
        view.definition.contract = match view.definition.contract() {
            Ok(contract) if contract.is_of_type() => {
                let (contract, _) =
                    contract.changed(&view.definition.parameters, contract.unpublished(), |marked| {
                        arguments.adapt_schema(marked, &schema)
                    });
                ContractCell::made(Ok(contract))
            }
            _ => ContractCell::default(),
        };
        view.definition.parameters = schema;
        arguments.adapt_aliases(&mut view.definition.aliases);
        view.definition.is_computed |= arguments.computes();
        if arguments.differ() {
            // A custom tool takes free text from the argument `input`. If this is renamed or hidden, the
            // tool must be a function.
            view.definition.kind = ToolKind::Function;
        }
        let examples = &mut view.definition.metadata.input_examples;
        *examples = std::mem::take(examples).into_iter().map(|example| arguments.as_shown(example)).collect();
        // The view has its own contract, checked before the arguments are renamed.
        view.definition.reads_arguments = false;
        view.arguments = Some(Arc::new(arguments));
        Ok(view)
    }
}

impl Tool for AdaptedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        match &self.arguments {
            Some(changed) => changed.call(&*self.tool, arguments, context),
            None => self.tool.call(arguments, context),
        }
    }

    fn validate(&self, arguments: &str, context: &ToolContext) -> Result<(), ToolError> {
        match &self.arguments {
            Some(changed) => {
                let normal = self.definition.normal_arguments(arguments, None)?;
                changed.validate(&*self.tool, &normal, context)
            }
            None => self.tool.validate(arguments, context),
        }
    }
}
