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
                loop {
                    let team = match ended.map_err(|failed| failed.error) {
                        Ok(_) => break,
                        Err(AgentError::InvalidDecision(_)) => {
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
async fn the_model_reads_the_work_of_an_agent_whose_tool_is_gone_or_denied() {
    let work = "\nThe call was started before the run stopped. Consider what it has done before calling it again:\
        \n- `look` with {}: finished with seen\n- `pay` with {}: Tool `pay` was not run: its approval was not decided";
    let denied = Permissions::new().rule(PermissionRule::deny("no").for_tool("expert").unwrap());
    for (permissions, is_gone, error) in [
        (allow(), true, "Tool `expert` not found; there are no tools"),
        (denied, false, "Tool `expert` was denied: no"),
    ] {
        let runs = Runs::default();
        let expert = runs.agent("expert", "look pay", &[], true);
        let other = calling(&runs, (!is_gone).then(|| expert.clone()), permissions);
        let mut conversation = Conversation::new("1");
        let calls = pending(calling(&runs, Some(expert), allow()).run_in(&mut conversation, "go").await);
        assert_eq!(pending(decide(&other, &mut conversation, Decisions::new()).await), calls);
        let ended = decide(&other, &mut conversation, Order::All.decide(&calls)).await;
        assert_eq!((ended.unwrap().text.as_str(), runs.counts()), ("done", [0, 1]));
        assert_eq!(transcript(conversation.messages())[2], format!("results: {error}{work}"));
        assert_eq!(conversation.pending(), []);
        assert_sendable(&conversation);
    }
}

#[tokio::test]
async fn a_decision_does_not_reach_another_agent_behind_the_same_tool() {
    let runs = Runs::default();
    let of = |name| calling(&runs, Some(runs.agent(name, "look pay", &[], true)), allow());
    let mut conversation = Conversation::new("1");
    let calls = pending(of("expert").run_in(&mut conversation, "go").await);
    let refused = decide(&of("novice"), &mut conversation, Order::All.decide(&calls)).await;
    let text = "the pending calls are calls of agent `expert`, and agent `novice` runs; resume with `expert`";
    assert_eq!(refused.map_err(|failed| failed.error), Err(AgentError::InvalidDecision(text.to_owned())));
    assert_eq!(conversation.pending(), calls);
    let ended = decide(&of("expert"), &mut conversation, Order::All.decide(&calls)).await;
    assert_eq!((ended.unwrap().text.as_str(), runs.counts()), ("done", [1, 1]));
}

#[tokio::test]
async fn a_decision_does_not_reach_a_group_in_place_of_an_agent() {
    let runs = Runs::default();
    let mut conversation = Conversation::new("1");
    let calls = pending(runs.team(0, true).run_in(&mut conversation, "go").await);
    let refused = decide(&runs.team(3, true), &mut conversation, Order::All.decide(&calls)).await;
    let text = "the pending calls are calls of agent `root`, and agent `team` runs; resume with `root`";
    assert_eq!(refused.map_err(|failed| failed.error), Err(AgentError::InvalidDecision(text.to_owned())));
    assert_eq!((conversation.pending(), runs.counts()), (calls, [0, 1]));
}

/// Without decisions, a renamed team begins again. Its agents read what the agents before them have done.
#[tokio::test]
async fn a_team_with_another_name_reads_what_was_done() {
    let runs = Runs::default();
    let mut conversation = Conversation::new("1");
    pending(runs.team(3, true).run_in(&mut conversation, "go").await);
    let other = Runs { renamed: Some("team"), ..runs.clone() };
    pending(other.team(3, true).resume(&mut conversation, RunOptions::new()).await);
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
}
