//! Rewriting the text of arguments from the model's names to the tool's.

use super::super::argument::Supply;
use super::super::rewriting::Rewriting;
use super::super::{Tool, ToolFuture, panic_text};
use super::secrets::Secrets;
use super::{Arguments, Meaning, Unknown};
use crate::args::{Member, unknown, with_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation};
use std::future::poll_fn;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;

impl Arguments {
    /// Starts a call of the tool with the arguments as the model wrote them.
    pub(in super::super) fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> ToolFuture<'a> {
        let (rewritten, secrets) = match self.rewrite(tool, arguments, context) {
            Ok(rewritten) => rewritten,
            Err(error) => return ToolFuture::refused(error),
        };
        let call = async move {
            let mut call = pin!(async { tool.call(&rewritten, context).await });
            // A panic's text may quote a hidden value, too.
            let outcome = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx))) {
                Ok(poll) => poll,
                Err(payload) => {
                    let text = secrets.redact(panic_text(&*payload));
                    // Its drop may panic, too, which would abort the program here.
                    forget(payload);
                    resume_unwind(Box::new(text))
                }
            });
            outcome.await.map_err(|error| {
                self.translated(tool, arguments, error).map_texts(&|text| secrets.redact(text))
            })
        };
        ToolFuture::running(call, |outcome| outcome)
    }

    /// Returns the arguments by the tool's names, with the values that the model does not give, and these
    /// values. Everything else stays as the model wrote it.
    ///
    /// # Errors
    /// The arguments are not a JSON object, or have unknown names that the tool would accept, or the computation of a
    /// value failed.
    fn rewrite(
        &self,
        tool: &dyn Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<(String, Secrets), ToolError> {
        with_object(arguments, |object, members| {
            let mut rewriting = Rewriting::new(object);
            let mut refused: Vec<Violation> = Vec::new();
            let mut given: Vec<&str> = Vec::new();
            for (name, value) in members {
                match self.meaning(tool, name) {
                    Meaning::Changed(change) => {
                        // Where the tool does not accept it, `null` is an absence.
                        if value.get() == "null" && change.supply.is_some() && !change.takes_null {
                            rewriting.skip(value.get());
                            continue;
                        }
                        given.push(&change.argument);
                        let is_renamed = change.is_renamed();
                        rewriting.keep(value.get(), is_renamed.then_some(&change.argument));
                    }
                    Meaning::Own | Meaning::Nothing => rewriting.keep(value.get(), None),
                    Meaning::NotShown => match self.unknown {
                        Unknown::LeftToTool => {
                            let other = self.stand_in(tool, name);
                            rewriting.keep(value.get(), Some(&other));
                        }
                        Unknown::Ignored => {
                            rewriting.skip(value.get());
                        }
                        Unknown::Refused => refused.push(unknown(name, self.shown())),
                    },
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
                if change.hidden || matches!(change.supply, Some(Supply::Computed(_))) {
                    secrets.add(&value);
                }
            }
            Ok((rewriting.finish(), secrets))
        })?
    }

    /// Returns the members that stand in for the model's, each with the model's name.
    pub(super) fn stand_ins(&self, tool: &dyn Tool, arguments: &str) -> Vec<(String, String)> {
        let names = with_object(arguments, |_, members| {
            let replaced = |(name, _): &Member<'_>| match self.meaning(tool, name) {
                Meaning::NotShown => Some((self.stand_in(tool, name), name.clone())),
                Meaning::Nothing => Some((name.clone(), name.clone())),
                Meaning::Changed(_) | Meaning::Own => None,
            };
            members.iter().filter_map(replaced).collect()
        });
        names.unwrap_or_default()
    }
}
