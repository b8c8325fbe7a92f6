//! Answers given again: in requests, after a crash, in teams and streams.

use super::{City, Nothing, OSLO, agent, answer, oslo, pay};
use crate::support::{assert_sendable, says, transcript};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use toolkit_agent::structured::AnswerEvent;
use toolkit_agent::team::{LoopAgent, ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentError, AgentOutput, Conversation, Limits, Run, RunAgent};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{ChatModel, ModelError, ModelRequest, ModelResponse, ScriptedModel};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Wish {
    colour: Option<String>,
}

#[tokio::test]
async fn empty_arguments_are_an_answer_without_members() {
    let model = ScriptedModel::new().call("final_answer", "");
    let (agent, _) = agent(&model);
    let (wish, conversation) = answer::<Wish>(&agent, None).await;
    assert_eq!(wish, Ok(Wish { colour: None }));
    assert_sendable(&conversation);
}

#[tokio::test]
async fn the_name_of_a_disabled_tool_is_taken() {
    let taken = ClosureTool::new("final_answer", "Is of the user.", |_: Nothing| "taken").unwrap();
    let mut tools = ToolRegistry::from_tools([taken]).unwrap();
    tools.merge(pay(&Arc::default())).unwrap();
    tools.disable("final_answer", "It is late.").unwrap();
    let model = ScriptedModel::new().call("final_answer_2", OSLO);
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    assert_eq!(answer::<City>(&agent, None).await.0, Ok(oslo()));
}

#[tokio::test]
async fn a_short_history_keeps_the_question_while_an_answer_is_repaired() {
    for limit in 0..5 {
        let model = ScriptedModel::new().text("Hi.").text("Oslo!").text("Oslo, I think.").text(OSLO);
        let agent = Agent::builder(model.clone()).history_limit(limit).build().unwrap();
        let mut conversation = Conversation::new("1");
        agent.run("Hello.").on(&mut conversation).await.unwrap();
        let city =
            agent.run("Which city?").on(&mut conversation).typed::<City>().await.map(|answer| answer.value);
        assert_eq!(city, Ok(oslo()));
        for request in &model.requests()[1..] {
            let lines = transcript(&request.messages);
            assert!(lines.contains(&"user: Which city?".to_owned()), "{limit}: {lines:?}");
        }
        conversation.keep_latest(1);
        assert_eq!(transcript(conversation.messages())[0], "user: Which city?");
    }
}

/// An agent that gives its model's answer without a form.
struct Custom(Agent);

impl RunAgent for Custom {
    fn name(&self) -> &str {
        "custom"
    }

    fn sub_agents(&self) -> &[Agent] {
        std::slice::from_ref(&self.0)
    }

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        let group = Agent::from(ParallelAgent::new("group", [self.0.clone()]));
        group.join_run(conversation, run).await
    }
}

#[tokio::test]
async fn only_the_last_agent_of_a_sequence_answers_again_and_once() {
    let first = || ScriptedModel::new().text("One.").text("Two.").text("Three.").text("Four.");
    for is_loop in [true, false] {
        let begins = first();
        let begin = Agent::builder(begins.clone()).name("begin").build().unwrap();
        let ends = ScriptedModel::new().text("Oslo!").text("Oslo?").text(OSLO).text("Oslo.");
        let end = Agent::builder(ends.clone()).name("end").build().unwrap();
        let agents = [begin, Agent::from(Custom(end))];
        let (team, runs): (Agent, usize) = if is_loop {
            (LoopAgent::new("team", agents).with_max_iterations(2).into(), 2)
        } else {
            (SequentialAgent::new("team", agents).into(), 1)
        };
        assert_eq!(team.run("Which city?").typed::<City>().await.map(|answer| answer.value), Ok(oslo()));
        assert_eq!((begins.requests().len(), ends.requests().len()), (runs, 3));
    }
}

#[tokio::test]
async fn partial_answers_come_only_from_the_agent_that_answers() {
    let other = r#"{"name": "Bergen"}"#;
    let expert = says("expert", other);
    let model = ScriptedModel::new().call("expert", r#"{"request": "?"}"#).then().call("final_answer", OSLO);
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let last = Agent::builder(model).name("last").tools(tools).build().unwrap();
    let parallel = Agent::from(ParallelAgent::new("group", [says("one", other), says("two", other)]));
    let team = Agent::from(SequentialAgent::new("team", [says("first", other), parallel, last]));
    let mut answers = team.run("Which city?").typed::<City>().stream();
    let mut partials = Vec::<Value>::new();
    while let Some(event) = answers.next().await {
        if let AnswerEvent::Partial(value) = event.unwrap() {
            partials.push(value);
        }
    }
    assert!(!partials.is_empty());
    assert!(
        partials.iter().all(|partial| partial.get("name").is_none_or(|name| name == "Oslo")),
        "{partials:?}"
    );
}

/// A model around another, without its losses.
struct Wrapper(ScriptedModel);

impl ChatModel for Wrapper {
    fn name(&self) -> &str {
        "wrapper"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.0.respond(request).await
    }
}

#[tokio::test]
async fn a_model_that_does_not_report_its_losses_answers_by_a_call() {
    for (mode, is_native) in [(None, false), (Some(AnswerMode::Native), true)] {
        let model = ScriptedModel::new().text(OSLO);
        let agent = Agent::builder(Wrapper(model.clone())).limits(Limits::default()).build().unwrap();
        assert_eq!(answer::<City>(&agent, mode).await.0, Ok(oslo()));
        let request = &model.requests()[0];
        assert_eq!(
            (request.options.output.is_some(), request.tools.contains("final_answer")),
            (is_native, !is_native)
        );
    }
}
