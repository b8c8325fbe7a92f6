//! The decoder of structured output.

use super::json;
use crate::helpers::lock;
use crate::model::{AnswerFormat, OutputFormat};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use toolkit_core::error::{Violation, ViolationKind};
use toolkit_core::schemars::{self, JsonSchema};
use toolkit_core::{BuildError, ClosureTool, Tool, ToolContext, ToolError, ToolParams};

/// The name used for the field in the wrapper object, for the internal tool, and for the format of a wrapped
/// value.
const ANSWER: &str = "answer";

/// A decoder from answers of the model to values of type `T`.
///
/// An answer is decoded like the arguments of a tool: near misses are coerced, and all violations are
/// reported at once.
pub(super) struct Reader<T> {
    tool: ClosureTool,
    context: ToolContext,
    /// The value decoded by the last call of `tool`.
    value: Arc<Mutex<Option<T>>>,
    /// Whether the schema wraps the value in an object with the field `answer`. Providers require an object
    /// at the root of a schema.
    is_wrapped: bool,
    format: OutputFormat,
}

#[derive(Deserialize, JsonSchema)]
#[serde(bound = "T: ToolParams")]
struct Wrapped<T> {
    answer: T,
}

impl<T: ToolParams + Send + 'static> Reader<T> {
    pub(super) fn new() -> Result<Self, BuildError> {
        let value = Arc::new(Mutex::new(None));
        let keep = |value: &Arc<Mutex<Option<T>>>| {
            let value = value.clone();
            move |read: T| *lock(&value) = Some(read)
        };
        let plain = keep(&value);
        let (tool, is_wrapped, mut format) = match ClosureTool::new(ANSWER, "", plain) {
            Ok(tool) => (tool, false, OutputFormat::of::<T>()),
            Err(_) => {
                let wrapped = keep(&value);
                let tool = ClosureTool::new(ANSWER, "", move |read: Wrapped<T>| wrapped(read.answer))?;
                (tool, true, OutputFormat::new(ANSWER, Value::Null))
            }
        };
        let definition = tool.definition();
        let description = format.schema.get("description").cloned();
        format.schema = definition.parameters.clone();
        if let (Some(description), Value::Object(schema)) = (description, &mut format.schema) {
            schema.insert("description".to_owned(), description);
        }
        let context = ToolContext::new(definition.name.clone());
        Ok(Self { context, tool, value, is_wrapped, format })
    }

    pub(super) fn answer_format(&self, native: Option<bool>) -> AnswerFormat {
        AnswerFormat { format: self.format.clone(), native }
    }

    /// Decodes the last valid value in an answer of the model.
    ///
    /// # Errors
    /// A message for the model with all violations of the last JSON value in the answer.
    pub(super) async fn read(&self, text: &str) -> Result<T, String> {
        let mut failure = None;
        for candidate in json::find(text).into_iter().rev() {
            match self.read_json(candidate).await {
                Ok(value) => return Ok(value),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(match failure {
            Some(error) => describe(&error),
            None if text.trim().is_empty() => "it is empty".to_owned(),
            None => match serde_json::from_str::<Value>(text.trim()) {
                Err(error) => format!("it is not JSON: {error}"),
                Ok(_) => "it is not JSON".to_owned(),
            },
        })
    }

    async fn read_json(&self, text: &str) -> Result<T, ToolError> {
        let read = self.call(text).await;
        // Also accept a value without the wrapper object.
        let is_object = || {
            let members = serde_json::from_str::<serde_json::Map<String, Value>>(text);
            members.is_ok_and(|members| members.contains_key(ANSWER))
        };
        if read.is_ok() || !self.is_wrapped || is_object() {
            return read;
        }
        self.call(&format!(r#"{{"{ANSWER}":{text}}}"#)).await
    }

    async fn call(&self, arguments: &str) -> Result<T, ToolError> {
        self.tool.call(arguments, &self.context).await?;
        let value = lock(&self.value).take();
        value.ok_or_else(|| ToolError::failed("nothing was read"))
    }
}

/// Describes the violations for the model. In the message, an unknown name is called a member instead of a
/// parameter.
fn describe(error: &ToolError) -> String {
    match error.violations() {
        [] => error.message().to_owned(),
        violations => violations.iter().map(|violation| format!("\n- {}", describe_one(violation))).collect(),
    }
}

fn describe_one(violation: &Violation) -> String {
    match violation.kind {
        ViolationKind::Unknown => violation.to_string().replace("no such parameter", "no such member"),
        _ => violation.to_string(),
    }
}
