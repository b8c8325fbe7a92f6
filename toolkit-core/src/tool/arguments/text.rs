//! Rewriting the text of arguments from the model's names to the tool's.

use super::super::argument::Supply;
use super::super::{Tool, ToolFuture};
use super::{Arguments, Inner, Meaning, Unknown};
use crate::args::{Member, unknown, with_object};
use crate::context::ToolContext;
use crate::error::{ToolError, Violation};
use serde_json::Value;
use std::ptr;

impl Arguments {
    /// Starts a call of the tool with the arguments as the model wrote them.
    pub(in super::super) fn call<'a>(
        &'a self,
        tool: &'a dyn Tool,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> ToolFuture<'a> {
        let rewritten = match self.0.rewrite(tool, arguments, context) {
            Ok(rewritten) => rewritten,
            Err(error) => return ToolFuture::refused(error),
        };
        let call = async move { tool.call(&rewritten, context).await };
        ToolFuture::running(call, move |outcome| {
            outcome.map_err(|error| self.0.translated(tool, arguments, error))
        })
    }
}

impl Arguments {
    /// Checks a call of the tool with the arguments as the model wrote them.
    pub(in super::super) fn validate(
        &self,
        tool: &dyn Tool,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let rewritten = self.0.rewrite(tool, arguments, context)?;
        tool.validate(&rewritten, context).map_err(|error| self.0.translated(tool, arguments, error))
    }
}

impl Inner {
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
                        Unknown::Ignored => rewriting.skip(value.get()),
                        Unknown::Refused => refused.push(unknown(name, self.shown())),
                    },
                }
            }
            if !refused.is_empty() {
                return Err(ToolError::invalid_arguments(refused));
            }
            for change in self.changes.iter().filter(|change| !given.contains(&change.argument.as_str())) {
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
                Meaning::NotShown => Some((self.stand_in(tool, name), name.clone())),
                Meaning::Nothing => Some((name.clone(), name.clone())),
                Meaning::Changed(_) | Meaning::Own => None,
            };
            members.iter().filter_map(replaced).collect()
        });
        names.unwrap_or_default()
    }
}

/// An object's text while it is rewritten.
struct Rewriting<'a> {
    object: &'a str,
    /// The number of bytes read.
    read: usize,
    written: String,
    is_empty: bool,
}

impl<'a> Rewriting<'a> {
    fn new(object: &'a str) -> Self {
        let mut written = String::with_capacity(object.len() + 32);
        written.push('{');
        Self { object, read: 1, written, is_empty: true }
    }

    /// Returns the text before a value, its name included. The value borrows from the text, so its place is known.
    fn before(&mut self, value: &str) -> &'a str {
        let start = ptr::from_ref(value).addr() - ptr::from_ref(self.object).addr();
        let before = self.object.get(self.read..start).unwrap_or_default();
        self.read = start + value.len();
        before.trim_start().trim_start_matches(',')
    }

    fn skip(&mut self, value: &str) {
        self.before(value);
    }

    /// Copies a member, under another name if one is given.
    fn keep(&mut self, value: &str, name: Option<&str>) {
        let before = self.before(value);
        self.separate();
        let own_name = before.find('"').zip(before.rfind('"'));
        match (name, own_name) {
            (Some(name), Some((start, end))) => {
                self.written.push_str(before.get(..start).unwrap_or_default());
                self.written.push_str(&Value::from(name).to_string());
                self.written.push_str(before.get(end + 1..).unwrap_or_default());
            }
            _ => self.written.push_str(before),
        }
        self.written.push_str(value);
    }

    fn add(&mut self, name: &str, value: &Value) {
        self.separate();
        self.written.push_str(&format!("{}:{value}", Value::from(name)));
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.written.push(',');
        }
    }

    fn finish(mut self) -> String {
        self.written.push('}');
        self.written
    }
}
