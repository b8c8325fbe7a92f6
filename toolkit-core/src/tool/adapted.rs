//! Adapted tools: another name, description, metadata or arguments for the same tool.

use super::arguments::Arguments;
use super::{ArgumentTransform, Tool, ToolDefinition, ToolFuture, ToolKind, ToolMetadata};
use crate::context::ToolContext;
use crate::error::{BuildError, ToolError};
use std::sync::Arc;

/// A tool under another name, with another description, other metadata or [other arguments](Self::with_arguments).
/// The tool itself is shared.
///
/// ```
/// use toolkit::{AdaptedTool, ClosureTool, Tool, ToolName, ToolRegistry};
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
        Self::of(Arc::new(tool))
    }

    /// Wraps a shared tool without changes.
    #[must_use]
    pub fn of(tool: Arc<dyn Tool>) -> Self {
        Self { definition: tool.definition().clone(), tool, arguments: None }
    }

    pub(super) fn definition_mut(&mut self) -> &mut ToolDefinition {
        &mut self.definition
    }

    /// Changes the metadata. The wrapped tool keeps its treatment of unknown arguments and coercion.
    #[must_use]
    pub fn map_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        self.definition.metadata = change(self.definition.metadata);
        self
    }

    /// Transforms arguments: renamed, hidden, with other descriptions or defaults, see [`ArgumentTransform`].
    ///
    /// The schema changes accordingly, and a call's arguments are rewritten before the tool reads them; the rest stays as
    /// the model wrote it. Messages use the names that the model knows and omit values that it does not give. A model
    /// cannot give a hidden argument.
    ///
    /// Middleware such as [`Permissions`](crate::middleware::Permissions) sees the arguments as the model wrote them. The
    /// [lane](ToolMetadata::lane) is that of the wrapped tool: calls of the tool and of its adaptations wait for each
    /// other.
    ///
    /// # Errors
    /// [`BuildError`] with every unknown argument and the nearest names, every name that is taken, every value that the
    /// schema refuses, and every hidden argument that the tool requires.
    pub fn with_arguments(
        self,
        changes: impl IntoIterator<Item = ArgumentTransform>,
    ) -> Result<Self, BuildError> {
        let changes = changes.into_iter().collect();
        // Transforming twice: the second transform uses the names of the first.
        let mut view = if self.arguments.is_some() { Self::new(self) } else { self };
        let (arguments, schema) = Arguments::new(&view.definition, changes)?;
        view.definition.parameters = schema;
        view.definition.lane = arguments.adapt_lane(&view.definition).map(Box::new);
        arguments.adapt_aliases(&mut view.definition.aliases);
        if arguments.differ() {
            // A custom tool's free text is its argument `input`.
            view.definition.kind = ToolKind::Function;
        }
        let examples = &mut view.definition.metadata.input_examples;
        *examples = std::mem::take(examples).into_iter().map(|example| arguments.as_shown(example)).collect();
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
            Some(changed) => changed.validate(&*self.tool, arguments, context),
            None => self.tool.validate(arguments, context),
        }
    }
}
