//! The tool that a function becomes.

use super::definition::OutputSchema;
use super::{Tool, ToolDefinition, ToolFuture, ToolMetadata, UnknownArguments};
use crate::args::{self, Decode, Fill, Param, ParamSpec, Rules, Shape, parameters_schema};
use crate::context::{StateNeed, ToolContext};
use crate::error::{Location, ToolError};
use crate::name::{NameError, Separator, ToolName};
use crate::output::SchemaFn;
use crate::schema::__private::{property_named, strip_aliases};
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The generated function that decodes the arguments and calls the user's function.
pub type CallFn = for<'a> fn(Invocation<'a>) -> ToolFuture<'a>;

/// One call on its way into a generated function.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    arguments: &'a str,
    context: &'a ToolContext,
    tool: &'a FunctionTool,
}

impl<'a> Invocation<'a> {
    /// Fills one slot for each parameter, or says what is wrong with the arguments.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    #[inline(never)]
    pub fn decode(&self, slots: &mut [&mut dyn Fill]) -> Result<(), ToolError> {
        args::decode(self.arguments, &self.tool.made.params, &self.rules(), slots)
    }

    #[inline]
    fn rules(&self) -> Rules<'a> {
        let ToolDefinition { parameters, metadata, .. } = &self.tool.made.definition;
        Rules {
            schema: self.tool.made.checked.as_ref().unwrap_or(parameters),
            demanding: &self.tool.made.demanding,
            refuse_unknown: metadata.unknown == UnknownArguments::Refuse,
            coerce: metadata.coerce,
            context: Some(self.context),
        }
    }

    /// Decodes the arguments as the one type whose fields they are.
    ///
    /// # Errors
    /// The call that says what is wrong with the arguments.
    pub fn decode_whole<T: Decode>(&self) -> Result<T, ToolFuture<'a>> {
        let Some(shape) = &self.tool.made.shape else { return Err(ToolFuture::incomplete()) };
        args::decode_whole(self.arguments, shape, &self.rules()).map_err(ToolFuture::refused)
    }

    /// The value whose method is called.
    #[must_use]
    pub fn receiver<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.tool.receiver.as_deref()?.downcast_ref()
    }

    /// What the program lends under this type.
    #[must_use]
    pub fn state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.context.state::<T>()
    }

    /// Like [`state`](Self::state), to be shared further.
    #[must_use]
    pub fn shared_state<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.context.shared_state::<T>()
    }

    /// What the tool may know about the call.
    #[must_use]
    pub fn context(&self) -> &'a ToolContext {
        self.context
    }
}

/// What the macro writes down about one function, before anything is made of it.
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
    whole: Option<fn() -> (Value, Shape)>,
    /// The schema of what is returned, if that is JSON.
    returned: Option<SchemaFn>,
}

/// Holds what is made of a function: once, when the tool is first asked for.
#[derive(Debug, Default)]
pub struct ToolCell(OnceLock<Arc<Made>>);

/// What is made of a function once.
#[derive(Debug, Clone)]
struct Made {
    definition: ToolDefinition,
    params: Vec<Param>,
    /// The schema that arguments are compared with, if the published one does not say all.
    checked: Option<Value>,
    /// For each parameter, whether its schema demands more than decoding ensures.
    demanding: Vec<bool>,
    /// What is known of the type whose fields are the arguments.
    shape: Option<Shape>,
}

impl Made {
    /// Has the schemas forbid arguments that the tool does not have, or takes that back.
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
    /// Nothing is made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

impl Function {
    /// A synchronous function, defined where this is called, with its name, the documentation without
    /// the sections about parameters, the parameters in the order of the signature, the function
    /// that decodes and calls, and the schema of what it returns if that is JSON.
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
            whole: None,
            returned,
        }
    }

    /// Sets the namespace; it is normalised.
    #[must_use]
    pub fn with_namespace(mut self, namespace: &'static str) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Says that the function is `async`.
    #[must_use]
    pub fn with_async(mut self) -> Self {
        self.is_async = true;
        self
    }

    /// Sets how long one call may run.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Says where the function is defined.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_location(mut self, file: &'static str, line: u32) -> Self {
        self.defined_at = Some(Location { file, line });
        self
    }

    /// Sets what writes all other options into the metadata.
    #[must_use]
    pub fn with_metadata(mut self, describe: fn(ToolMetadata) -> ToolMetadata) -> Self {
        self.describe = Some(describe);
        self
    }

    /// Sets the types of state that the function cannot do without.
    #[must_use]
    pub fn with_state_needs(mut self, needs: &'static [StateNeed]) -> Self {
        self.state_needs = needs;
        self
    }

    /// Sets the type whose fields are the arguments.
    #[must_use]
    pub fn with_whole(mut self, whole: fn() -> (Value, Shape)) -> Self {
        self.whole = Some(whole);
        self
    }

    /// The tool. Its definition is made once and shared by all that are made with the same cell.
    #[must_use]
    pub fn tool(&self, cell: &ToolCell) -> FunctionTool {
        let made = cell.0.get_or_init(|| Arc::new(self.make())).clone();
        FunctionTool { made, call: self.call, receiver: None, state_needs: self.state_needs }
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
        let (mut schema, params, demanding, shape) = match self.whole {
            Some(whole) => {
                let (mut schema, shape) = whole();
                shape.close(&mut schema, refuse_unknown);
                (schema, Vec::new(), Vec::new(), Some(shape))
            }
            None => {
                let (schema, params, demanding) = parameters_schema(self.params, refuse_unknown);
                (schema, params, demanding, None)
            }
        };
        let checked = strip_aliases(&mut schema);
        let name = ToolName::unchecked(self.namespace, self.name, Separator::Dash);
        let mut definition = ToolDefinition::new(name, self.description, schema).with_metadata(metadata);
        definition.output = OutputSchema::of_type(self.returned);
        Made { definition, params, checked, demanding, shape }
    }
}

/// The tool that a `#[tool]` function becomes. Clones are cheap.
#[derive(Clone)]
pub struct FunctionTool {
    made: Arc<Made>,
    call: CallFn,
    /// The value whose method is called.
    receiver: Option<Arc<dyn Any + Send + Sync>>,
    state_needs: &'static [StateNeed],
}

impl FunctionTool {
    /// What the registry sorts tools by that it finds.
    pub(crate) fn sort_key(&self) -> (Option<(&'static str, u32)>, &str) {
        let ToolDefinition { name, metadata, .. } = &self.made.definition;
        (metadata.defined_at.map(|place| (place.file, place.line)), name.method_name())
    }

    /// Limits how long one call may run. It goes before the limits of dispatcher and registry.
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

    /// Puts the tool into a namespace, which is [normalised](crate::normalize), instead of the one it is in.
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

    /// Gives the tool another name.
    #[must_use]
    pub fn with_name(mut self, name: ToolName) -> Self {
        Arc::make_mut(&mut self.made).definition.name = name;
        self
    }

    /// Replaces the [output schema](ToolDefinition::output_schema), which is not looked at.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        Arc::make_mut(&mut self.made).definition.output = OutputSchema::known(schema);
        self
    }

    /// Replaces the description.
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

    fn parameter_named(&self, name: &str) -> Option<&str> {
        let param = self.made.params.iter().find(|param| param.answers_to(name)).map(Param::name);
        param.or_else(|| property_named(self.made.checked.as_ref()?, name))
    }

    fn state_needs(&self) -> &[StateNeed] {
        self.state_needs
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
