//! Function tools: what `#[tool]` generates, and the tool made of it.

use super::definition::OutputSchema;
use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata, UnknownArguments};
use crate::args::{self, Decode, DecodeOptions, Fill, ObjectInfo, Param, ParamSpec, parameters_schema};
use crate::context::{StateNeed, ToolContext};
use crate::error::{Location, ToolError};
use crate::name::{NameError, Separator, ToolName};
use crate::output::SchemaFn;
use crate::schema::__private::strip_aliases;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The generated function that decodes the arguments and calls the user's function.
pub type CallFn = for<'a> fn(Invocation<'a>) -> ToolFuture<'a>;

/// One call of a generated function.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    arguments: &'a str,
    context: &'a ToolContext,
    tool: &'a FunctionTool,
}

impl<'a> Invocation<'a> {
    /// Decodes the arguments into one slot for each parameter.
    ///
    /// # Errors
    /// Every violation of the arguments.
    #[inline(never)]
    pub fn decode(&self, slots: &mut [&mut dyn Fill]) -> Result<(), ToolError> {
        args::decode(self.arguments, &self.tool.made.params, &self.rules(), slots)
    }

    #[inline]
    fn rules(&self) -> DecodeOptions<'a> {
        let ToolDefinition { parameters, metadata, .. } = &self.tool.made.definition;
        DecodeOptions {
            schema: self.tool.made.checked.as_ref().unwrap_or(parameters),
            has_constraints: &self.tool.made.has_constraints,
            refuse_unknown: metadata.unknown == UnknownArguments::Refuse,
            coerce: metadata.coerce,
            context: Some(self.context),
        }
    }

    /// Decodes the arguments as one type, whose fields they are.
    ///
    /// # Errors
    /// The refused call, with every violation of the arguments.
    pub fn decode_struct<T: Decode>(&self) -> Result<T, ToolFuture<'a>> {
        let Some(shape) = &self.tool.made.shape else { return Err(ToolFuture::incomplete()) };
        args::decode_struct(self.arguments, shape, &self.rules()).map_err(ToolFuture::refused)
    }

    /// Returns the value whose method is called.
    #[must_use]
    pub fn receiver<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.tool.receiver.as_deref()?.downcast_ref()
    }

    /// Returns the program's state of a type.
    #[must_use]
    pub fn state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.context.state::<T>()
    }

    /// Returns the program's state of a type as an `Arc`.
    #[must_use]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.context.shared_state::<T>()
    }

    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &'a ToolContext {
        self.context
    }
}

/// The macro's description of one function, from which its tool is made.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    namespace: Option<&'static str>,
    description: &'static str,
    params: &'static [ParamSpec],
    call: CallFn,
    is_async: bool,
    timeout: Option<Duration>,
    defined_at: Option<Location>,
    describe: Option<fn(ToolMetadata) -> ToolMetadata>,
    state_needs: &'static [StateNeed],
    /// The type whose fields are the arguments, in the place of `params`.
    struct_args: Option<fn() -> (Value, ObjectInfo)>,
    /// The schema of the return type, if it is JSON.
    returned: Option<SchemaFn>,
}

/// The cell of a function's tool, filled on first use.
#[derive(Debug, Default)]
pub struct ToolCell(OnceLock<Arc<Made>>);

/// The parts of a tool that are made once.
#[derive(Debug, Clone)]
struct Made {
    definition: ToolDefinition,
    params: Vec<Param<'static>>,
    /// The schema for checks, if it says more than the published one.
    checked: Option<Value>,
    /// For each parameter, whether its schema has constraints that decoding does not ensure.
    has_constraints: Vec<bool>,
    /// The struct whose fields are the arguments.
    shape: Option<ObjectInfo>,
}

impl Made {
    /// Sets whether the schemas forbid unknown arguments.
    fn close(&mut self, closed: bool) {
        for schema in std::iter::once(&mut self.definition.parameters).chain(&mut self.checked) {
            match &self.shape {
                Some(shape) => shape.close(schema, closed),
                None => args::close(schema, closed),
            }
        }
    }
}

impl ToolCell {
    /// Creates an empty cell.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

impl Function {
    /// Describes a synchronous function, defined at the place of this call.
    ///
    /// `description` is the documentation without sections about parameters, `params` are in the order of the
    /// signature, `call` decodes the arguments and calls the function, `returned` is the schema of JSON results.
    #[must_use]
    #[track_caller]
    pub fn new(
        name: &'static str,
        description: &'static str,
        params: &'static [ParamSpec],
        call: CallFn,
        returned: Option<SchemaFn>,
    ) -> Self {
        let place = std::panic::Location::caller();
        Self {
            name,
            namespace: None,
            description,
            params,
            call,
            is_async: false,
            timeout: None,
            defined_at: Some(Location { file: place.file(), line: place.line() }),
            describe: None,
            state_needs: &[],
            struct_args: None,
            returned,
        }
    }

