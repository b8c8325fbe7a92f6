//! The requests for an answer in a form, and what follows from the answers.

use super::tool::{AnswerTools, feedback, instructions};
use super::{AnswerFormat, AnswerMode};
use crate::message::RequestLoss;
use crate::model::{ChatModel, ModelError, ModelErrorKind, ModelOptions, ModelRequest, OutputLosses};
use crate::response::FinishReason;
use std::sync::Arc;
use toolkit_core::{
    BuildError, ErrorKind, ToolCall, ToolChoice, ToolError, ToolOutput, ToolRegistry, ToolResult,
};

const ACCEPTED: &str = "The answer was accepted.";

/// The requested form of a final answer, and the progress of the model.
///
/// [`ChatModel::ask`] and the turns of an agent go through the same states:
///
/// 1. [`begin_request`](Self::begin_request) chooses how the next request asks for the answer, and
///    [`add_to`](Self::add_to) writes it into the request.
/// 2. If the server refuses this request, [`falls_back`](Self::falls_back) says whether to make it again as
///    text.
/// 3. After an invalid answer, [`repeat`](Self::repeat) begins the repair, and [`feedback`](Self::feedback)
///    asks for another answer.
#[derive(Debug)]
pub struct FinalAnswer<'a> {
    /// `None` if any text is an answer.
    format: Option<&'a AnswerFormat>,
    /// Whether an answer was invalid. Then all calls except for another answer are refused.
    is_repair: bool,
    /// Whether the server has refused a request for this form.
    is_refused: bool,
    mode: AnswerMode,
    /// The constraints that the provider would not enforce, if computed.
    losses: Option<OutputLosses>,
    /// `None` if the answer is text.
    tool: Option<AnswerTools>,
}

impl<'a> FinalAnswer<'a> {
    /// Creates the state before the first request.
    #[must_use]
    pub fn new(format: Option<&'a AnswerFormat>, is_repair: bool) -> Self {
        Self { format, is_repair, is_refused: false, mode: AnswerMode::Text, losses: None, tool: None }
    }

    /// Chooses how the next request asks for the answer.
    ///
    /// `tools` are those without the answer tool, and `choice` is the program's tool choice. Returns the
    /// losses that exclude the native form, if the program has set it.
    ///
    /// # Errors
    /// [`BuildError`] if the schema of the answer is not that of a tool.
    pub fn begin_request(
        &mut self,
        model: &impl ChatModel,
        tools: Arc<ToolRegistry>,
        options: &ModelOptions,
        choice: &ToolChoice,
    ) -> Result<&[RequestLoss], BuildError> {
        let Some(format) = self.format else { return Ok(&[]) };
        let may_call = *choice != ToolChoice::None;
        // Some servers enforce the schema from the first token on. With tools, the model would then invent an
        // answer instead of calling a tool.
        let may_enforce = options.hosted.is_empty() && (tools.is_empty() || !may_call);
        self.mode = match format.mode {
            _ if self.is_refused => AnswerMode::Text,
            Some(AnswerMode::Native) if self.losses(model, format).narrowed.is_some() => AnswerMode::Tool,
            Some(mode) => mode,
            None if may_enforce && self.losses(model, format).is_empty() => AnswerMode::Native,
            None if may_call => AnswerMode::Tool,
            None => AnswerMode::Text,
        };
        if self.mode != AnswerMode::Tool {
            self.tool = None;
            return Ok(&[]);
        }
        if !self.tool.as_ref().is_some_and(|tool| Arc::ptr_eq(&tool.own, &tools)) {
            self.tool = Some(AnswerTools::new(tools, &format.output)?);
        }
        match &self.losses {
            Some(excluded) if format.mode == Some(AnswerMode::Native) => Ok(&excluded.losses),
            _ => Ok(&[]),
        }
    }

    fn losses(&mut self, model: &impl ChatModel, format: &AnswerFormat) -> &OutputLosses {
        self.losses.get_or_insert_with(|| model.output_losses(&format.output))
    }

    /// Adds instructions, an output format or a tool.
    pub fn add_to(&self, request: &mut ModelRequest) {
        if let Some(AnswerFormat { output, .. }) = self.format {
            if !request.instructions.is_empty() {
                request.instructions.push_str("\n\n");
            }
            request.instructions.push_str(&instructions(self.tool(), &output.schema, self.is_repair));
            let enforced = if self.mode == AnswerMode::Native { Some(output.clone()) } else { None };
            if request.options.output != enforced {
                Arc::make_mut(&mut request.options).output = enforced;
            }
        }
        let choice = &mut request.tool_use.choice;
        match &self.tool {
            Some(AnswerTools { name, all, .. }) => {
                request.tools = all.clone();
                match choice {
                    ToolChoice::Allowed { names, .. } if !self.is_repair => names.push(name.clone()),
                    ToolChoice::None => *choice = ToolChoice::Tool(name.clone()),
                    _ if self.is_repair => *choice = ToolChoice::Tool(name.clone()),
                    _ => {}
                }
            }
            // The tools stay, because some providers refuse a history with calls of undefined tools.
            None if self.is_repair => *choice = ToolChoice::None,
            None => {}
        }
    }

