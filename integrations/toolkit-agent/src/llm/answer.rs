//! The final answer of an agent in a requested form: how the agent asks for it, finds it and has it
//! corrected.

use super::settings::Settings;
use crate::agent::Run;
use crate::answer::{AnswerFormat, is_blocked};
use crate::error::AgentError;
use crate::message::ACCEPTED;
use std::sync::{Arc, OnceLock};
use toolkit_core::{
    BuildError, Content, Dispatcher, ErrorKind, ToolCall, ToolChoice, ToolError, ToolOutput, ToolRegistry,
    ToolResult,
};
use toolkit_llm::ChatModel as _;
use toolkit_llm::model::OutputLosses;
use toolkit_llm::model::answer::{AnswerMode, AnswerTools, instructions};
use toolkit_llm::{AssistantMessage, Message, ToolMessage, UserMessage};
use toolkit_llm::{FinishReason, ModelRequest};

/// The requested form of an agent's final answer, and how far the agent has come with it.
pub(super) struct FinalAnswer<'a> {
    /// The requested form. `None` if any text is an answer.
    format: Option<&'a AnswerFormat>,
    /// Whether an answer was invalid. Afterwards, all calls except for another answer are refused.
    is_repair: bool,
    /// Whether the server has refused a request that asked for this form of the answer.
    is_refused: bool,
    /// The way in which the current turn asks for the answer.
    mode: AnswerMode,
    /// The constraints of the schema that the provider would not enforce. Computed at first use.
    losses: OnceLock<OutputLosses>,
    /// The tool whose arguments are the answer, together with the tools of the agent. `None` if the answer is
    /// text.
    tool: Option<AnswerTools>,
}

impl<'a> FinalAnswer<'a> {
    /// Creates the state of an agent's final answer. `is_repair` is `true` if an earlier answer was invalid.
    pub(super) fn new(run: &'a Run, is_repair: bool) -> Self {
        Self {
            format: run.0.answer_format.as_deref(),
            is_repair: is_repair && run.0.answer_format.is_some() || run.0.answers_only,
            is_refused: false,
            mode: AnswerMode::Text,
            losses: OnceLock::new(),
            tool: None,
        }
    }

    /// Chooses how the next turn asks for the answer. `tools` are the tools of the agent.
    pub(super) fn begin_turn(
        &mut self,
        settings: &Settings,
        tools: &Dispatcher,
        run: &Run,
    ) -> Result<(), BuildError> {
        let Some(format) = self.format else { return Ok(()) };
        let tools = tools.registry();
        let hosted = &settings.options.hosted;
        let may_call = settings.tool_config.choice != ToolChoice::None;
        let losses = &self.losses;
        let losses = || losses.get_or_init(|| settings.model.output_losses(&format.format));
        self.mode = match format.mode {
            _ if self.is_refused => AnswerMode::Text,
            Some(AnswerMode::Native) => match losses() {
                OutputLosses { narrowed: None, .. } => AnswerMode::Native,
                OutputLosses { losses, .. } => {
                    run.emit_losses(&settings.name, losses);
                    AnswerMode::Tool
                }
            },
            Some(mode) => mode,
            // Some servers enforce the schema from the first token on. If there are also tools, the model
            // would then invent an answer instead of calling a tool.
            None if hosted.is_empty() && (tools.is_empty() || !may_call) && losses().is_empty() => {
                AnswerMode::Native
            }
            None if may_call => AnswerMode::Tool,
            None => AnswerMode::Text,
        };
        if self.mode != AnswerMode::Tool {
            self.tool = None;
        } else if !self.tool.as_ref().is_some_and(|known| Arc::ptr_eq(&known.own, &tools)) {
            self.tool = Some(AnswerTools::new(tools, &format.format)?);
        }
        let tool = self.tool.as_ref().map_or("", |tool| &tool.name);
        format.set_source(&settings.name, tool);
        Ok(())
    }

