//! Single calls by name: looking the tool up, calling it, checking a call.

use super::{IntoArguments, ToolRegistry};
use crate::context::{RareParts, ToolContext};
use crate::error::ToolError;
use crate::guard::guarded;
use crate::name::NameRule;
use crate::output::ToolOutput;
use crate::tool::{Tool, check, start};
use std::borrow::Cow;
use std::sync::Arc;

impl ToolRegistry {
    /// Calls one tool and waits for its output. The arguments are JSON text, or a value of another type with
    /// [`IntoArguments`].
    ///
    /// The time limit of the tool applies. If the tool has no limit, the limit of the registry applies. For
    /// calls made by a model, use a [`Dispatcher`](crate::Dispatcher): a dispatcher runs batches of calls and
    /// supports cancellation.
    ///
    /// # Errors
    /// Returns a [`ToolError`] if no tool has this name, the arguments are invalid, or the tool fails, panics
    /// or times out.
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
        let arguments = arguments?;
        let (tool, arguments) = match self.callable(name) {
            Some(tool) => (tool, arguments),
            None => self.resolve_otherwise(name, &arguments)?,
        };
        let definition = tool.definition();
        let (arguments, call_reason) = match self.own_arguments(definition, &arguments) {
            Some(split) => (split.arguments.into(), split.call_reason),
            None => (arguments, None),
        };
        let rare = call_reason
            .map(|reason| Box::new(RareParts { call_reason: Some(reason), ..RareParts::default() }));
        if let Some((type_name, problem)) = self.missing_state(definition).next() {
            return Err(ToolError::stateless(type_name).with_details(problem.to_string()));
        }
        let context = ToolContext::of_call(definition.name.clone(), None, None, self.state.clone(), rare);
        let limit = definition.metadata.timeout.or(self.timeout);
        let started = match start(&**tool, &arguments, &context, limit) {
            Ok(outcome) => return outcome,
            Err(started) => started,
        };
        started.await
    }

    /// Checks a call without running it. The check fails if there is no such tool or the tool refuses the
    /// arguments.
    ///
    /// ```
    /// use toolkit::{ClosureTool, ToolRegistry};
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
    /// # Ok::<(), toolkit::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The [`ToolError`] that the call would return.
    pub fn validate(&self, name: &str, arguments: &str) -> Result<(), ToolError> {
        let (tool, arguments) = match self.callable(name) {
            Some(tool) => (tool, Cow::Borrowed(arguments)),
            None => self.resolve_otherwise(name, arguments)?,
        };
        let definition = tool.definition();
        let split = self.own_arguments(definition, &arguments);
        let arguments = split.map_or(arguments, |split| split.arguments.into());
        let context = ToolContext::of_call(definition.name.clone(), None, None, self.state.clone(), None);
        guarded(|| check(&**tool, &arguments, &context))
            .unwrap_or_else(|panicked| Err(panicked.of_call(&context)))
    }

    /// Finds the tool for a call of `name`. If `name` is the search tool `call_deferred`, returns the tool named in the
    /// arguments, together with that tool's arguments.
    #[inline]
    pub(crate) fn resolve(&self, name: &str, arguments: &str) -> Result<Resolved<'_>, ToolError> {
        if let Some(tool) = self.callable(name) {
            return Ok(Resolved { tool, arguments: None, called_as: None });
        }
        let (tool, arguments) = self.resolve_otherwise(name, arguments)?;
        let arguments = if let Cow::Owned(inner) = arguments { Some(inner) } else { None };
        let is_own = arguments.is_some() || tool.definition().name.as_str() == name;
        Ok(Resolved { tool, arguments, called_as: (!is_own).then(|| name.into()) })
    }

    /// Returns the error for a call of `name` when no callable tool has this name, because the tool is disabled or
    /// unknown.
    #[cold]
    pub(crate) fn not_found(&self, name: &str) -> ToolError {
        let spelled = self.cache.original(self, name);
        let own_name = spelled.as_deref().unwrap_or(name);
        if let Some(reason) = self.disabled_reason(own_name) {
            return ToolError::disabled(name, reason);
        }
        // Suggest spellings accepted by every provider: the model knows the tools by these names.
        let names = self.cache.names(self, NameRule::DASHES);
        let own = self.iter_definitions().map(|definition| names.spell(definition.name.as_str()));
        ToolError::not_found(name, own.chain(self.search_names().iter().copied()))
    }
}

/// The tool that a call resolves to.
pub(crate) struct Resolved<'a> {
    pub(crate) tool: &'a Arc<dyn Tool>,
    /// The arguments for the tool, if they differ from the arguments of the call, as for `call_deferred`.
    pub(crate) arguments: Option<String>,
    /// The tool name as the model spells it, if the spelling differs from the tool's own name.
    pub(crate) called_as: Option<Box<str>>,
}