    /// Sets the namespace, which is normalised.
    #[must_use]
    pub fn with_namespace(mut self, namespace: &'static str) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Marks the function as `async`.
    #[must_use]
    pub fn with_async(mut self) -> Self {
        self.is_async = true;
        self
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets the place of the definition.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_location(mut self, file: &'static str, line: u32) -> Self {
        self.defined_at = Some(Location { file, line });
        self
    }

    /// Sets the function that adds all other options to the metadata.
    #[must_use]
    pub fn with_metadata(mut self, describe: fn(ToolMetadata) -> ToolMetadata) -> Self {
        self.describe = Some(describe);
        self
    }

    /// Sets the types of state that the function requires.
    #[must_use]
    pub fn with_state_needs(mut self, needs: &'static [StateNeed]) -> Self {
        self.state_needs = needs;
        self
    }

    /// Sets the struct whose fields are the arguments.
    #[must_use]
    pub fn with_struct_args(mut self, struct_args: fn() -> (Value, ObjectInfo)) -> Self {
        self.struct_args = Some(struct_args);
        self
    }

    /// Returns the tool. Its definition is made once and shared by all tools of the same cell.
    #[must_use]
    pub fn tool(&self, cell: &ToolCell) -> FunctionTool {
        let made = cell.0.get_or_init(|| Arc::new(self.make())).clone();
        FunctionTool { made, call: self.call, receiver: None }
    }

    fn make(&self) -> Made {
        let mut metadata = ToolMetadata {
            is_async: self.is_async,
            timeout: self.timeout,
            defined_at: self.defined_at,
            ..ToolMetadata::default()
        };
        if let Some(describe) = self.describe {
            metadata = describe(metadata);
        }
        let refuse_unknown = metadata.unknown == UnknownArguments::Refuse;
        let (mut schema, params, has_constraints, shape) = match self.struct_args {
            Some(struct_args) => {
                let (mut schema, shape) = struct_args();
                shape.close(&mut schema, refuse_unknown);
                (schema, Vec::new(), Vec::new(), Some(shape))
            }
            None => {
                let (schema, params, has_constraints) = parameters_schema(self.params, refuse_unknown);
                (schema, params, has_constraints, None)
            }
        };
        let checked = strip_aliases(&mut schema);
        let name = ToolName::unchecked(self.namespace, self.name, Separator::Dash);
        let mut definition = ToolDefinition::new(name, self.description, schema).with_metadata(metadata);
        definition.output = OutputSchema::of_type(self.returned);
        definition.state_needs = self.state_needs.to_vec();
        definition.add_aliases_of(checked.as_ref());
        for param in &params {
            let aliases = param.aliases().iter().map(|alias| ((*alias).to_owned(), param.name.to_owned()));
            definition.aliases.extend(aliases);
        }
        Made { definition, params, checked, has_constraints, shape }
    }
}

/// The tool of a `#[tool]` function. Clones are cheap.
#[derive(Clone)]
pub struct FunctionTool {
    made: Arc<Made>,
    call: CallFn,
    /// The value whose method is called.
    receiver: Option<Arc<dyn Any + Send + Sync>>,
}

impl FunctionTool {
    /// Returns the sort key of discovered tools.
    pub(crate) fn sort_key(&self) -> (Option<(&'static str, u32)>, &str) {
        let ToolDefinition { name, metadata, .. } = &self.made.definition;
        (metadata.defined_at.map(|place| (place.file, place.line)), name.method_name())
    }

    /// Sets the time limit of a call, which precedes those of dispatcher and registry.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        Arc::make_mut(&mut self.made).definition.metadata.timeout = Some(limit);
        self
    }

    /// Binds the tool to the value whose method it is.
    #[doc(hidden)]
    #[must_use]
    pub fn with_receiver(mut self, receiver: Arc<dyn Any + Send + Sync>) -> Self {
        self.receiver = Some(receiver);
        self
    }

    /// Moves the tool into a namespace, which is [normalised](crate::name::normalize).
    ///
    /// # Errors
    /// [`NameError`] if the name is then not legal.
    pub fn in_namespace(self, namespace: &str) -> Result<Self, NameError> {
        let name = ToolName::qualified(namespace, self.made.definition.name.method_name(), Separator::Dash)?;
        Ok(self.with_name(name))
    }

    /// Changes the metadata.
    ///
    /// ```ignore
    /// let tool = add::tool().with_metadata(|metadata| metadata.with_title("Add").with_read_only(true));
    /// ```
    #[must_use]
    pub fn with_metadata(mut self, change: impl FnOnce(ToolMetadata) -> ToolMetadata) -> Self {
        let made = Arc::make_mut(&mut self.made);
        let before = made.definition.metadata.unknown;
        made.definition.metadata = change(std::mem::take(&mut made.definition.metadata));
        let after = made.definition.metadata.unknown;
        if after != before {
            made.close(after == UnknownArguments::Refuse);
        }
        self
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(mut self, name: ToolName) -> Self {
        Arc::make_mut(&mut self.made).definition.name = name;
        self
    }

    /// Sets the [output schema](ToolDefinition::output_schema), unchecked.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        Arc::make_mut(&mut self.made).definition.output = OutputSchema::known(schema);
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.made).definition.description = description.into();
        self
    }
}

impl Tool for FunctionTool {
    fn definition(&self) -> &ToolDefinition {
        &self.made.definition
    }

    #[inline]
    fn call<'a>(&'a self, arguments: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        (self.call)(Invocation { arguments, context, tool: self })
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("definition", &self.made.definition).finish_non_exhaustive()
    }
}
