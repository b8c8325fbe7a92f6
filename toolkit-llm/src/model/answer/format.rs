//! The form of an answer: its schema, and the check of answers.

use super::{AnswerMode, json};
use crate::model::OutputFormat;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit_core::error::{Violation, ViolationKind};
use toolkit_core::{ToolError, ToolRegistry};

/// The name of the wrapper's field, the internal tool that decodes answers, and the format of a wrapped
/// value.
pub const ANSWER: &str = "answer";

/// The form of an answer, and the number of invalid answers. The agents of a run share it.
///
/// An answer is checked like the arguments of a tool: near misses are coerced, and all violations are
/// reported at once.
#[derive(Debug)]
pub struct AnswerFormat {
    /// The schema of the answer.
    pub output: OutputFormat,
    /// Whether the schema wraps the value in an object with the field `answer`, because providers require an
    /// object at the root.
    pub is_wrapped: bool,
    pub(super) mode: Option<AnswerMode>,
    /// The registry of the internal tool. It knows the provider's spellings of members.
    pub(super) tools: ToolRegistry,
    pub(super) attempts: u32,
    pub(super) invalid: AtomicU32,
}

impl AnswerFormat {
    /// The default number of answers that a model may give.
    pub const ATTEMPTS: u32 = 3;

    /// Finds the last valid JSON value in a text, as arguments for the internal tool.
    ///
    /// # Errors
    /// A message for the model with all violations of the last JSON value.
    pub fn find<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, String> {
        // Near misses of JSON are corrected if the text is nothing but JSON.
        let whole = text.trim();
        if whole.starts_with(['{', '[']) && self.check(whole).is_ok() {
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

    /// Checks a JSON value, and adds the wrapper object if it is missing.
    fn fit<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, ToolError> {
        let checked = self.check(text);
        if checked.is_ok() || !self.is_wrapped || is_wrapper(text) {
            return checked.map(|()| text.into());
        }
        let wrapped = format!(r#"{{"{ANSWER}":{text}}}"#);
        self.check(&wrapped).map(|()| wrapped.into())
    }

    /// Checks an answer in the arguments of a tool call.
    ///
    /// # Errors
    /// The error to return as the result of the call.
    pub(super) fn check(&self, arguments: &str) -> Result<(), ToolError> {
        self.tools.validate(ANSWER, arguments)
    }

    /// Returns the number of invalid answers so far.
    #[must_use]
    pub fn invalid_answers(&self) -> u32 {
        self.invalid.load(Ordering::Relaxed)
    }

    /// Sets the number of invalid answers when an interrupted run continues. A model without attempts left
    /// gets new ones.
    pub fn continue_from(&self, invalid: u32) {
        let used_up = invalid >= self.attempts;
        self.invalid.store(if used_up { 0 } else { invalid }, Ordering::Relaxed);
    }

    /// Counts an invalid answer. Returns whether the model may answer again.
    pub fn may_repeat(&self) -> bool {
        self.invalid.fetch_add(1, Ordering::Relaxed) + 1 < self.attempts
    }
}

fn is_wrapper(text: &str) -> bool {
    let members = serde_json::from_str::<Map<String, Value>>(text);
    members.is_ok_and(|members| members.contains_key(ANSWER))
}

/// Describes the violations. An unknown name is called a member, because the answer is not a call with
/// parameters.
pub(super) fn describe(error: &ToolError) -> String {
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
