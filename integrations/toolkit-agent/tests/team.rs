//! Teams, transfers and agents as tools.

use crate::support::Configured as _;
use crate::support::{Nothing, agent, assert_sendable, cancelled_after, says, tools, transcript};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit_agent::team::{LoopAgent, ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentError, Conversation, Limit, Limits, RunEvent, Sessions};
use toolkit_core::error::BuildProblem;
use toolkit_core::middleware::{Approval, Permission, Permissions};
use toolkit_core::{
    ClosureTool, Dispatcher, ErrorKind, RunContext, Session, Tool, ToolCall, ToolContext, ToolName,
    ToolRegistry,
};
use toolkit_llm::{ModelError, ModelErrorKind, ModelResponse, ModelRetry, ScriptedModel};

fn with_expert(expert: ScriptedModel, model: ScriptedModel) -> Agent {
    let expert = agent(expert).name("expert").build().unwrap();
    let mut tools = tools();
    tools.register(expert.to_tool().unwrap()).unwrap();
    Agent::builder(model).name("root").tools(tools).retry(ModelRetry::never()).build().unwrap()
}

fn asks() -> ScriptedModel {
    ScriptedModel::new().call("expert", r#"{"request": "Well?"}"#)
}

#[tokio::test]
async fn agent_tools_have_their_own_conversation_and_share_the_session() {
    let expert = ScriptedModel::new().call("set", r#"{"key": "a", "value": "1"}"#).text("So it is.");
    let team = with_expert(expert.clone(), asks().text("done"));
    let mut conversation = Conversation::new("1");
    let output = team.run("go").on(&mut conversation).await.unwrap();
    assert_eq!(transcript(&output.messages)[2], r#"results: {"response":"So it is."}"#);
    assert_eq!(transcript(&expert.requests()[0].messages), ["user: Well?"]);
    assert_eq!(conversation.session().get("a"), Some("1".into()));
    assert_eq!((output.model_calls, output.tool_calls), (4, 2));
    assert_sendable(&conversation);
}

#[tokio::test]
async fn agent_tools_share_limits_and_report_errors() {
    let limits = Limits::default().with_max_model_calls(2);
    let expert = ScriptedModel::new().call("add", r#"{"a": 1, "b": 1}"#).text("never");
    let mut conversation = Conversation::new("1");
    let ended = with_expert(expert, asks()).run("go").on(&mut conversation).limits(limits).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Limit(Limit::ModelCalls(2))));
    let last = transcript(conversation.messages()).pop().unwrap();
    assert_eq!(last, "results: Error running tool: exceeded 2 model calls; possible infinite loop");

    let broken = ScriptedModel::new().error(ModelError::new(ModelErrorKind::Unauthorized, "no key"));
    let output = with_expert(broken, asks().text("Then not.")).run("go").await.unwrap();
    assert_eq!(transcript(&output.messages)[2], "results: Error running tool: no key");
    assert_eq!(output.text, "Then not.");
}

#[tokio::test(start_paused = true)]
async fn agent_tools_are_cancelled_with_their_call() {
    let expert = ScriptedModel::new().call("wait", r#"{"ms": 60000}"#).text("never");
    let mut conversation = Conversation::new("1");
    let team = with_expert(expert.clone(), asks());
    let options = cancelled_after(Duration::from_secs(1));
    let ended = team.run("go").on(&mut conversation).options(options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(expert.requests().len(), 1);
    assert_eq!(
        transcript(conversation.messages()).pop().unwrap(),
        "results: Tool `expert` was cancelled before it finished"
    );
}

#[tokio::test]
async fn programs_may_call_agent_tools() {
    let expert =
        ScriptedModel::new().call("set", r#"{"key": "user:a", "value": "1"}"#).text("Yes.").text("Again.");
    let tool = agent(expert).name("The Expert").build().unwrap().to_tool().unwrap();
    let tool = tool.with_description("Knows.");
    assert_eq!((tool.definition().name.as_str(), &*tool.definition().description), ("the_expert", "Knows."));
    let registry = ToolRegistry::from_tools([tool.with_name(ToolName::new("ask").unwrap())]).unwrap();
    let session = Session::new("1");
    let run = RunContext::new().with_session(session.clone());
    let dispatcher = Dispatcher::new(registry.clone()).unwrap().with_run(run);
    let results = dispatcher.dispatch([ToolCall::new("1", "ask", r#"{"request": "Well?"}"#)]).await;
    assert_eq!(results[0].to_text(), r#"{"response":"Yes."}"#);
    assert_eq!(session.get("user:a"), Some("1".into()));
    let output = registry.call("ask", r#"{"request": "And?"}"#).await.unwrap();
    assert_eq!(output.to_text(), r#"{"response":"Again."}"#);
    let refused = registry.call("ask", r#"{"question": "And?"}"#).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn sequential_agents_read_earlier_messages() {
    let writer = agent(ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).text("3")).name("writer");
    let reader_model = ScriptedModel::new().text("Right.");
    let reader = agent(reader_model.clone()).name("reader");
    let team = SequentialAgent::new("team", [writer.build().unwrap(), reader.build().unwrap()]);
    let mut conversation = Conversation::new("1");
    let output = Agent::from(team).run("go").on(&mut conversation).await.unwrap();
    assert_eq!((output.text.as_str(), output.agent.as_str()), ("Right.", "reader"));
    assert_eq!(
        transcript(&reader_model.requests()[0].messages),
        [
            "user: go",
            "user: [writer] called tool `add` with {\"a\": 1, \"b\": 2}\n[writer] tool `add` returned: 3\n\
             [writer] said: 3"
        ]
    );
    assert_sendable(&conversation);
}

#[tokio::test]
async fn escalation_ends_a_sequence_and_the_innermost_loop() {
    let first = agent(ScriptedModel::new().call("enough", "{}").text("It is enough.")).name("first");
    let inner = SequentialAgent::new("inner", [first.build().unwrap(), says("second", "never")]);
    let around = LoopAgent::new("around", [inner.into(), says("third", "never")]);
    let outermost = SequentialAgent::new("outermost", [around.into(), says("last", "Done.")]);
    let output = Agent::from(outermost).run("go").await.unwrap();
    assert_eq!(transcript(&output.messages).last().unwrap(), "last: Done.");
    assert_eq!(output.messages.len(), 5);
    assert!(!output.escalate);
}

#[tokio::test]
async fn a_loop_ends_after_its_maximum_iterations() {
    for (iterations, expected) in [(None, 10), (Some(3), 3), (Some(0), 0)] {
        let model = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("more")));
        let worker = agent(model.clone()).name("worker").build().unwrap();
        let mut team = LoopAgent::new("team", [worker]);
        if let Some(iterations) = iterations {
            team = team.with_max_iterations(iterations);
        }
        Agent::from(team).run("go").await.unwrap();
        assert_eq!(model.requests().len(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn parallel_agents_have_copies_and_share_session_changes() {
    let worker = |name: &str, key: &str, ms: u32| {
        let model = ScriptedModel::new()
            .call("wait", format!(r#"{{"ms": {ms}}}"#))
            .call("set", format!(r#"{{"key": "{key}", "value": "{name}"}}"#))
            .text(format!("{name} is done"));
        (agent(model.clone()).name(name).build().unwrap(), model)
    };
    let ((slow, slow_model), (fast, fast_model)) =
        (worker("slow", "user:slow", 300), worker("fast", "fast", 100));
    let team = Agent::from(ParallelAgent::new("team", [slow, fast]));
    let mut conversation = Conversation::new("1");
    let started = tokio::time::Instant::now();
    let output = team.run("go").on(&mut conversation).await.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(300));
    assert_eq!(output.text, "slow is done\n\nfast is done");
    assert_eq!(
        transcript(conversation.messages()),
        [
            "user: go",
            "slow:  calls wait, set",
            "results: waited 300, remembered",
            "slow: slow is done",
            "fast:  calls wait, set",
            "results: waited 100, remembered",
            "fast: fast is done",
        ]
    );
    for model in [slow_model, fast_model] {
        assert_eq!(transcript(&model.requests()[1].messages).len(), 3);
    }
    let session = conversation.session();
    assert_eq!((session.get("user:slow"), session.get("fast")), (Some("slow".into()), Some("fast".into())));
    assert_sendable(&conversation);
    let saved: Conversation = serde_json::from_str(&serde_json::to_string(&conversation).unwrap()).unwrap();
    assert!(saved.time_of(6).is_some());
}

#[tokio::test]
async fn a_failed_parallel_agent_does_not_stop_the_others() {
    let broken = |name: &str| {
        let model = ScriptedModel::new().error(ModelError::new(ModelErrorKind::Other, "out of order"));
        agent(model).name(name).build().unwrap()
    };
    let panics =
        agent(ScriptedModel::new().respond_with(|_| panic!("on purpose"))).name("panics").build().unwrap();
    let team = Agent::from(ParallelAgent::new("team", [broken("a"), says("b", "Fine."), panics]));
    let mut stream = team.run("go").stream();
    let mut failed = Vec::new();
    let output = loop {
        match stream.next().await.unwrap().unwrap() {
            RunEvent::BranchFailed { agent, .. } => failed.push(agent),
            RunEvent::Finished { output, .. } => break output,
            _ => {}
        }
    };
    assert_eq!((output.text.as_str(), failed), ("Fine.", vec!["a".to_owned(), "panics".to_owned()]));
    let texts = transcript(&output.messages);
    assert_eq!(texts[1..3], ["a: (No answer: out of order)", "b: Fine."]);

    let all = Agent::from(ParallelAgent::new("team", [broken("a"), broken("b")])).run("go").await;
    let Err(AgentError::Branches(failed)) = all.map_err(AgentError::from) else { panic!() };
    assert_eq!(failed.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

fn back() -> ToolRegistry {
    let back = ClosureTool::new_with_context("back", "Goes back.", |_: Nothing, context: ToolContext| {
        context.actions().transfer_to_agent("root");
    });
    ToolRegistry::from_tools([back.unwrap()]).unwrap()
}

#[tokio::test]
async fn a_conversation_transfers_to_a_sub_agent_and_back() {
    let root = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "spec"}"#).text("Good bye.");
    for by_tool in [true, false] {
        let spec = if by_tool {
            Agent::builder(ScriptedModel::new().call("back", "{}")).tools(back())
        } else {
            let model = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "root"}"#);
            Agent::builder(model).transfer_to("root", "Talks to the customer.")
        };
        let spec = spec.name("spec").build().unwrap();
        let model = if by_tool {
            root.clone()
        } else {
            ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "spec"}"#).text("Good bye.")
        };
        let team = Agent::builder(model).name("root").sub_agent(spec).build().unwrap();
        let output = team.run("go").await.unwrap();
        assert_eq!(
            (output.text.as_str(), output.agent.as_str(), output.model_calls),
            ("Good bye.", "root", 3)
        );
    }
}

#[tokio::test]
async fn transfers_to_unknown_agents_are_errors() {
    let model = ScriptedModel::new()
        .call("transfer_to_agent", r#"{"agent_name": "zz"}"#)
        .call("transfer_to_agent", "{}")
        .text("Alone, then.");
    let team = Agent::builder(model).sub_agent(says("spec", "")).build().unwrap();
    let output = team.run("go").await.unwrap();
    assert_eq!(
        transcript(&output.messages)[2],
        "results: Error validating JSON arguments: `agent_name`: expected \"spec\", got string \"zz\", \
         Error validating JSON arguments: `agent_name`: required, but missing; expected \"spec\""
    );
    let model = ScriptedModel::new().call("back", "{}");
    let lost = Agent::builder(model).name("lost").tools(back()).build().unwrap().run("go").await;
    assert_eq!(lost.map_err(AgentError::from), Err(AgentError::UnknownAgent("root".to_owned())));
}

/// Each differs from the name only by letter case and separators.
fn spellings() -> impl Strategy<Value = (usize, String)> {
    let word = |(word, upper): (&str, bool)| if upper { word.to_uppercase() } else { word.to_owned() };
    (0..AGENTS.len(), any::<[bool; 3]>(), prop::sample::select(vec!["", " ", "-", "_"])).prop_map(
        move |(index, upper, separator)| {
            let words: Vec<_> = AGENTS[index].split('_').zip(upper).map(word).collect();
            (index, words.join(separator))
        },
    )
}

const AGENTS: [&str; 3] = ["billing_agent", "travel_agent", "agent_for_returns"];

/// Runs a team whose model asks for this agent, and returns answer and messages.
fn transfer_to(name: &str) -> (String, Vec<String>) {
    let model = ScriptedModel::new()
        .call("transfer_to_agent", json!({"agent_name": name}).to_string())
        .text("Alone, then.");
    let team = AGENTS.iter().fold(Agent::builder(model), |team, name| team.sub_agent(says(name, name)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let output = runtime.block_on(team.build().unwrap().run("go").into_future()).unwrap();
    (output.text, transcript(&output.messages))
}

proptest! {
    #![proptest_config(crate::support::cases(32))]
    #[test]
    fn a_near_miss_of_the_name_of_an_agent_is_coerced((index, spelling) in spellings()) {
        prop_assert_eq!(transfer_to(&spelling).0, AGENTS[index]);
    }
}

#[test]
fn a_misspelled_agent_is_refused_with_the_nearest_names() {
    let (text, messages) = transfer_to("biling_agents");
    assert_eq!(text, "Alone, then.");
    let expected = "expected one of \"billing_agent\", \"travel_agent\", \"agent_for_returns\", got string";
    assert!(messages[2].contains(expected), "{}", messages[2]);
}

#[tokio::test]
async fn no_approval_is_requested_for_a_transfer_to_an_unknown_agent() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let permissions =
        Permissions::new().otherwise(Permission::Ask("a transfer".to_owned())).with_handler(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Approval::Approve)
        });
    let model = ScriptedModel::new()
        .call("transfer_to_agent", r#"{"agent_name": "zz"}"#)
        .call("transfer_to_agent", "{}")
        .call("transfer_to_agent", "[")
        .call("transfer_to_agent", r#"{"agent_name": "spec"}"#);
    let team =
        Agent::builder(model).middleware(permissions).sub_agent(says("spec", "Hello.")).build().unwrap();
    assert_eq!(team.run("go").await.unwrap().text, "Hello.");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn endless_transfers_reach_the_limit() {
    let to = |name: &'static str| {
        ScriptedModel::new().fallback(move |_| {
            let arguments = format!(r#"{{"agent_name": "{name}"}}"#);
            Ok(ModelResponse::calls([ToolCall::new("1", "transfer_to_agent", arguments)]))
        })
    };
    let spec = Agent::builder(to("root")).name("spec").transfer_to("root", "").build().unwrap();
    let team = Agent::builder(to("spec")).name("root").sub_agent(spec).build().unwrap();
    let mut conversation = Conversation::new("1");
    let ended = team.run("go").on(&mut conversation).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Limit(Limit::ModelCalls(50))));
    assert_eq!(conversation.messages().len(), 101);
}

#[tokio::test]
async fn duplicate_agent_names_are_rejected() {
    let twice =
        Agent::builder(ScriptedModel::new()).sub_agent(says("a", "")).sub_agent(says("a", "")).build();
    let problem = BuildProblem::ambiguous("agent", "a");
    assert_eq!(twice.unwrap_err().problems(), std::slice::from_ref(&problem));
    let own = Agent::builder(ScriptedModel::new()).name("a").sub_agent(says("a", "")).build();
    assert_eq!(own.unwrap_err().to_string(), "agent `a` is defined twice; rename one");
    let team = Agent::from(ParallelAgent::new("team", [says("a", "1"), says("a", "2")])).run("go").await;
    assert!(matches!(team.unwrap_err().error, AgentError::Build(error) if error.problems() == [problem]));
    // One agent in two places is one agent.
    let model = ScriptedModel::new().text("1").text("2");
    let writer = Agent::builder(model).name("writer").build().unwrap();
    let team = SequentialAgent::new("team", [writer.clone(), says("critic", "No."), writer]);
    assert_eq!(Agent::from(team).run("go").await.unwrap().text, "2");
}

#[tokio::test]
async fn history_search_is_scoped_to_agent_and_user() {
    let sessions = Sessions::default();
    let long = "ä".repeat(300);
    let model = ScriptedModel::new().text("Nice.").text(long.as_str()).text("Other.");
    let helper = Agent::builder(model).name("helper").build().unwrap();
    helper.run("I like RED.\nVery.").on(sessions.user("ada").conversation("1")).await.unwrap();
    helper.run("And what is red?").on(sessions.user("ada").conversation("1")).await.unwrap();
    helper.run("I like red, too.").on(sessions.user("bob").conversation("1")).await.unwrap();

    let search = async |user: &str, name: &str, arguments: &str| {
        let model = ScriptedModel::new().call("search_history", arguments.to_owned()).text("done");
        let tools = ToolRegistry::from_tools([sessions.history_tool().unwrap()]).unwrap();
        let agent = Agent::builder(model).name(name).tools(tools).build().unwrap();
        let mut conversation = Conversation::new("search").with_user_id(user);
        let output = agent.run("go").on(&mut conversation).await.unwrap();
        let found = transcript(&output.messages)[2].strip_prefix("results: ").unwrap().to_owned();
        found
            .lines()
            .map(|line| line.split_once("] ").map_or(line, |(_, line)| line).to_owned())
            .collect::<Vec<_>>()
    };
    let found = search("ada", "helper", r#"{"keyword": "red"}"#).await;
    assert_eq!(found, ["User: I like RED. Very.", "User: And what is red?"]);
    assert_eq!(search("ada", "other", r#"{"keyword": "red"}"#).await, ["No history found."]);
    assert_eq!(search("ada", "other", r#"{"keyword": "red", "agent": "helper"}"#).await, found);
    let latest = search("ada", "helper", r#"{"limit": 1}"#).await;
    assert_eq!(latest, [format!("AI: {}...", "ä".repeat(200))]);
    assert_eq!(search("eve", "helper", "{}").await, ["No history found."]);
    let tool: Arc<dyn Tool> = Arc::new(sessions.history_tool().unwrap());
    let alone = tool.call("{}", &ToolContext::new(ToolName::new("search_history").unwrap())).await.unwrap();
    assert_eq!(alone.to_text(), "No agent specified.");
}

#[tokio::test]
async fn a_history_search_has_a_limit() {
    let sessions = Sessions::default();
    let helper = Agent::builder(ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("Nice."))));
    let helper = helper.name("helper").build().unwrap();
    helper.run("zzz").on(sessions.user("ada").conversation("oldest")).await.unwrap();
    for id in 0..100 {
        helper.run("Hello.").on(sessions.user("ada").conversation(id.to_string())).await.unwrap();
    }
    let search = async |arguments: &str| {
        let model = ScriptedModel::new().call("search_history", arguments.to_owned()).text("done");
        let tools = ToolRegistry::from_tools([sessions.history_tool().unwrap()]).unwrap();
        let agent = Agent::builder(model).name("helper").tools(tools).build().unwrap();
        let mut conversation = Conversation::new("search").with_user_id("ada");
        let output = agent.run("go").on(&mut conversation).await.unwrap();
        transcript(&output.messages)[2].strip_prefix("results: ").unwrap().to_owned()
    };
    assert_eq!(search(r#"{"keyword": "zzz"}"#).await, "No history found in the latest 100 conversations.");
    assert_eq!(search(r#"{"limit": 1000000}"#).await.lines().count(), 50);
    sessions.user("ada").conversation("0").delete().await.unwrap();
    assert!(search(r#"{"keyword": "zzz"}"#).await.ends_with("User: zzz"));
    assert_eq!(search(r#"{"keyword": "yyy"}"#).await, "No history found.");
}

#[tokio::test]
async fn every_agent_of_a_run_knows_its_user() {
    type Wrap = fn(Agent) -> Agent;
    let as_tool: Wrap = |agent| {
        let model = ScriptedModel::new().call(agent.name(), r#"{"request": "go"}"#).text("done");
        let tools = ToolRegistry::from_tools([agent.to_tool().unwrap()]).unwrap();
        let name = format!("above_{}", agent.name());
        Agent::builder(model).name(name).tools(tools).build().unwrap()
    };
    let transfer: Wrap = |agent| {
        let model = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "expert"}"#);
        Agent::builder(model).name("front").sub_agent(agent).build().unwrap()
    };
    let wraps: [&[Wrap]; 6] = [
        &[],
        &[as_tool],
        &[as_tool, as_tool],
        &[|agent| ParallelAgent::new("team", [agent]).into()],
        &[transfer, as_tool],
        &[as_tool, |agent| SequentialAgent::new("team", [agent]).into()],
    ];
    for (number, wraps) in wraps.into_iter().enumerate() {
        let sessions = Sessions::default();
        let plain =
            Agent::builder(ScriptedModel::new().text("Hi.").text("Hi.")).name("expert").build().unwrap();
        plain.run("Of nobody.").on(sessions.user("").conversation("1")).await.unwrap();
        plain.run("Of Ada.").on(sessions.user("ada").conversation("1")).await.unwrap();
        let tools = ToolRegistry::from_tools([sessions.history_tool().unwrap()]).unwrap();
        let model = ScriptedModel::new().call("search_history", "{}").text("done");
        let expert = Agent::builder(model).name("expert").tools(tools).build().unwrap();
        let agent = wraps.iter().fold(expert, |agent, wrap| wrap(agent));
        let mut conversation = sessions.user("ada").conversation("2").open().await.unwrap();
        let mut run = agent.run("go").on(&mut conversation).stream();
        let mut found = String::new();
        while let Some(event) = run.next().await {
            if let RunEvent::Result { result, .. } = event.unwrap()
                && result.name == "search_history"
            {
                found = result.to_text().into_owned();
            }
        }
        assert!(found.contains("Of Ada.") && !found.contains("Of nobody."), "{number}: {found}");
    }
}
