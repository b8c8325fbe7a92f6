//! The tool whose arguments are the answer, and the texts that ask for an answer.

use crate::model::OutputFormat;
use serde_json::Value;
use std::sync::Arc;
use toolkit_core::error::BuildProblem;
use toolkit_core::{
    BuildError, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolMetadata, ToolName,
    ToolRegistry,
};

/// The name of the answer tool. If it is taken, a number is appended.
const TOOL: &str = "final_answer";

#[derive(Debug)]
pub(super) struct AnswerTools {
    pub(super) name: String,
    pub(super) own: Arc<ToolRegistry>,
    pub(super) all: Arc<ToolRegistry>,
}

impl AnswerTools {
    /// Adds an answer tool with a unique name.
    ///
    /// # Errors
    /// [`BuildError`] if the schema of the answer is not that of a tool.
    pub(super) fn new(own: Arc<ToolRegistry>, format: &OutputFormat) -> Result<Self, BuildError> {
        let mut all = (*own).clone();
        let mut name = TOOL.to_owned();
        let mut number = 1_u32;
        loop {
            // Only registering finds out whether a disabled tool has the name.
            match all.register(AnswerTool::new(&name, format)?) {
                Ok(()) => return Ok(Self { name, own, all: Arc::new(all) }),
                Err(error) if !error.problems().iter().all(is_taken) => return Err(error),
                Err(_) => {}
            }
            number += 1;
            name = format!("{TOOL}_{number}");
        }
    }
}

fn is_taken(problem: &BuildProblem) -> bool {
    matches!(problem, BuildProblem::DuplicateName { .. })
}

/// Returns the instructions for an answer by calling `tool`, or as text. `is_repair` is `true` after an
/// invalid answer.
pub(super) fn instructions(tool: Option<&str>, schema: &Value, is_repair: bool) -> String {
    match tool {
        Some(name) if is_repair => format!(
            "Give your final answer by calling the tool `{name}`. Its arguments fit this schema:\n{schema}"
        ),
        Some(name) => {
            format!("When you have all that you need, give your final answer by calling the tool `{name}`.")
        }
        None => format!(
            "When you have all that you need, give your final answer as JSON that fits this schema, and write \
             nothing else:\n{schema}"
        ),
    }
}

/// Returns the message that asks for another answer. `invalid` describes what is wrong, and `again` says how
/// to answer.
#[must_use]
pub fn feedback(invalid: &str, again: &str) -> String {
    format!("Your answer is not of the form that was asked for: {invalid}\n{again}")
}

/// The answer tool. It never runs, because the asking program decodes its arguments.
struct AnswerTool(ToolDefinition);

impl AnswerTool {
    fn new(name: &str, format: &OutputFormat) -> Result<Self, BuildError> {
        let name = ToolName::new(name)?;
        let mut description = "Gives the final answer.".to_owned();
        if let Some(Value::String(about)) = format.schema.get("description") {
            description = format!("{description} {about}");
        }
        let metadata = ToolMetadata::default().with_read_only(true).with_idempotent(true);
        Ok(Self(ToolDefinition::new(name, description, format.schema.clone()).with_metadata(metadata)))
    }
}

impl Tool for AnswerTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Err(ToolError::failed("the final answer is no call")))
    }
}
