//! From a name to its tool, and single calls by the program.

use super::{IntoArguments, ToolRegistry};
use crate::context::{ContextExtras, ToolContext};
use crate::definition::{
    Tool, ToolDefinition, asks_for_call_reason, check, own_parameter_names, run, split_call_reason,
};
use crate::error::ToolError;
use crate::guard::guarded;
use crate::name::NameRule;
use crate::output::ToolOutput;
use std::borrow::Cow;
use std::sync::Arc;

impl ToolRegistry {
    /// Calls one tool and waits for its output. The arguments are JSON text, or another [`IntoArguments`].
    ///
    /// The call skips all [middleware](crate::middleware), such as permissions, caches and retries. For
    /// calls with it, or of a model, use [`Dispatcher::call`](crate::Dispatcher::call) and
    /// [`Dispatcher::dispatch`](crate::Dispatcher::dispatch).
    ///
    /// The time limit of the tool applies, or else of the registry.
    ///
    /// # Errors
    /// No tool has this name, the arguments are invalid, or the tool fails, panics or times out.
    pub fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: impl IntoArguments<'a>,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send {
        self.call_text(name, arguments.into_arguments())
    }

    async fn call_text(
        &self,
        name: &str,
        arguments: Result<Cow<'_, str>, ToolError>,
    ) -> Result<ToolOutput, ToolError> {
        let given = arguments?;
        let mut target = self.target(name, &given)?;
        // No dispatcher has checked the registry.
        if let Some((type_name, problem)) = self.missing_state(target.definition).next() {
            return Err(ToolError::stateless(type_name).with_details(problem.to_string()));
        }
        let limit = target.definition.metadata.timeout.or(self.timeout);
        let Rewritten { arguments: rewritten, called_as, call_reason } = target.take_rewritten();
        let context = self.context_of(target.definition, called_as, call_reason);
        run(&**target.tool, rewritten.as_deref().unwrap_or(&given), &context, limit).await
    }

    /// Checks a call without running it: there is such a tool, and it accepts the arguments.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, ToolRegistry};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b)?;
    /// let registry = ToolRegistry::from_tools([add])?;
    /// assert!(registry.validate("add", r#"{"a": 1, "b": "2"}"#).is_ok());
    /// let error = registry.validate("add", r#"{"a": 1}"#).unwrap_err();
    /// let expected = "Error validating JSON arguments: `b`: required, but missing; expected integer";
    /// assert_eq!(error.message(), expected);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The error that the call would return.
    pub fn validate(&self, name: &str, arguments: &str) -> Result<(), ToolError> {
        let mut target = self.target(name, arguments)?;
        let Rewritten { arguments: rewritten, called_as, .. } = target.take_rewritten();
        let context = self.context_of(target.definition, called_as, None);
        let text = rewritten.as_deref().unwrap_or(arguments);
        match guarded(|| check(&**target.tool, text, &context)) {
            Ok(checked) => checked,
            Err(panicked) => Err(panicked.of_call(&context)),
        }
    }

    #[inline]
    fn context_of(
        &self,
        definition: &ToolDefinition,
        called_as: Option<Box<str>>,
        call_reason: Option<String>,
    ) -> ToolContext {
        let mut extras = None;
        if called_as.is_some() || call_reason.is_some() {
            extras = Some(Box::new(ContextExtras { called_as, call_reason, ..ContextExtras::default() }));
        }
        ToolContext::of_call(definition.name.clone(), None, None, self.state.clone(), extras)
    }

    /// Finds the tool for a call of `name`, and its arguments. `call_deferred` gives the tool named in the
    /// arguments, and that tool's arguments.
    #[inline]
    pub(crate) fn target(&self, name: &str, text: &str) -> Result<Target<'_>, ToolError> {
        match self.callable(name) {
            Some(tool) => {
                let definition = tool.definition();
                if self.respells || asks_for_call_reason(definition, self.call_reason) {
                    return Ok(self.rewritten(tool, Cow::Borrowed(text), None));
                }
                Ok(Target { tool, definition, rewritten: None })
            }
            None => {
                let (tool, arguments) = self.resolve_otherwise(name, text)?;
                let is_own = matches!(arguments, Cow::Owned(_)) || tool.definition().name.as_str() == name;
                let called_as = if is_own { None } else { Some(name.into()) };
                Ok(self.rewritten(tool, arguments, called_as))
            }
        }
    }

    /// Returns a target with the arguments under the tool's parameter names, without the call reason.
    #[cold]
    fn rewritten<'r>(
        &self,
        tool: &'r Arc<dyn Tool>,
        arguments: Cow<'_, str>,
        called_as: Option<Box<str>>,
    ) -> Target<'r> {
        let definition = tool.definition();
        let own = if self.respells { own_parameter_names(definition, &arguments) } else { None };
        let text = own.as_deref().unwrap_or(&arguments);
        let asks = asks_for_call_reason(definition, self.call_reason);
        let split = if asks { split_call_reason(text, definition.metadata.coerce) } else { None };
        let (arguments, call_reason) = match split {
            Some(split) => (Some(split.arguments), split.call_reason),
            None => (own.or(if let Cow::Owned(inner) = arguments { Some(inner) } else { None }), None),
        };
        Target {
            tool,
            definition,
            rewritten: Some(Box::new(Rewritten { arguments, called_as, call_reason })),
        }
    }

    /// Returns the error for a call of a disabled or unknown tool.
    #[cold]
    pub(crate) fn not_found(&self, name: &str) -> ToolError {
        let spelled = self.cache.original(self, name);
        let own_name = spelled.as_deref().unwrap_or(name);
        if let Some(reason) = self.disabled_reason(own_name) {
            return ToolError::disabled(name, reason);
        }
        // The model knows the tools by spellings that every provider accepts.
        let names = self.cache.names(self, NameRule::DASHES);
        let own = self.iter_definitions().map(|definition| names.spell(definition.name.as_str()));
        ToolError::not_found(name, own.chain(self.search_names().iter().copied()))
    }
}

/// The tool for a call, and its call.
pub(crate) struct Target<'r> {
    pub(crate) tool: &'r Arc<dyn Tool>,
    pub(crate) definition: &'r ToolDefinition,
    /// What differs from the model's call. Boxed, because it is rare.
    pub(crate) rewritten: Option<Box<Rewritten>>,
}

/// What a registry rewrites in a call for the tool.
#[derive(Default)]
pub(crate) struct Rewritten {
    pub(crate) arguments: Option<String>,
    /// The model's spelling of the tool name, if it differs.
    pub(crate) called_as: Option<Box<str>>,
    /// The model's reason, if the registry asks for it.
    pub(crate) call_reason: Option<String>,
}

impl Target<'_> {
    #[inline]
    pub(crate) fn take_rewritten(&mut self) -> Rewritten {
        match self.rewritten.take() {
            Some(rewritten) => *rewritten,
            None => Rewritten::default(),
        }
    }
}
