//! Programs that change between an interruption and the continuation of the run.

use super::{ESCALATING, KINDS, Order, Runs, Way, decide, pending, transcript};
use crate::support::assert_sendable;
use toolkit_agent::session::MemoryStore;
use toolkit_agent::{
    Agent, AgentError, Conversation, Decisions, Message, ModelResponse, RunOptions, ScriptedModel,
};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{AdaptedTool, Dispatcher, ToolCall, ToolName, ToolRegistry};

/// The agents that get another name.
const RENAMED: [&str; 6] = ["team", "root", "group", "inner", "handing", "one"];

/// A program whose team has another agent in place of one that was interrupted refuses decisions, and the program that
/// was interrupted can still continue.
#[tokio::test]
async fn a_team_with_another_agent_does_not_lose_the_run() {
    for name in RENAMED {
        let mut refusals = 0;
        for kind in (0..KINDS).filter(|kind| *kind != ESCALATING) {
            let uninterrupted = Runs::default();
            let mut whole = Conversation::new("1");
            uninterrupted.team(kind, false).run_in(&mut whole, "go").await.unwrap();
            for way in [Way::InMemory, Way::AsJson, Way::Stored(MemoryStore::new())] {
                let case = format!("kind {kind} without `{name}`, {way:?}");
                let runs = Runs::default();
                let other = Runs { renamed: Some(name), ..runs.clone() };
                let teams = [other.team(kind, true), runs.team(kind, true)];
                let (mut conversation, options) = way.reload(Conversation::new("1")).await;
                let mut ended = teams[1].run_with(&mut conversation, "go", options).await;
                for round in 0.. {
                    assert!(round < 30, "{case}: {ended:?}");
                    let team = match ended.map_err(|failed| failed.error) {
                        Ok(_) => break,
                        Err(AgentError::TeamChanged(_)) => {
                            refusals += 1;
                            1
                        }
                        Err(AgentError::Interrupted { .. }) => 0,
                        Err(error) => panic!("{case}: {error}"),
                    };
                    let (reloaded, options) = way.reload(conversation).await;
                    conversation = reloaded;
                    let options = options.with_decisions(Order::All.decide(&conversation.pending()));
                    ended = teams[team].resume(&mut conversation, options).await;
                }
                assert_eq!(runs.counts(), uninterrupted.counts(), "{case}");
                assert_sendable(&conversation);
            }
        }
        assert!(refusals > 0, "{name}");
    }
}

/// An expert that looks and then needs an approval, and a program that calls it.
fn calling(runs: &Runs, expert: Option<Agent>, permissions: Permissions) -> Agent {
    let tools = expert.iter().map(|expert| {
        AdaptedTool::new(expert.to_tool().unwrap()).with_name(ToolName::new("expert").unwrap())
    });
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools).unwrap()).unwrap();
    let asked = runs.asked.clone();
    let model = ScriptedModel::new().fallback(move |request| match request.messages.last() {
        Some(Message::Tool(_)) => {
            asked.lock().unwrap().push(0);
            Ok(ModelResponse::text("done"))
        }
        _ => Ok(ModelResponse::calls([ToolCall::new("x", "expert", r#"{"request": "Help."}"#)])),
    });
    Agent::builder(model).dispatcher(dispatcher.with_middleware(permissions)).build().unwrap()
}

fn allow() -> Permissions {
    Permissions::new().rule(PermissionRule::allow())
}

/// The model reads what the agent has done, and the run goes on. Without decisions, the calls stay pending.
#[tokio::test]
async fn the_model_reads_the_work_of_an_agent_whose_tool_is_denied() {
    let work = "\nThe call was started before the run stopped. Consider what it has done before calling it again:\
        \n- `look` with {}: finished with seen\n- `pay` with {}: Tool `pay` was not run: its approval was not decided";
    let denied = Permissions::new().rule(PermissionRule::deny("no").for_tool("expert").unwrap());
    let runs = Runs::default();
    let expert = runs.agent("expert", "look pay", &[], true);
    let other = calling(&runs, Some(expert.clone()), denied);
    let mut conversation = Conversation::new("1");
    let calls = pending(calling(&runs, Some(expert), allow()).run_in(&mut conversation, "go").await);
    assert_eq!(pending(decide(&other, &mut conversation, Decisions::new()).await), calls);
    let ended = decide(&other, &mut conversation, Order::All.decide(&calls)).await;
    assert_eq!((ended.unwrap().text.as_str(), runs.counts()), ("done", [0, 1]));
    let text = format!("results: Tool `expert` was denied: no{work}");
    assert_eq!(transcript(conversation.messages())[2], text);
    assert_eq!(conversation.pending(), []);
    assert_sendable(&conversation);
}

/// The program that was interrupted can still continue.
#[tokio::test]
async fn a_decision_does_not_reach_another_program() {
    let runs = Runs::default();
    let expert = |name| Some(runs.agent(name, "look pay", &[], true));
    let own = || calling(&runs, expert("expert"), allow());
    for (other, text) in [
        (calling(&runs, expert("novice"), allow()), "agent `expert`, and agent `novice` is in its place"),
        (calling(&runs, None, allow()), "waits for tool `expert`, which the agent no longer has"),
        (runs.team(3, true), "agent `agent`, and agent `team` is in its place"),
    ] {
        let mut conversation = Conversation::new("1");
        let calls = pending(own().run_in(&mut conversation, "go").await);
        let refused = decide(&other, &mut conversation, Order::All.decide(&calls)).await;
        let Err(AgentError::TeamChanged(reason)) = refused.map_err(|failed| failed.error) else { panic!() };
        assert!(reason.contains(text), "{reason}");
        assert_eq!(conversation.pending(), calls);
        let paid = runs.counts()[0];
        let ended = decide(&own(), &mut conversation, Order::All.decide(&calls)).await;
        assert_eq!((ended.unwrap().text.as_str(), runs.counts()[0]), ("done", paid + 1));
    }
}

/// After that, a renamed team can begin again. Its agents read what the agents before them have done.
#[tokio::test]
async fn an_abandoned_run_leaves_what_its_agents_have_done() {
    let runs = Runs::default();
    let mut conversation = Conversation::new("1");
    pending(runs.team(3, true).run_in(&mut conversation, "go").await);
    let other = Runs { renamed: Some("team"), ..runs.clone() };
    let refused = other.team(3, true).resume(&mut conversation, RunOptions::new()).await;
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
    pending(other.team(3, true).resume(&mut conversation, RunOptions::new()).await);
}
