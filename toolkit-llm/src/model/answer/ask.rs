//! Asks a model for a value.

use super::tool::{AnswerTools, instructions};
use super::{Answer, AnswerMode};
use crate::message::{AssistantMessage, Message, ModelResponse, ToolMessage, UserMessage};
use crate::model::answer::AnswerReader;
use crate::model::{Bill, ChatModel, ChatSpan, ModelError, ModelErrorKind, ModelRequest, OutputFormat};
use crate::response::FinishReason;
use std::sync::Arc;
use toolkit_core::{BuildError, ErrorKind, ToolChoice, ToolError, ToolParams, ToolResult};

/// The maximum number of answers that a model may give.
const ATTEMPTS: u32 = 3;

/// Asks `model` until it gives a valid answer, as [`ChatModel::ask`] documents.
pub(crate) async fn ask<T: ToolParams + Send + 'static>(
    model: &impl ChatModel,
    request: ModelRequest,
) -> Result<Answer<T>, ModelError> {
    let reader = AnswerReader::<T>::new().map_err(of_build)?;
    let mut question = Question::new(model, request, &reader)?;
    let mut failed = Bill::default();
    let mut attempt = 1;
    loop {
        let mut request = question.request();
        let span = ChatSpan::unless_open(model, &mut request, false);
        let response = match span.respond(model.respond(request)).await {
            Ok(response) => response,
            Err(error)
                if error.kind == ModelErrorKind::InvalidRequest && question.mode != AnswerMode::Text =>
            {
                question.mode = AnswerMode::Text;
                question.tools = None;
                continue;
            }
            Err(error) => return Err(error.after(failed)),
        };
        if response.finish == FinishReason::Refused {
            let text = format!("the model refused: {}", response.message.text);
            return Err(ModelError::new(ModelErrorKind::Blocked, text).with_partial(response).after(failed));
        }
        let invalid = match question.read(&reader, &response).await {
            Ok(value) => return Ok(Answer { value, response: response.after(failed) }),
            Err(invalid) => invalid,
        };
        if attempt == ATTEMPTS {
            let text = format!("no answer was valid; the last: {invalid}");
            let error = ModelError::new(ModelErrorKind::InvalidAnswer, text);
            return Err(error.with_partial(response).after(failed));
        }
        failed += response.billed();
        attempt += 1;
        question.repair(response, &invalid);
    }
}

fn of_build(error: BuildError) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, format!("the type of the answer is no schema: {error}"))
}

/// A request for a value, with the answers so far.
struct Question {
    request: ModelRequest,
    format: OutputFormat,
    mode: AnswerMode,
    /// The tools with the answer tool, in the mode [`Tool`](AnswerMode::Tool).
    tools: Option<AnswerTools>,
    is_repair: bool,
}