    /// Adds the requested form of the answer to the request of a turn: instructions, an output format or a
    /// tool.
    pub(super) fn add_to(&self, request: &mut ModelRequest) {
        if let Some(format) = self.format {
            let schema = &format.format.schema;
            let tool = self.tool.as_ref().map(|tool| tool.name.as_str());
            let text = instructions(tool, schema, self.is_repair);
            if !request.instructions.is_empty() {
                request.instructions.push_str("\n\n");
            }
            request.instructions.push_str(&text);
            if self.mode == AnswerMode::Native || request.options.output.is_some() {
                let output = (self.mode == AnswerMode::Native).then(|| format.format.clone());
                Arc::make_mut(&mut request.options).output = output;
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
            // The tools stay in the request, because some providers refuse a history with calls of undefined
            // tools.
            None if self.is_repair => *choice = ToolChoice::None,
            None => {}
        }
    }

    /// Returns whether a request has a tool with this name. `tools` are the tools of the agent.
    pub(super) fn has_tool(&self, tools: &ToolRegistry, name: &str) -> bool {
        self.tool.as_ref().map_or(tools, |tool| &*tool.all).contains(name)
    }

    /// Returns whether the arguments of `call` are a final answer, valid or not.
    pub(super) fn is_in(&self, call: &ToolCall) -> bool {
        self.tool.as_ref().is_some_and(|tool| tool.name == call.name)
    }

    /// Checks an answer in the arguments of `call`, and returns the result of the call. Returns `None` if the
    /// arguments are not an answer. Middleware and the limit of tool calls do not apply to an answer.
    pub(super) fn outcome(&self, call: &ToolCall) -> Option<Result<ToolOutput, ToolError>> {
        let format = self.format.filter(|_| self.is_in(call))?;
        let checked = format.check().arguments(call.arguments.as_str());
        Some(checked.map(|()| ToolOutput::text(ACCEPTED)))
    }

    /// Returns whether the arguments of `call` are a final answer that is invalid.
    pub(super) fn is_invalid(&self, call: &ToolCall) -> bool {
        matches!(self.outcome(call), Some(Err(_)))
    }

    /// Returns whether an answer was invalid, so that the agent only asks for another answer.
    pub(super) fn is_repair(&self) -> bool {
        self.is_repair
    }

    /// Returns an error for `call` if an answer was invalid and `call` is not another answer. `is_repair` is
    /// `true` if an earlier call of the same turn gave the invalid answer.
    pub(super) fn refusal(&self, call: &ToolCall, is_repair: bool) -> Option<ToolError> {
        ((is_repair || self.is_repair) && !self.is_in(call)).then(|| {
            let text =
                format!("Tool `{}` is not available now: only the final answer is expected", call.name);
            ToolError::new(ErrorKind::Denied, text)
        })
    }

    /// Returns the first valid answer among the calls of a turn.
    pub(super) fn accepted(&self, calls: &[ToolCall], results: &[ToolResult]) -> Option<String> {
        let mut ended = calls.iter().zip(results);
        let (call, _) = ended.find(|(call, result)| self.is_in(call) && result.outcome.is_ok())?;
        // The decoder of calls reads empty arguments as an empty object.
        let arguments = call.arguments.as_str();
        Some(if arguments.trim().is_empty() { "{}" } else { arguments }.to_owned())
    }

    /// Returns why the calls of a turn give no valid answer. Returns `None` if the turn gives no answer and
    /// may go on. The caller ignores the reason if another call gave a valid answer.
    pub(super) fn invalid(&self, calls: &[ToolCall], results: &[ToolResult]) -> Option<String> {
        let mut ended = calls.iter().zip(results);
        match ended.find(|(call, _)| self.is_in(call)) {
            Some((_, result)) => Some(result.to_text().into_owned()),
            None => (self.is_repair && !calls.is_empty()).then(|| "the model called other tools".to_owned()),
        }
    }

    /// Checks an answer that is text. If it is invalid, returns a message that asks the model for another
    /// answer.
    ///
    /// # Errors
    /// [`AgentError::InvalidOutput`] if the answer is invalid and the model has no further attempt.
    pub(super) fn feedback(
        &mut self,
        text: &str,
        finish: &FinishReason,
    ) -> Result<Option<String>, AgentError> {
        let is_other = *finish == FinishReason::Refused || is_blocked(finish);
        let Some(format) = self.format.filter(|_| !is_other) else { return Ok(None) };
        let Err(invalid) = format.check().text(text) else { return Ok(None) };
        self.repeat(&invalid)?;
        let again = match &self.tool {
            Some(AnswerTools { name, .. }) => format!("Answer again, by calling the tool `{name}`."),
            None => "Answer again, with JSON of that form and nothing else.".to_owned(),
        };
        let cut = if *finish == FinishReason::Length { "\nIt was cut off: be shorter." } else { "" };
        Ok(Some(format!("Your answer is not of the form that was asked for: {invalid}{cut}\n{again}")))
    }

    /// Counts an invalid answer. Afterwards, all calls except for another answer are refused. `invalid`
    /// describes what is wrong.
    ///
    /// # Errors
    /// [`AgentError::InvalidOutput`] if the model has no further attempt.
    pub(super) fn repeat(&mut self, invalid: &str) -> Result<(), AgentError> {
        self.is_repair = true;
        match self.format {
            Some(format) if !format.may_repeat() => Err(AgentError::InvalidOutput(invalid.to_owned())),
            _ => Ok(()),
        }
    }

    /// Returns the number of invalid answers so far.
    pub(super) fn invalid_answers(&self) -> u32 {
        self.format.map_or(0, AnswerFormat::invalid_answers)
    }

    /// Returns whether to repeat the turn with the schema only in the instructions, because the server has
    /// refused the request.
    pub(super) fn falls_back(&mut self, error: &AgentError) -> bool {
        let AgentError::Model(error) = error else { return false };
        let is_refused = error.kind() == toolkit_llm::ModelErrorKind::InvalidRequest;
        let falls_back = self.format.is_some() && is_refused && self.mode != AnswerMode::Text;
        self.is_refused |= falls_back;
        falls_back
    }
}

/// Replaces calls that gave an answer with the answer as text, if `is_quoted` returns `true` for the called tool.
/// For an invalid answer, a user message contains the error.
pub(super) fn quote_answers(messages: Vec<Message>, is_quoted: impl Fn(&str) -> bool) -> Vec<Message> {
    let is_quoted = |said: &AssistantMessage| said.has_answer() && is_quoted(&said.answer_tool);
    if !messages.iter().any(|message| matches!(message, Message::Assistant(said) if is_quoted(said))) {
        return messages;
    }
    let mut quoted: Vec<Message> = Vec::with_capacity(messages.len());
    let mut errors: Vec<Content> = Vec::new();
    let mut rest = messages.into_iter().peekable();
    while let Some(mut message) = rest.next() {
        if let Message::User(input) = &mut message {
            input.content.splice(..0, errors.drain(..));
        }
        if !errors.is_empty() {
            quoted.push(Message::User(UserMessage::new(errors.drain(..))));
        }
        let said = match message {
            Message::Assistant(said) if is_quoted(&said) => said,
            message => {
                quoted.push(message);
                continue;
            }
        };
        let given = rest.next_if(|next| matches!(next, Message::Tool(_)));
        let (said, given) = quote(said, given, &mut errors);
        quoted.push(Message::Assistant(said));
        quoted.extend(given.map(Message::Tool));
    }
    if !errors.is_empty() {
        quoted.push(Message::User(UserMessage::new(errors)));
    }
    quoted
}

/// Replaces the answers among the calls of `said` with text. Adds the errors of invalid answers to `errors`.
/// Returns the message, and the results of its other calls if there are any.
fn quote(
    mut said: AssistantMessage,
    given: Option<Message>,
    errors: &mut Vec<Content>,
) -> (AssistantMessage, Option<ToolMessage>) {
    let mut given = match given {
        Some(Message::Tool(given)) => given,
        _ => ToolMessage::default(),
    };
    let mut results = std::mem::take(&mut given.results).into_iter();
    for call in std::mem::take(&mut said.calls) {
        let result = results.next();
        if !said.is_answer(&call) {
            said.calls.push(call);
            given.results.extend(result);
            continue;
        }
        if !said.text.is_empty() {
            said.text.push_str("\n\n");
        }
        let arguments = call.arguments.as_str();
        said.text.push_str(if arguments.trim().is_empty() { "{}" } else { arguments });
        if let Some(result) = result.filter(|result| result.outcome.is_err()) {
            errors.push(Content::Text(format!("The answer was not accepted: {}", result.to_text())));
        }
    }
    said.native = None;
    said.answer_tool.clear();
    let has_results = !given.results.is_empty();
    (said, has_results.then_some(given))
}
