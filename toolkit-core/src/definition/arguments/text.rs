//! Translation of the arguments' text from the model's names to the tool's.

use super::super::argument::Supply;
use super::super::rewriting::Rewriting;
use super::super::{Tool, ToolFuture, begin, check};
use super::Arguments;
use super::secrets::Secrets;
use crate::args::{ObjectText, unknown};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation};
use crate::guard::guarded_future;
use std::panic::resume_unwind;
use std::sync::Arc;

impl Arguments {
    /// Translates `arguments` and starts a call of `tool`.
    pub(in super::super) fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> ToolFuture<'a> {
        let (rewritten, secrets) = match self.rewrite(arguments, context) {
            Ok((rewritten, secrets)) => (rewritten, Arc::new(secrets)),
            Err(error) => return ToolFuture::refused(error),
        };
        let mut redacted = None;
        if !secrets.is_empty() && context.has_listeners() {
            let secrets = secrets.clone();
            redacted = Some(context.clone().with_redaction(move |text| secrets.redact(text)));
        }
        let call = async move {
            let context = redacted.as_ref().unwrap_or(context);
            // The message of a panic may contain a hidden value.
            let outcome = match guarded_future(async { begin(tool, &rewritten, context).await }).await {
                Ok(outcome) => outcome,
                Err(panic) => resume_unwind(Box::new(secrets.redact(&panic.0))),
            };
            outcome.map_err(|error| self.translated_and_redacted(error, &secrets))
        };
        ToolFuture::new(call)
    }

    /// Checks a call with the arguments as the model wrote them.
    pub(in super::super) fn validate(
        &self,
        tool: &dyn Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        // A check emits no events.
        let silent = context.of_check(Arc::default());
        let (rewritten, secrets) = self.rewrite(arguments, &silent)?;
        check(tool, &rewritten, context).map_err(|error| self.translated_and_redacted(error, &secrets))
    }

    fn translated_and_redacted(&self, error: ToolError, secrets: &Secrets) -> ToolError {
        self.translated(error).map_texts(&|text| secrets.redact(text))
    }

    /// Renames the arguments to the tool's names and adds the program's values. All else stays as written.
    /// Fails if the arguments are no JSON object, the model uses a hidden name, or a computation fails.
    fn rewrite(&self, arguments: &str, context: &ToolContext) -> Result<(String, Secrets), ToolError> {
        let object = ObjectText::read(arguments)?;
        let members = object.members()?;
        let mut rewriting = Rewriting::new(&object.text);
        let mut refused: Vec<Violation> = Vec::new();
        let mut given: Vec<&str> = Vec::new();
        for (name, value) in &members {
            if let Some(change) = self.changes.shown(name) {
                given.push(&change.argument);
                let new_name = if change.is_renamed() { Some(change.argument.as_str()) } else { None };
                rewriting.keep(value, new_name);
            } else if self.is_hidden(name) {
                refused.push(unknown(name, self.shown()));
            } else {
                rewriting.keep(value, None);
            }
        }
        if !refused.is_empty() {
            return Err(ToolError::invalid_arguments(refused));
        }
        let mut secrets = Secrets::default();
        for change in self.changes.0.iter().filter(|change| !given.contains(&change.argument.as_str())) {
            let value = match &change.supply {
                Some(Supply::Fixed(value)) => value.clone(),
                Some(Supply::Computed(compute)) => compute(context)?,
                None => continue,
            };
            rewriting.add(&change.argument, &value);
            // The schema publishes the fixed default of a shown argument.
            if change.hidden {
                secrets.add_hidden(&change.argument, &value);
            } else if matches!(change.supply, Some(Supply::Computed(_))) {
                secrets.add(&value);
            }
        }
        Ok((rewriting.finish(), secrets))
    }
}
