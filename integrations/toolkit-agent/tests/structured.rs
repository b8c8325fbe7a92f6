//! Structured output.

use crate::support::{Form, Formed as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_agent::structured::TypedOutput;
use toolkit_agent::{Agent, AgentError, Conversation, Limit, Limits};
use toolkit_core::{ClosureTool, ToolChoice, ToolParams, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{FinishReason, Message, ModelError, ModelRequest, ModelResponse, ScriptedModel};

/// A recipe for the kitchen.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Recipe {
    title: String,
    #[schemars(range(min = 1, max = 12))]
    persons: u8,
    steps: Vec<Step>,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Step {
    text: String,
    minutes: u32,
}

fn soup() -> Recipe {
    let steps = vec![Step { text: "boil".to_owned(), minutes: 10 }];
    Recipe { title: "Soup".to_owned(), persons: 2, steps, note: None }
}

const SOUP: &str = r#"{"title": "Soup", "persons": 2, "steps": [{"text": "boil", "minutes": 10}]}"#;

async fn answer<T: ToolParams + Send + 'static>(model: &ScriptedModel) -> Result<T, AgentError> {
    Ok(Agent::builder(model.clone())
        .instructions("You cook.")
        .build()?
        .run("What is for dinner?")
        .typed()
        .await?
        .value)
}

fn last_message(model: &ScriptedModel) -> String {
    model.requests().last().unwrap().messages.last().unwrap().to_text()
}

#[tokio::test]
async fn an_answer_is_read_from_surrounding_text() {
    for text in [
        SOUP.to_owned(),
        format!("```json\n{SOUP}\n```"),
        format!("Here you are: {SOUP} Enjoy!"),
        format!("<think>{{\"title\": 1}}</think>\n{SOUP}"),
        SOUP.replace("10", "\"10\"").replace(": 2", ": 2.0"),
    ] {
        let model = ScriptedModel::new().text(text.as_str());
        assert_eq!(answer::<Recipe>(&model).await, Ok(soup()), "{text}");
    }
}

#[tokio::test]
async fn the_schema_is_in_instructions_and_request() {
    let model = ScriptedModel::new().text(SOUP);
    answer::<Recipe>(&model).await.unwrap();
    let request = model.requests().remove(0);
    assert!(request.instructions.starts_with("You cook.\n\n"), "{}", request.instructions);
    assert!(request.instructions.contains(r#""minutes""#), "{}", request.instructions);
    let format = request.options.output.clone().unwrap();
    assert_eq!(format.name, "Recipe");
    assert_eq!(format.schema["description"], "A recipe for the kitchen.");
    for &api in ApiFormat::ALL {
        let body = Value::from(toolkit_llm::transport::encode_request(api, "m", &request, false).body);
        let places = [
            "/response_format/json_schema/schema",
            "/text/format/schema",
            "/output_config/format/schema",
            "/generationConfig/responseJsonSchema",
            "/format",
            "/response_format/json_schema",
            "/response_format/schema",
            "/outputConfig/textFormat/structure/jsonSchema/schema",
        ];
        let mut schema = places.into_iter().find_map(|place| body.pointer(place)).unwrap().clone();
        if let Some(text) = schema.as_str() {
            schema = serde_json::from_str(text).unwrap();
        }
        assert_eq!(schema["type"], "object", "{api:?}");
        assert!(schema["properties"]["steps"].is_object(), "{api:?}");
    }
}

#[tokio::test]
async fn all_violations_are_reported_at_once() {
    let model = ScriptedModel::new()
        .text(r#"{"titel": "Soup", "persons": 40, "steps": [{"text": "boil", "minutes": "few"}]}"#)
        .text(SOUP);
    assert_eq!(answer::<Recipe>(&model).await, Ok(soup()));
    let feedback = last_message(&model);
    for fault in [
        "`titel`: there is no such member; did you mean `title`?",
        "`persons`: ",
        "`steps[0].minutes`: expected integer",
        "`title`: required, but missing",
    ] {
        assert!(feedback.contains(fault), "{fault}\n{feedback}");
    }
    assert!(!feedback.contains("argument"), "{feedback}");
}

#[tokio::test]
async fn the_third_invalid_answer_is_an_error() {
    let model = ScriptedModel::new().text("no").text("{}").text("[]").text(SOUP);
    let error = answer::<Recipe>(&model).await.unwrap_err();
    assert!(matches!(&error, AgentError::InvalidOutput(reason) if reason.contains("object")), "{error}");
    assert_eq!(model.remaining(), 1);
}

#[tokio::test]
async fn other_types_are_wrapped_in_an_object() {
    let list = || Ok(vec![1_i64, 2]);
    for text in ["[1, 2]", r#"{"answer": [1, 2]}"#, "The answer: [1, 2].", "```\n[1, 2]\n```"] {
        let model = ScriptedModel::new().text(text);
        assert_eq!(answer::<Vec<i64>>(&model).await, list(), "{text}");
        let format = model.requests()[0].options.output.clone().unwrap();
        assert_eq!(format.schema["properties"]["answer"]["type"], "array");
    }
    let model = ScriptedModel::new().text(r#"[1, "two"]"#).text("[1, 2]");
    assert_eq!(answer::<Vec<i64>>(&model).await, list());
    assert!(last_message(&model).contains("`answer[1]`: expected integer"), "{}", last_message(&model));

    assert_eq!(answer::<u8>(&ScriptedModel::new().text("```json\n42\n```")).await, Ok(42));
    assert_eq!(answer::<String>(&ScriptedModel::new().text(r#""Soup""#)).await, Ok("Soup".to_owned()));
    let map = answer::<BTreeMap<String, u8>>(&ScriptedModel::new().text(r#"{"a": 1}"#)).await;
    assert_eq!(map, Ok(BTreeMap::from([("a".to_owned(), 1)])));
    let value = answer::<Value>(&ScriptedModel::new().text(r#"{"a": [1]}"#)).await;
    assert_eq!(value, Ok(json!({"a": [1]})));
}

#[tokio::test]
async fn tools_run_before_the_structured_answer() {
    #[derive(Deserialize, JsonSchema)]
    struct Look {}
    let look = ClosureTool::new("look", "Looks into the fridge.", |_: Look| "leek").unwrap();
    let model = ScriptedModel::new().call("look", "{}").text("Soup!").text(SOUP);
    let agent =
        Agent::builder(model.clone()).tools(ToolRegistry::from_tools([look]).unwrap()).build().unwrap();
    let mut conversation = Conversation::new("1");
    let TypedOutput { value: recipe, output, .. } =
        agent.run("What is for dinner?").on(&mut conversation).typed::<Recipe>().await.unwrap();
    assert_eq!(recipe, soup());
    assert_eq!((output.model_calls, output.tool_calls), (3, 1));
    assert_eq!(output.messages, conversation.messages());
    assert_eq!(output.messages.len(), 6);
    assert!(last_message(&model).contains("it is not JSON"), "{}", last_message(&model));
    // With tools, an enforced schema would suppress the call.
    let is_native = |request: &ModelRequest| request.options.output.is_some();
    assert!(!model.requests().iter().any(is_native));
    let choices: Vec<ToolChoice> =
        model.requests().into_iter().map(|request| request.tool_use.choice).collect();
    let forced = ToolChoice::Tool("final_answer".to_owned());
    assert_eq!(choices, [ToolChoice::Auto, ToolChoice::Auto, forced]);
}

#[tokio::test]
async fn native_output_can_be_forced_or_disabled() {
    for (mode, native) in [(AnswerMode::Native, true), (AnswerMode::Text, false), (AnswerMode::Tool, false)] {
        let model = ScriptedModel::new().text("no").text(SOUP);
        let agent = Agent::builder(model.clone()).build().unwrap();
        let form = Form::new().with_mode(mode);
        agent.run("Cook.").on(&mut Conversation::new("1")).typed::<Recipe>().form(form).await.unwrap();
        assert!(model.requests().iter().all(|request| request.options.output.is_some() == native));
    }
}

#[tokio::test]
async fn a_rejected_schema_is_retried_without_it() {
    let model = ScriptedModel::new()
        .error(ModelError::from_status(400, "response_format is not supported"))
        .text("{}")
        .text(SOUP);
    assert_eq!(answer::<Recipe>(&model).await, Ok(soup()));
    let native = |at: usize| model.requests()[at].options.output.is_some();
    assert_eq!([native(0), native(1), native(2)], [true, false, false]);
    assert!(model.requests()[1].instructions.contains("schema"));

    let error = ModelError::from_status(400, "no such model");
    let model = ScriptedModel::new().error(error.clone()).error(error.clone());
    assert_eq!(answer::<Recipe>(&model).await, Err(AgentError::Model(error)));
}

#[tokio::test]
async fn limits_apply_to_all_attempts_together() {
    let model = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("no")));
    let agent = Agent::builder(model.clone()).build().unwrap();
    let form = Form::new().with_attempts(9).with_mode(AnswerMode::Text);
    let mut conversation = Conversation::new("1");
    let ended = agent
        .run("Cook.")
        .on(&mut conversation)
        .limits(Limits::default().with_max_model_calls(2))
        .typed::<Recipe>()
        .form(form)
        .await;
    assert_eq!(ended.unwrap_err().error, AgentError::Limit(Limit::ModelCalls(2)));
    assert!(model.requests().iter().all(|request| request.options.output.is_none()));
}

#[tokio::test]
async fn a_refusal_is_not_retried() {
    let refusal = ModelResponse::text("I will not cook that.").with_finish(FinishReason::Refused);
    let model = ScriptedModel::new().response(refusal).text(SOUP);
    let error = answer::<Recipe>(&model).await.unwrap_err();
    assert!(matches!(&error, AgentError::InvalidOutput(reason) if reason.contains("not cook")), "{error}");
    assert_eq!(model.remaining(), 1);
}

#[tokio::test]
async fn a_truncated_answer_is_reported_to_the_model() {
    let cut = ModelResponse::text(r#"{"title": "So"#).with_finish(FinishReason::Length);
    let model = ScriptedModel::new().response(cut).text(SOUP);
    assert_eq!(answer::<Recipe>(&model).await, Ok(soup()));
    assert!(last_message(&model).contains("be shorter"), "{}", last_message(&model));
}

/// A part of this answer has the same type.
#[tokio::test]
async fn no_part_of_an_incomplete_or_malformed_answer_is_the_answer() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Task {
        name: String,
        then: Option<Box<Self>>,
    }
    let name = |name: &str, then| Task { name: name.to_owned(), then };
    let whole = r#"{"name": "boil", "then": {"name": "eat, \"}\""}}"#;
    let cut = (1..whole.len()).map(|end| whole[..end].to_owned());
    let malformed =
        [whole.replacen("boil", "boil\",\"", 1), whole.replacen('"', "'", 2), whole.replacen('"', "", 2)];
    for text in cut.chain(malformed) {
        for text in [text.clone(), format!("Well:\n{text}"), format!("```json\n{text}")] {
            let model = ScriptedModel::new().text(text.as_str()).text(whole);
            let task = answer::<Task>(&model).await;
            assert_eq!(task, Ok(name("boil", Some(Box::new(name("eat, \"}\"", None))))), "{text}");
            assert_eq!(model.remaining(), 0, "{text}");
        }
    }
}

#[tokio::test]
async fn a_conversation_continues_after_structured_output() {
    let model = ScriptedModel::new().text(SOUP).text("With bread.");
    let agent = Agent::builder(model.clone()).build().unwrap();
    let mut conversation = Conversation::new("1");
    let recipe: Recipe = agent.run("Cook.").on(&mut conversation).typed().await.unwrap().value;
    assert_eq!(recipe, soup());
    agent.run("And with it?").on(&mut conversation).await.unwrap();
    let last = model.requests().pop().unwrap();
    assert!(last.options.output.is_none() && last.instructions.is_empty());
    assert_eq!(last.messages[1], {
        let Message::Assistant(mut said) = Message::assistant(SOUP) else { unreachable!() };
        said.agent = "agent".to_owned();
        Message::Assistant(said)
    });
}