impl Question {
    fn new<T: ToolParams + Send + 'static>(
        model: &impl ChatModel,
        request: ModelRequest,
        reader: &AnswerReader<T>,
    ) -> Result<Self, ModelError> {
        let format = reader.format().clone();
        let may_call = request.tool_use.choice != ToolChoice::None;
        let has_tools = !request.tools.is_empty() || !request.options.hosted.is_empty();
        // Some servers enforce the schema from the first token on. If there are also tools, the model would then invent
        // an answer instead of calling a tool.
        let mode = if !(has_tools && may_call) && model.output_losses(&format).is_empty() {
            AnswerMode::Native
        } else if may_call {
            AnswerMode::Tool
        } else {
            AnswerMode::Text
        };
        let tools = (mode == AnswerMode::Tool).then(|| AnswerTools::new(request.tools.clone(), &format));
        let tools = tools.transpose().map_err(of_build)?;
        Ok(Self { request, format, mode, tools, is_repair: false })
    }

    /// Returns the next request to the model.
    fn request(&self) -> ModelRequest {
        let mut request = self.request.clone();
        let tool = self.tools.as_ref().map(|tools| tools.name.as_str());
        if !request.instructions.is_empty() {
            request.instructions.push_str("\n\n");
        }
        request.instructions.push_str(&instructions(tool, &self.format.schema, self.is_repair));
        let output = (self.mode == AnswerMode::Native).then(|| self.format.clone());
        if request.options.output != output {
            Arc::make_mut(&mut request.options).output = output;
        }
        if let Some(tools) = &self.tools {
            request.tools = tools.all.clone();
            match &mut request.tool_use.choice {
                ToolChoice::Allowed { names, .. } if !self.is_repair => names.push(tools.name.clone()),
                choice if self.is_repair => *choice = ToolChoice::Tool(tools.name.clone()),
                _ => {}
            }
        }
        request
    }

    /// Decodes the answer: the arguments of the call of the answer tool, or the text.
    ///
    /// # Errors
    /// A message for the model that describes all violations.
    async fn read<T: ToolParams + Send + 'static>(
        &self,
        reader: &AnswerReader<T>,
        response: &ModelResponse,
    ) -> Result<T, String> {
        let tool = self.tools.as_ref().map(|tools| tools.name.as_str());
        let mut calls = response.message.calls.iter();
        match calls.find(|call| Some(call.name.as_str()) == tool) {
            Some(call) => reader.decode(call.arguments.as_str()).await,
            None => reader.read(&response.message.text).await,
        }
    }

    /// Adds an invalid answer to the messages, and asks for another one.
    fn repair(&mut self, response: ModelResponse, invalid: &str) {
        let message: AssistantMessage = response.message;
        let feedback = format!("Your answer is not of the form that was asked for: {invalid}");
        self.is_repair = true;
        let results: Vec<ToolResult> = message
            .calls
            .iter()
            .map(|call| ToolResult::of(call, Err(ToolError::new(ErrorKind::Denied, feedback.as_str()))))
            .collect();
        let messages = &mut self.request.messages;
        messages.push(Message::Assistant(message));
        if results.is_empty() {
            let again = format!("{feedback}\nAnswer again, with JSON of that form and nothing else.");
            messages.push(Message::User(UserMessage::feedback(again)));
        } else {
            messages.push(Message::Tool(ToolMessage::new(results)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::options::ModelOptions;
    use crate::model::scripted::ScriptedModel;
    use crate::response::Usage;
    use toolkit_core::schemars::JsonSchema;
    use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};

    #[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    struct City {
        name: String,
        population: u32,
    }

    const OSLO: &str = r#"{"name": "Oslo", "population": 717710}"#;

    fn oslo() -> City {
        City { name: "Oslo".to_owned(), population: 717_710 }
    }

    fn tools() -> ToolRegistry {
        let look = ClosureTool::new("look", "", |_: City| "").unwrap();
        ToolRegistry::from_tools([look]).unwrap()
    }

    #[tokio::test]
    async fn with_tools_the_answer_is_a_call() {
        let answer = |arguments: &str| ModelResponse::calls([ToolCall::new("1", "final_answer", arguments)]);
        let model = ScriptedModel::new().response(answer(r#"{"name": "Oslo"}"#)).response(answer(OSLO));
        let request = ModelRequest::from("Where?").with_tools(tools());
        assert_eq!(model.ask::<City>(request).await.unwrap().value, oslo());
        let again = &model.requests()[1];
        assert_eq!(again.tool_use.choice, ToolChoice::Tool("final_answer".to_owned()));
        let feedback = again.messages.last().map(Message::to_text).unwrap_or_default();
        assert!(feedback.contains("`population`: required, but missing"), "{feedback}");
        assert!(again.tools.contains("look"));
    }

    #[tokio::test]
    async fn after_a_refused_request_the_schema_is_in_the_instructions_only() {
        let refused = ModelError::from_status(400, "no structured output");
        let model = ScriptedModel::new().error(refused).text(OSLO);
        let options = ModelOptions::new().with_temperature(0.0);
        let request = ModelRequest::from("Where?").with_options(options);
        assert_eq!(model.ask::<City>(request).await.unwrap().value, oslo());
        let [first, second] = model.requests().try_into().unwrap();
        assert!(first.options.output.is_some());
        assert_eq!(second.options.output, None);
        assert!(second.instructions.contains("population"));
    }

    #[tokio::test]
    async fn invalid_answers_end_with_the_last_and_count_their_tokens() {
        let answer = |text: &str| ModelResponse::text(text).with_usage(Usage::new(10, 1));
        let model = ScriptedModel::new().response(answer("no")).response(answer(OSLO));
        let found = model.ask::<City>("Where?").await.unwrap();
        assert_eq!(
            (found.response.usage, found.response.failed_usage),
            (Usage::new(10, 1), Usage::new(10, 1))
        );

        let model = ScriptedModel::new().text("no").text("no").response(answer("still no"));
        let error = model.ask::<City>("Where?").await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::InvalidAnswer);
        assert!(!error.is_retryable());
        assert_eq!(error.partial.map(|partial| partial.message.text), Some("still no".to_owned()));
    }

    #[tokio::test]
    async fn values_that_are_no_objects_are_asked_for_in_an_object() {
        let model = ScriptedModel::new().text(r#"{"answer": [1, 2]}"#).text("[3]");
        assert_eq!(model.ask::<Vec<u8>>("Which?").await.unwrap().value, [1, 2]);
        assert_eq!(model.ask::<Vec<u8>>("Which?").await.unwrap().value, [3]);
    }
}
