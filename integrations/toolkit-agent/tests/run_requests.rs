//! Requests for runs: their places, their tools, and how they end.

use crate::support::{Nothing, pending, reloaded, says};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::json;
use toolkit_agent::structured::AnswerEvent;
use toolkit_agent::{Agent, AgentError, Conversation, Decisions, Outcome, RunEvent, RunStream, Sessions};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{
    ClosureTool, LiveRegistry, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolName,
    ToolOutput, ToolRegistry,
};
use toolkit_llm::ScriptedModel;

struct Customer(&'static str);

fn who(name: &str) -> ClosureTool {
    let tool = ClosureTool::new_with_context(name, "Says who asks.", |_: Nothing, context: ToolContext| {
        context.state::<Customer>().map_or("nobody", |customer| customer.0)
    });
    tool.unwrap()
}

fn saying(name: &str, text: &'static str) -> ClosureTool {
    ClosureTool::new(name, "Says.", move |_: Nothing| text).unwrap()
}

fn result_of(messages: &[toolkit_llm::Message]) -> Vec<String> {
    crate::support::transcript(messages)
        .iter()
        .filter_map(|line| line.strip_prefix("results: "))
        .map(str::to_owned)
        .collect()
}

fn handler(agent: &Agent, sessions: &Sessions, customer: &'static str) -> RunStream<'static> {
    let place = sessions.user("ada").conversation("1");
    agent.run("Who am I?").on(place).state(Customer(customer)).stream()
}

#[tokio::test]
async fn a_saved_stream_with_the_state_of_its_request_leaves_the_handler() {
    let model = ScriptedModel::new().call("who", "{}").text("You are Ada.");
    let agent = Agent::builder(model).tools([who("who")]).build().unwrap();
    let sessions = Sessions::default();
    let events = handler(&agent, &sessions, "Ada");
    let events = tokio::spawn(events.collect::<Vec<_>>()).await.unwrap();
    assert!(matches!(events.last(), Some(Ok(RunEvent::Finished { .. }))), "{events:?}");
    let saved = sessions.user("ada").conversation("1").open().await.unwrap();
    assert_eq!(result_of(saved.messages()), ["Ada"]);
}

#[tokio::test]
async fn an_open_conversation_saves_itself() {
    let place = Sessions::default().user("ada").conversation("1");
    let mut conversation = place.open().await.unwrap();
    says("agent", "Hello.").run("Hi.").on(&mut conversation).await.unwrap();
    assert_eq!(place.open().await.unwrap().messages(), conversation.messages());
    // A conversation from JSON belongs to no sessions.
    says("agent", "Bye.").run("Bye.").on(&mut reloaded(&conversation)).await.unwrap();
    assert_eq!(place.open().await.unwrap().messages().len(), 2);
}

#[tokio::test]
async fn tools_of_a_run_are_beside_those_of_its_agents() {
    let called = ScriptedModel::new().call("page", "{}").text("I have no page.");
    let called = Agent::builder(called).name("called").build().unwrap();
    let other = ScriptedModel::new().call("page", "{}").text("Done.");
    let other = Agent::builder(other).name("other").build().unwrap();
    let model = ScriptedModel::new()
        .call("own", "{}")
        .call("page", "{}")
        .call("called", r#"{"request": "?"}"#)
        .then()
        .call("transfer_to_agent", r#"{"agent_name": "other"}"#);
    let agent = Agent::builder(model.clone())
        .tools([saying("own", "the agent's")])
        .tools([called.to_tool().unwrap()])
        .sub_agent(other)
        .build()
        .unwrap();
    let live = LiveRegistry::new(ToolRegistry::from_tools([saying("page", "the page's")]).unwrap()).unwrap();
    let run = agent.run("Go.").with_tools([saying("own", "the run's")]).with_tools(live);
    let output = run.await.unwrap();
    let results = result_of(&output.messages).join(" | ");
    assert!(results.starts_with("the agent's, the page's, "), "{results}");
    assert!(results.contains("I have no page."), "{results}");
    assert!(results.ends_with("the page's"), "the other agent has it, too: {results}");
    agent.run("Go.").await.unwrap_err();
    let offered = |request: usize| model.requests()[request].tools.contains("page");
    assert!(offered(0) && !offered(2));
}

#[tokio::test]
async fn a_waiting_call_needs_the_tools_of_its_run_again() {
    let rules = || Permissions::new().rule(PermissionRule::ask("it costs money")).decide_later();
    let model = ScriptedModel::new().call("pay", "{}").text("It is paid.");
    let agent = Agent::builder(model).middleware(rules()).build().unwrap();
    let pay = || [saying("pay", "paid")];
    let mut conversation = Conversation::new("1");
    let calls = pending(agent.run("Pay.").on(&mut conversation).with_tools(pay()).await);
    let decided = || Decisions::new().approve(&calls[0].id);
    let before = serde_json::to_value(&conversation).unwrap();
    let refused = agent.resume(&mut conversation).decide(decided()).await.unwrap_err();
    assert!(matches!(refused.error, AgentError::TeamChanged(_)), "{refused}");
    assert_eq!(conversation.pending(), calls);
    assert_eq!(serde_json::to_value(&conversation).unwrap()["turn"], before["turn"]);
    let output = agent.resume(&mut conversation).decide(decided()).with_tools(pay()).await.unwrap();
    assert_eq!((output.text.as_str(), result_of(&output.messages)), ("It is paid.", vec!["paid".to_owned()]));
}

struct Pay(ToolDefinition);

impl Pay {
    fn new() -> Self {
        let definition =
            ToolDefinition::new(ToolName::new("pay").unwrap(), "Pays.", json!({"type": "object"}));
        Self(definition.with_state_need::<Customer>())
    }
}

impl Tool for Pay {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        let customer = context.state::<Customer>().expect("the run has it");
        ToolFuture::ready(Ok(ToolOutput::text(customer.0)))
    }
}

/// An approval is not spent on a call without its run's state, also in an agent called as a tool.
#[tokio::test]
async fn a_run_without_its_declared_state_begins_nothing() {
    let rules = || Permissions::new().rule(PermissionRule::ask("it costs money")).decide_later();
    let payer = |model: ScriptedModel| {
        let registry = ToolRegistry::from_tools([Pay::new()]).unwrap().with_run_state::<Customer>();
        Agent::builder(model).name("payer").tools(registry).middleware(rules()).build().unwrap()
    };
    let own = payer(ScriptedModel::new().call("pay", "{}").text("It is paid."));
    let called = payer(ScriptedModel::new().call("pay", "{}").text("It is paid."));
    let model = ScriptedModel::new().call("payer", r#"{"request": "?"}"#).text("It is paid.");
    let caller = Agent::builder(model).tools([called.to_tool().unwrap()]).build().unwrap();
    let refused = own.run("Pay.").await.unwrap_err();
    assert!(refused.to_string().contains("Customer` from each run"), "{refused}");
    for agent in [own, caller] {
        let mut conversation = Conversation::new("1");
        let run = agent.run("Pay.").on(&mut conversation).state(Customer("Ada"));
        let calls = pending(run.await);
        let decided = || Decisions::new().approve(&calls[0].id);
        let refused = agent.resume(&mut conversation).decide(decided()).await.unwrap_err();
        assert!(matches!(refused.error, AgentError::Build(_)), "{refused}");
        assert_eq!(conversation.pending(), calls);
        let run = agent.resume(&mut conversation).decide(decided()).state(Customer("Ada"));
        assert_eq!(run.await.unwrap().text, "It is paid.");
    }
}

#[tokio::test]
async fn tools_that_are_given_twice_are_added() {
    let model =
        ScriptedModel::new().call("one", "{}").call("two", "{}").call("three", "{}").then().text("Done.");
    let live = LiveRegistry::new(ToolRegistry::from_tools([saying("three", "3")]).unwrap()).unwrap();
    let builder = || Agent::builder(model.clone()).tools([saying("one", "1")]).tools([saying("two", "2")]);
    let agent = builder().tools(live.clone()).build().unwrap();
    let output = agent.run("Go.").await.unwrap();
    assert_eq!(result_of(&output.messages), ["1, 2, 3"]);
    let error = builder().tools([saying("one", "again")]).build().unwrap_err();
    assert!(error.to_string().contains("`one`"), "{error}");
    let twice = [saying("four", "4"), saying("four", "4")];
    let failed = agent.run("Go.").with_tools(twice).await.unwrap_err();
    assert!(matches!(failed.error, AgentError::Build(_)), "{failed}");
    // The first tool has the name of a later one in the live registry.
    let model = ScriptedModel::new().call("one", "{}").text("Done.");
    let agent = Agent::builder(model).tools([saying("one", "1")]).tools(live.clone()).build().unwrap();
    live.change(|registry| registry.register(saying("one", "live"))).unwrap();
    assert_eq!(result_of(&agent.run("Go.").await.unwrap().messages), ["1"]);
}

#[tokio::test]
async fn calls_that_wait_are_an_outcome_the_last_event_or_an_error() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    struct Door {
        colour: String,
    }
    let ask = ClosureTool::new("ask", "Asks.", |_: Nothing| Err::<(), _>(ToolError::question("Which?")));
    let ask = ask.unwrap();
    let answer = r#"{"colour": "blue"}"#;
    let agent = || {
        let model = ScriptedModel::new().call("ask", "{}").call("final_answer", answer);
        Agent::builder(model).tools([ask.clone()]).build().unwrap()
    };

    let mut conversation = Conversation::new("1");
    let outcome = agent().run("Paint.").on(&mut conversation).typed::<Door>().outcome().await.unwrap();
    let Outcome::Waiting(run) = outcome else { panic!("{outcome:?}") };
    assert_eq!((run.pending.clone(), run.output.model_calls), (conversation.pending(), 1));
    let error = Outcome::<Door>::Waiting(run.clone()).answered().unwrap_err();
    assert!(matches!(error.error, AgentError::Interrupted { .. }), "{error}");

    let blue = || Decisions::new().answer(&run.pending[0].id, "blue");
    let mut streamed = reloaded(&conversation);
    let mut events = agent().resume(&mut streamed).stream();
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event.unwrap());
    }
    drop(events);
    let Some(last @ RunEvent::Waiting { .. }) = last else { panic!("{last:?}") };
    let json = serde_json::to_value(&last).unwrap();
    assert_eq!((json["type"].as_str(), json["pending"].as_array().map(Vec::len)), (Some("waiting"), Some(1)));
    assert_eq!(serde_json::from_value::<RunEvent>(json).unwrap(), last);

    let model = ScriptedModel::new().call("final_answer", answer);
    let rest = Agent::builder(model).tools([ask.clone()]).build().unwrap();
    let mut events = rest.resume(&mut streamed).decide(blue()).typed::<Door>().stream();
    let mut door = None;
    while let Some(event) = events.next().await {
        if let AnswerEvent::Answer(answer) = event.unwrap() {
            door = Some(answer.value);
        }
    }
    assert_eq!(door, Some(Door { colour: "blue".to_owned() }));
}
