//! Results of calls.

use crate::call::{CallId, ProviderExtras, ToolCall};
use crate::context::ToolActions;
use crate::error::ToolError;
use crate::output::ToolOutput;
use crate::output::serde::tool_output;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::time::Duration;

/// The result of one call.
///
/// A serialized result has either a member `output` or a member `error`.
///
/// ```
/// use toolkit_ai::{ToolError, ToolResult};
///
/// let result = ToolResult::new("call_1".into(), "pay", Err(ToolError::denied("pay", "ask first")));
/// let written = serde_json::to_value(&result)?;
/// assert_eq!(written["error"]["kind"], "denied");
/// assert_eq!(serde_json::from_value::<ToolResult>(written)?, result);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: CallId,
    /// The tool name, spelled as in the call.
    pub name: String,
    /// The position of the call in its batch, from 0.
    #[serde(default)]
    pub position: usize,
    /// The output, or the error for the model.
    #[serde(flatten, with = "OutcomeForm")]
    pub outcome: Result<ToolOutput, ToolError>,
    /// The running time of the tool. Zero if the tool did not run.
    #[serde(default)]
    pub duration: Duration,
    /// The model's reason for the call, if the registry [asks for
    /// it](crate::ToolRegistry::with_call_reason).
    #[serde(default, alias = "reason")]
    pub call_reason: Option<String>,
    /// The actions of the call. A failed call has none.
    #[serde(default)]
    pub actions: ToolActions,
    /// The provider-specific fields, sent back with the result.
    #[serde(default)]
    pub extras: ProviderExtras,
}

#[derive(Deserialize)]
#[serde(remote = "Result<ToolOutput, ToolError>")]
enum OutcomeForm {
    #[serde(rename = "output", with = "tool_output")]
    Ok(ToolOutput),
    #[serde(rename = "error")]
    Err(ToolError),
}

/// Written by hand: the outcome is one of two members, and a flattened enum is slower.
impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { call_id, name, position, outcome, duration, call_reason, actions, extras } = self;
        let optional = [call_reason.is_some(), !actions.is_empty(), !extras.is_empty()];
        let [has_reason, has_actions, has_extras] = optional;
        let len = 5 + optional.into_iter().filter(|is_there| *is_there).count();
        let mut result = serializer.serialize_struct("ToolResult", len)?;
        result.serialize_field("call_id", call_id)?;
        result.serialize_field("name", name)?;
        result.serialize_field("position", position)?;
        match outcome {
            Ok(output) => result.serialize_field("output", &ResultOutput(output))?,
            Err(error) => result.serialize_field("error", error)?,
        }
        result.serialize_field("duration", duration)?;
        if has_reason {
            result.serialize_field("call_reason", call_reason)?;
        }
        if has_actions {
            result.serialize_field("actions", actions)?;
        }
        if has_extras {
            result.serialize_field("extras", extras)?;
        }
        result.end()
    }
}

struct ResultOutput<'a>(&'a ToolOutput);

impl Serialize for ResultOutput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        tool_output::serialize(self.0, serializer)
    }
}

impl ToolResult {
    /// Creates the result of a call, with a duration of zero.
    pub fn new(call_id: CallId, name: impl Into<String>, outcome: Result<ToolOutput, ToolError>) -> Self {
        let extras = ProviderExtras::default();
        Self {
            call_id,
            name: name.into(),
            position: 0,
            outcome,
            duration: Duration::ZERO,
            call_reason: None,
            actions: ToolActions::default(),
            extras,
        }
    }

    /// Creates the result of a call that the program answers.
    pub fn of(call: &ToolCall, outcome: Result<ToolOutput, ToolError>) -> Self {
        Self { extras: call.extras.clone(), ..Self::new(call.id.clone(), call.name.clone(), outcome) }
    }

    /// Merges the actions of all results; later actions take precedence.
    #[must_use]
    pub fn merged_actions(results: &[Self]) -> ToolActions {
        let mut merged = ToolActions::default();
        for result in results {
            merged.merge(&result.actions);
        }
        merged
    }

    /// Returns the text for the model: the output, or the message of the error.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match &self.outcome {
            Ok(output) => output.to_text(),
            Err(error) => Cow::Borrowed(error.message()),
        }
    }

    /// Returns the output, if the call succeeded.
    #[must_use]
    pub fn output(&self) -> Option<&ToolOutput> {
        self.outcome.as_ref().ok()
    }

    /// Returns the error, if the call failed.
    #[must_use]
    pub fn error(&self) -> Option<&ToolError> {
        self.outcome.as_ref().err()
    }

    /// Returns whether the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome.is_err()
    }
}

setters! { ToolResult:
    /// Sets the position of the call in its batch.
    with_position(position: usize) = position;
    /// Sets the provider-specific fields, sent back with the result.
    with_extras(extras: ProviderExtras) = extras;
}