    /// Returns whether to repeat a refused request, with the schema only in the instructions.
    pub fn falls_back(&mut self, error: &ModelError) -> bool {
        let is_refused = error.kind() == ModelErrorKind::InvalidRequest;
        let falls_back = self.format.is_some() && is_refused && self.mode != AnswerMode::Text;
        self.is_refused |= falls_back;
        falls_back
    }

    /// Returns the name of the answer tool, unless the answer is text.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        let tool = self.tool.as_ref()?;
        Some(&tool.name)
    }

    /// Returns whether a request has a tool with this name, the answer tool included.
    #[must_use]
    pub fn has_tool(&self, tools: &ToolRegistry, name: &str) -> bool {
        match &self.tool {
            Some(tool) => tool.all.contains(name),
            None => tools.contains(name),
        }
    }

    /// Returns whether `call` gives a final answer, valid or not.
    #[must_use]
    pub fn is_in(&self, call: &ToolCall) -> bool {
        self.tool() == Some(call.name.as_str())
    }

    /// Checks an answer in the arguments of `call`, and returns the result of the call.
    ///
    /// Returns `None` for other calls. Middleware and the limit of tool calls do not apply.
    #[must_use]
    pub fn outcome(&self, call: &ToolCall) -> Option<Result<ToolOutput, ToolError>> {
        let format = self.format?;
        if !self.is_in(call) {
            return None;
        }
        let checked = format.check(call.arguments.as_str());
        Some(checked.map(|()| ToolOutput::text(ACCEPTED)))
    }

    /// Returns whether `call` gives an invalid final answer.
    #[must_use]
    pub fn is_invalid(&self, call: &ToolCall) -> bool {
        matches!(self.outcome(call), Some(Err(_)))
    }

    /// Returns whether an answer was invalid, so that the model is only asked for another.
    #[must_use]
    pub fn is_repair(&self) -> bool {
        self.is_repair
    }

    /// Returns an error for a call that is not another answer after an invalid one.
    ///
    /// `is_repair` is `true` if an earlier call of the same message gave the invalid answer.
    #[must_use]
    pub fn refusal(&self, call: &ToolCall, is_repair: bool) -> Option<ToolError> {
        let is_expected = !is_repair && !self.is_repair || self.is_in(call);
        if is_expected {
            return None;
        }
        let text = format!("Tool `{}` is not available now: only the final answer is expected", call.name);
        Some(ToolError::new(ErrorKind::Denied, text))
    }

    /// Returns the first valid answer among the calls.
    #[must_use]
    pub fn accepted(&self, calls: &[ToolCall], results: &[ToolResult]) -> Option<String> {
        let mut ended = calls.iter().zip(results);
        let (call, _) = ended.find(|(call, result)| self.is_in(call) && result.outcome.is_ok())?;
        // The decoder reads empty arguments as an empty object.
        let arguments = call.arguments.as_str();
        Some(if arguments.trim().is_empty() { "{}" } else { arguments }.to_owned())
    }

    /// Returns why the calls of a message give no valid answer.
    ///
    /// Returns `None` if they give none, and the model may go on. The caller ignores the reason if another
    /// call gave a valid answer.
    #[must_use]
    pub fn invalid(&self, calls: &[ToolCall], results: &[ToolResult]) -> Option<String> {
        let mut ended = calls.iter().zip(results);
        match ended.find(|(call, _)| self.is_in(call)) {
            Some((_, result)) => Some(result.to_text().into_owned()),
            None if self.is_repair && !calls.is_empty() => Some("the model called other tools".to_owned()),
            None => None,
        }
    }

    /// Checks an answer that is text.
    ///
    /// # Errors
    /// A message for the model that describes all violations.
    pub fn check_text(&self, text: &str) -> Result<(), String> {
        match self.format {
            Some(format) => format.find(text).map(drop),
            None => Ok(()),
        }
    }

    /// Counts an invalid answer. Returns whether the model may answer again.
    pub fn repeat(&mut self) -> bool {
        self.is_repair = true;
        self.format.is_none_or(AnswerFormat::may_repeat)
    }

    /// Returns the number of invalid answers so far.
    #[must_use]
    pub fn invalid_answers(&self) -> u32 {
        self.format.map_or(0, AnswerFormat::invalid_answers)
    }

    /// Returns the message that asks for another answer.
    ///
    /// `invalid` describes what is wrong, and `finish` is why the last answer ended.
    #[must_use]
    pub fn feedback(&self, invalid: &str, finish: &FinishReason) -> String {
        let again = match self.tool() {
            Some(name) => format!("Answer again, by calling the tool `{name}`."),
            None => "Answer again, with JSON of that form and nothing else.".to_owned(),
        };
        let cut = if *finish == FinishReason::Length { "\nIt was cut off: be shorter." } else { "" };
        feedback(&format!("{invalid}{cut}"), &again)
    }
}
