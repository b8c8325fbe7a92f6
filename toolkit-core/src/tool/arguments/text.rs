//! Rewriting the text of arguments from the model's names to the tool's.

use super::super::argument::Supply;
use super::super::rewriting::Rewriting;
use super::super::{Tool, ToolFuture};
use super::{Arguments, Meaning, Unknown};
use crate::args::{Member, unknown, with_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation};

impl Arguments {
    /// Starts a call of the tool with the arguments as the model wrote them.
    pub(in super::super) fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> ToolFuture<'a> {
        let rewritten = match self.rewrite(tool, arguments, context) {
            Ok(rewritten) => rewritten,
            Err(error) => return ToolFuture::refused(error),
        };
        let call = async move { tool.call(&rewritten, context).await };
        ToolFuture::running(call, move |outcome| {
            outcome.map_err(|error| self.translated(tool, arguments, error))
        })
    }

    /// Checks a call of the tool with the arguments as the model wrote them.
    pub(in super::super) fn validate(
        &self,
        tool: &dyn Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let rewritten = self.rewrite(tool, arguments, context)?;
        tool.validate(&rewritten, context).map_err(|error| self.translated(tool, arguments, error))
    }

    /// Returns the arguments by the tool's names, with the values that the model does not give. Everything else
    /// stays as the model wrote it.
    ///
    /// # Errors
    /// The arguments are not a JSON object, or have unknown names that the tool would accept, or the computation of a
    /// value failed.
    fn rewrite(&self, tool: &dyn Tool, arguments: &str, context: &ToolContext) -> Result<String, ToolError> {
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
            for change in self.changes.0.iter().filter(|change| !given.contains(&change.argument.as_str())) {
                match &change.supply {
                    Some(Supply::Fixed(value)) => rewriting.add(&change.argument, value),
                    Some(Supply::Computed(compute)) => rewriting.add(&change.argument, &compute(context)?),
                    None => {}
                }
            }
            Ok(rewriting.finish())
        })?
    }

    /// Returns the members that stand in for the model's, each with the model's name.
    pub(super) fn stand_ins(&self, tool: &dyn Tool, arguments: &str) -> Vec<(String, String)> {
        let names = with_object(arguments, |_, members| {
            let replaced = |(name, _): &Member<'_>| match self.meaning(tool, name) {
                Meaning::NotShown => Some((self.stand_in(tool, name), name.to_string())),
                Meaning::Nothing => Some((name.to_string(), name.to_string())),
                Meaning::Changed(_) | Meaning::Own => None,
            };
            members.iter().filter_map(replaced).collect()
        });
        names.unwrap_or_default()
    }
}
