//! Asks a model for a value.

use super::{Answer, AnswerFormat, AnswerReader, FinalAnswer};
use crate::message::{AssistantMessage, Message, ToolMessage, UserMessage};
use crate::model::{Bill, ChatModel, ChatSpan, ModelError, ModelErrorKind, ModelRequest};
use crate::response::FinishReason;
use toolkit_core::{BuildError, ErrorKind, ToolError, ToolParams, ToolResult};

/// Asks `model`, as [`ChatModel::ask`] documents.
pub(crate) async fn ask<T: ToolParams + Send + 'static>(
    model: &impl ChatModel,
    mut request: ModelRequest,
) -> Result<Answer<T>, ModelError> {
    let reader = AnswerReader::<T>::new(None, AnswerFormat::ATTEMPTS).map_err(of_build)?;
    let mut answer = FinalAnswer::new(Some(&reader.format), false);
    let mut failed = Bill::default();
    loop {
        let choice = &request.tool_use.choice;
        answer.begin_request(model, request.tools.clone(), &request.options, choice).map_err(of_build)?;
        let mut asked = request.clone();
        answer.add_to(&mut asked);
        let span = ChatSpan::unless_open(model, &mut asked, false);
        let response = match span.respond(model.respond(asked)).await {
            Ok(response) => response,
            Err(error) if answer.falls_back(&error) => continue,
            Err(error) => return Err(error.after(failed)),
        };
        if response.finish == FinishReason::Refused {
            let text = format!("the model refused: {}", response.message.text);
            return Err(ModelError::new(ModelErrorKind::Blocked, text).with_partial(response).after(failed));
        }
        let read = match response.message.calls.iter().find(|call| answer.is_in(call)) {
            Some(call) => reader.decode(call.arguments.as_str()).await,
            None => reader.read(&response.message.text).await,
        };
        let invalid = match read {
            Ok(value) => return Ok(Answer { value, response: response.after(failed) }),
            Err(invalid) => invalid,
        };
        if !answer.repeat() {
            let text = format!("no answer was valid; the last: {invalid}");
            let error = ModelError::new(ModelErrorKind::InvalidAnswer, text);
            return Err(error.with_partial(response).after(failed));
        }
        failed += response.billed();
        let feedback = answer.feedback(&invalid, &response.finish);
        request.messages.extend(repair(response.message, feedback));
    }
}

fn of_build(error: BuildError) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, format!("the type of the answer is no schema: {error}"))
}

/// Returns the invalid answer and the feedback. The feedback is the result of each call, because no tool has
/// run.
fn repair(answer: AssistantMessage, feedback: String) -> [Message; 2] {
    let mut results = Vec::new();
    for call in &answer.calls {
        results.push(ToolResult::of(call, Err(ToolError::new(ErrorKind::Denied, feedback.as_str()))));
    }
    let feedback = if results.is_empty() {
        Message::User(UserMessage::feedback(feedback))
    } else {
        Message::Tool(ToolMessage::new(results))
    };
    [Message::Assistant(answer), feedback]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ModelResponse;
    use crate::model::options::ModelOptions;
    use crate::model::scripted::ScriptedModel;
    use crate::response::Usage;
    use toolkit_core::schemars::JsonSchema;
    use toolkit_core::{ClosureTool, ToolCall, ToolChoice, ToolRegistry};

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
    async fn a_repair_asks_for_the_form_of_its_request_and_forbids_other_calls() {
        let cut = ModelResponse::text(r#"{"name": "Os"#).with_finish(FinishReason::Length);
        let call = ToolCall::new("1", "final_answer", OSLO);
        let model = ScriptedModel::new().response(cut).response(ModelResponse::calls([call]));
        let request = ModelRequest::from("Where?").with_tools(tools());
        assert_eq!(model.ask::<City>(request.clone()).await.unwrap().value, oslo());
        let feedback = model.requests()[1].messages.last().map(Message::to_text).unwrap_or_default();
        let expected = "\nIt was cut off: be shorter.\nAnswer again, by calling the tool `final_answer`.";
        assert!(feedback.ends_with(expected), "{feedback}");

        let refused = ModelError::from_status(400, "tools are not supported");
        let model = ScriptedModel::new().error(refused).call("look", "{}").text(OSLO);
        assert_eq!(model.ask::<City>(request).await.unwrap().value, oslo());
        let choices: Vec<_> = model.requests().into_iter().map(|request| request.tool_use.choice).collect();
        assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, ToolChoice::None]);
        assert!(model.requests()[2].tools.contains("look"));
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
