//! The decoder of answers.

use super::AnswerMode;
use super::format::{ANSWER, AnswerFormat, describe};
use crate::helpers::lock;
use crate::model::OutputFormat;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use toolkit_core::schemars::{self, JsonSchema};
use toolkit_core::{BuildError, ClosureTool, Tool, ToolParams, ToolRegistry};

/// Decodes answers of the model into values of type `T`.
pub struct AnswerReader<T> {
    /// The form that the answer must have.
    pub format: Arc<AnswerFormat>,
    value: Arc<Mutex<Option<T>>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(bound = "T: ToolParams")]
struct Wrapped<T> {
    answer: T,
}

impl<T: ToolParams + Send + 'static> AnswerReader<T> {
    /// Creates a decoder for at most `attempts` answers.
    ///
    /// # Errors
    /// [`BuildError`] if the schema of the type is not that of a tool's parameters.
    pub fn new(mode: Option<AnswerMode>, attempts: u32) -> Result<Self, BuildError> {
        let value = Arc::new(Mutex::new(None));
        let kept = value.clone();
        let plain = ClosureTool::new(ANSWER, "", move |read: T| *lock(&kept) = Some(read));
        let is_wrapped = plain.is_err();
        let tool = match plain {
            Ok(tool) => tool,
            Err(_) => {
                let kept = value.clone();
                ClosureTool::new(ANSWER, "", move |read: Wrapped<T>| *lock(&kept) = Some(read.answer))?
            }
        };
        let mut output =
            if is_wrapped { OutputFormat::new(ANSWER, Value::Null) } else { OutputFormat::of::<T>() };
        let definition = tool.definition();
        let description = output.schema.get("description").cloned();
        output.schema = definition.published(false).into_owned().parameters;
        if let (Some(description), Value::Object(schema)) = (description, &mut output.schema) {
            schema.insert("description".to_owned(), description);
        }
        let tools = ToolRegistry::from_tools([tool])?;
        let format = AnswerFormat { output, is_wrapped, mode, tools, attempts, invalid: AtomicU32::new(0) };
        Ok(Self { format: Arc::new(format), value })
    }

    /// Decodes an answer in the arguments of a tool call.
    ///
    /// # Errors
    /// A message for the model with all violations.
    pub async fn decode(&self, arguments: &str) -> Result<T, String> {
        self.format.tools.call(ANSWER, arguments).await.map_err(|error| describe(&error))?;
        let value = lock(&self.value).take();
        value.ok_or_else(|| "nothing was read".to_owned())
    }

    /// Decodes the last valid JSON value in a text.
    ///
    /// # Errors
    /// A message for the model with all violations of the last JSON value.
    pub async fn read(&self, text: &str) -> Result<T, String> {
        let arguments = self.format.find(text)?;
        self.decode(&arguments).await
    }
}

impl<T> fmt::Debug for AnswerReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerReader").field("format", &self.format.output.name).finish_non_exhaustive()
    }
}
