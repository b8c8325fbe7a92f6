//! Programs that change between interruption and continuation.

use super::{Runs, approved, calls, decide, pending, transcript};
use crate::support::assert_sendable;
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentError, Conversation, Decisions};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{Dispatcher, ToolName, ToolRegistry};
use toolkit_llm::ScriptedModel;

/// A program that calls an expert, which looks and then needs approval.
fn calling(runs: &Runs, expert: Option<&str>, permissions: Permissions) -> Agent {
    let tools = expert.map(|name| {
        let expert = runs.agent(name, calls("look pay").text("Helped."), &[]);
        expert.to_tool().unwrap().with_name(ToolName::new("expert").unwrap())
    });
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools).unwrap()).unwrap();
    let model = calls("expert").text("done");
    Agent::builder(model).dispatcher(dispatcher.with_middleware(permissions)).build().unwrap()
}

fn allow() -> Permissions {
    Permissions::new().rule(PermissionRule::allow())
}

/// The run goes on, but without decisions the calls stay pending.
#[tokio::test]
async fn the_model_reads_the_work_of_an_agent_whose_tool_is_denied() {
    let work = "\nThe call was started before the run stopped. Consider what it has done before calling it again:\
        \n- `look` with {}: finished with seen\n- `pay` with {}: Tool `pay` was not run: its approval was not decided";
    let denied = Permissions::new().rule(PermissionRule::deny("no").for_tool("expert").unwrap());
    let runs = Runs::default();
    let agent = calling(&runs, Some("expert"), allow());
    let other = calling(&runs, Some("expert"), denied);
    let mut conversation = Conversation::new("1");
    let calls = pending(agent.run("go").on(&mut conversation).await);
    assert_eq!(pending(decide(&other, &mut conversation, Decisions::new()).await), calls);
    decide(&other, &mut conversation, approved(&calls)).await.unwrap();
    assert_eq!(runs.counts(), [0, 1]);
    let text = format!("results: Tool `expert` was denied: no{work}");
    assert_eq!(transcript(conversation.messages())[2], text);
    assert_eq!(conversation.pending(), []);
    assert_sendable(&conversation);
}

fn team(runs: &Runs, name: &str) -> Agent {
    let one = runs.agent("one", calls("pay look").text("one is done."), &[]);
    let two = runs.agent("two", calls("look ask").text("two is done."), &[]);
    ParallelAgent::new(name, [one, two]).into()
}

/// The interrupted program can still continue.
#[tokio::test]
async fn a_decision_does_not_reach_another_program() {
    let runs = Runs::default();
    for (other, text) in [
        (calling(&runs, Some("novice"), allow()), "agent `expert`, and agent `novice` is in its place"),
        (calling(&runs, None, allow()), "waits for tool `expert`, which the agent no longer has"),
        (team(&runs, "team"), "agent `agent`, and agent `team` is in its place"),
    ] {
        let mut conversation = Conversation::new("1");
        let own = calling(&runs, Some("expert"), allow());
        let calls = pending(own.run("go").on(&mut conversation).await);
        let refused = decide(&other, &mut conversation, approved(&calls)).await;
        let Err(AgentError::TeamChanged(reason)) = refused.map_err(|failed| failed.error) else { panic!() };
        assert!(reason.contains(text), "{reason}");
        assert_eq!(conversation.pending(), calls);
        let paid = runs.counts()[0];
        let ended = decide(&own, &mut conversation, approved(&calls)).await;
        assert_eq!((ended.unwrap().text.as_str(), runs.counts()[0]), ("done", paid + 1));
    }
}

/// A renamed team can then begin again, and read what the earlier agents have done.
#[tokio::test]
async fn an_abandoned_run_leaves_what_its_agents_have_done() {
    let runs = Runs::default();
    let mut conversation = Conversation::new("1");
    pending(team(&runs, "team").run("go").on(&mut conversation).await);
    let other = team(&runs, "team_2");
    let refused = other.resume(&mut conversation).await;
    assert!(matches!(refused.unwrap_err().error, AgentError::TeamChanged(_)));
    conversation.abandon();
    let undone = "Tool `pay` was not run: its approval was not decided";
    let lost = "The question of tool `ask` was not answered";
    let expected = [
        "user: go".to_owned(),
        "one:  calls pay, look".to_owned(),
        format!("results: {undone}, seen"),
        "two:  calls look, ask".to_owned(),
        format!("results: seen, {lost}"),
    ];
    assert_eq!(transcript(conversation.messages()), expected);
    pending(other.resume(&mut conversation).await);
}

/// The run waits for a program with the agent that took it over.
#[tokio::test]
async fn a_transfer_to_an_agent_that_is_gone_keeps_the_turn() {
    let runs = Runs::default();
    let program = |name: &str| {
        let desk = runs.agent(name, calls("look pay").text("Paid."), &[]);
        let front = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "desk"}"#);
        Agent::builder(front).name("front").sub_agent(desk).build().unwrap()
    };
    let mut conversation = Conversation::new("1");
    let own = program("desk");
    let calls = pending(own.run("go").on(&mut conversation).await);
    let before = transcript(conversation.messages());
    let refused = decide(&program("counter"), &mut conversation, approved(&calls)).await.unwrap_err();
    assert!(matches!(refused.error, AgentError::TeamChanged(_)), "{refused}");
    assert!(refused.to_string().contains("agent `desk`, which the team no longer has"), "{refused}");
    assert_eq!((conversation.pending(), transcript(conversation.messages())), (calls.clone(), before));
    assert_eq!(decide(&own, &mut conversation, approved(&calls)).await.unwrap().text, "Paid.");
}
