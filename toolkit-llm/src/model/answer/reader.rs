//! The decoder of answers.

use super::json;
use crate::helpers::lock;
use crate::model::OutputFormat;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex};
use toolkit_core::error::{Violation, ViolationKind};
use toolkit_core::schemars::{self, JsonSchema};
use toolkit_core::{BuildError, ClosureTool, Tool, ToolError, ToolParams, ToolRegistry};

/// The name of three things: the field of the wrapper object, the internal tool that decodes answers, and the
/// format of a wrapped value.
pub const ANSWER: &str = "answer";

/// Decodes answers of the model into values of type `T`.
///
/// An answer is decoded like the arguments of a tool: near misses are coerced, and all violations are
/// reported at once.
pub struct AnswerReader<T> {
    /// The registry of the internal tool. It knows the names of members as providers spell them.
    tools: ToolRegistry,
    /// The value that the last call of the tool has decoded.
    value: Arc<Mutex<Option<T>>>,
    /// Whether the schema wraps the value in an object with the field `answer`. Providers require an object
    /// at the root of a schema.
    pub is_wrapped: bool,
    format: OutputFormat,
}

#[derive(Deserialize, JsonSchema)]
#[serde(bound = "T: ToolParams")]
struct Wrapped<T> {
    answer: T,
}

impl<T: ToolParams + Send + 'static> AnswerReader<T> {
    /// Creates a decoder.
    ///
    /// # Errors
    /// [`BuildError`] if the schema of the type is not that of a tool's parameters.
    pub fn new() -> Result<Self, BuildError> {
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
        format.schema = definition.published(false).into_owned().parameters;
        if let (Some(description), Value::Object(schema)) = (description, &mut format.schema) {
            schema.insert("description".to_owned(), description);
        }
        Ok(Self { tools: ToolRegistry::from_tools([tool])?, value, is_wrapped, format })
    }

    /// Returns the format that the answer must have.
    #[must_use]
    pub fn format(&self) -> &OutputFormat {
        &self.format
    }

    /// Decodes an answer that is the arguments of a tool call.
    ///
    /// # Errors
    /// A message for the model that lists all violations.
    pub async fn decode(&self, arguments: &str) -> Result<T, String> {
        self.tools.call(ANSWER, arguments).await.map_err(|error| describe(&error))?;
        let value = lock(&self.value).take();
        value.ok_or_else(|| "nothing was read".to_owned())
    }

    /// Decodes the last valid JSON value in the text of an answer.
    ///
    /// # Errors
    /// A message for the model. It lists all violations of the last JSON value in the answer.
    pub async fn read(&self, text: &str) -> Result<T, String> {
        let arguments = self.find(text)?;
        self.decode(&arguments).await
    }

    /// Finds the last valid JSON value in the text of an answer. Returns it as arguments for the internal
    /// tool.
    ///
    /// # Errors
    /// A message for the model. It lists all violations of the last JSON value in the answer.
    pub fn find<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, String> {
        // If the text is nothing but JSON, near misses of JSON are corrected.
        let whole = text.trim();
        let whole = whole.starts_with(['{', '[']).then_some(whole).filter(|whole| self.check(whole).is_ok());
        if let Some(whole) = whole {
            return Ok(whole.into());
        }
        let mut failure = None;
        for candidate in json::find(text).into_iter().rev() {
            match self.fit(candidate) {
                Ok(arguments) => return Ok(arguments),
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

    /// Checks a JSON value, and returns it as arguments for the internal tool. Adds the wrapper object if it
    /// is missing.
    fn fit<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, ToolError> {
        let checked = self.check(text);
        // A value without the wrapper object is accepted, too.
        let is_object = || {
            let members = serde_json::from_str::<serde_json::Map<String, Value>>(text);
            members.is_ok_and(|members| members.contains_key(ANSWER))
        };
        if checked.is_ok() || !self.is_wrapped || is_object() {
            return checked.map(|()| text.into());
        }
        let wrapped = format!(r#"{{"{ANSWER}":{text}}}"#);
        self.check(&wrapped).map(|()| wrapped.into())
    }

    /// Checks an answer that is the arguments of a tool call.
    ///
    /// # Errors
    /// The error to return to the model as the result of the call.
    pub fn check(&self, arguments: &str) -> Result<(), ToolError> {
        self.tools.validate(ANSWER, arguments)
    }
}

impl<T> fmt::Debug for AnswerReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerReader").field("format", &self.format.name).finish_non_exhaustive()
    }
}

/// Describes the violations for the model. An unknown name is called a member, because the answer is not a
/// tool call with parameters.
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
