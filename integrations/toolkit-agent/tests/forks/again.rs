//! Tools with earlier calls wait before they are called again.

use super::{Nothing, calls};
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};
use toolkit_agent::session::{ConversationKey, ConversationStore, ForkPoint, MemoryStore, SavedConversation};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentError, Decision, Decisions, PendingCall, RunError, RunOutput, Sessions};
use toolkit_core::error::Pending;
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolRegistry};
use toolkit_llm::{ModelResponse, ScriptedModel};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Amount {
    amount: u64,
}

/// The paid amounts.
#[derive(Clone, Default)]
struct Paid(Arc<Mutex<Vec<u64>>>);

impl Paid {
    fn tools(&self) -> ToolRegistry {
        let paid = self.0.clone();
        let pay = move |Amount { amount }: Amount| {
            paid.lock().unwrap().push(amount);
            "paid"
        };
        let look = ClosureTool::new("look", "Looks.", |_: Nothing| "a cat").unwrap();
        let mut registry = ToolRegistry::new();
        registry.register(ClosureTool::new("pay", "Pays.", pay).unwrap()).unwrap();
        registry.register(look.map_metadata(|metadata| metadata.with_read_only(true))).unwrap();
        registry
    }

    fn agent(&self, name: &str, model: ScriptedModel) -> Agent {
        Agent::builder(model).name(name).tools(self.tools()).build().unwrap()
    }

    fn amounts(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }
}

fn pays(amount: u64) -> String {
    json!({"amount": amount}).to_string()
}

fn waiting(ended: Result<RunOutput, RunError>) -> Vec<PendingCall> {
    match ended.map_err(AgentError::from) {
        Err(AgentError::Interrupted { pending, .. }) => pending,
        ended => panic!("{ended:?}"),
    }
}

fn reason(call: &PendingCall) -> String {
    match &call.reason {
        Pending::Approval { reason, .. } => reason.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns a fork before a run that has paid 5 and has looked.
async fn paid_fork(paid: &Paid) -> SavedConversation {
    let saved = Sessions::default().user("ada").conversation("1");
    let model = calls(&[("look", "{}"), ("pay", &pays(5))]).text("Paid.");
    paid.agent("root", model).run("Pay 5.").on(&saved).await.unwrap();
    saved.fork("2", 0).await.unwrap()
}

#[tokio::test]
async fn the_first_call_of_a_tool_that_ran_after_the_fork_waits_for_a_decision() {
    let decisions = [
        (Decision::Approve, vec![5, 6, 7], "paid"),
        (Decision::ApproveForSession, vec![5, 6, 7], "paid"),
        (Decision::Change(json!({"amount": 1})), vec![5, 1, 7], "paid"),
    ];
    for (decision, expected, result) in decisions {
        let paid = Paid::default();
        let fork = paid_fork(&paid).await;
        let model = calls(&[("look", "{}"), ("pay", &pays(6)), ("pay", &pays(7))]).text("Done.");
        let agent = paid.agent("root", model);
        let pending = waiting(agent.run("Pay 6 and 7.").on(&fork).await);
        assert_eq!((pending.len(), pending[0].call.name.as_str()), (1, "pay"));
        let reason = reason(&pending[0]);
        let expected_reason = "it may have run before, in a part of the conversation that is no longer here:\n- with {\"amount\":5} at ";
        assert!(reason.starts_with(expected_reason) && reason.ends_with(" UTC"), "{reason}");
        assert_eq!(paid.amounts(), [5]);
        // In the next process.
        let decided = Decisions::new().with(&pending[0].id, decision.clone());
        let output = agent.resume(&fork).decide(decided).await.unwrap();
        assert_eq!((output.text.as_str(), paid.amounts()), ("Done.", expected), "{decision:?}");
        assert_eq!((output.tool_calls, output.messages[4].to_text().as_str()), (3, result));
    }
}

#[tokio::test]
async fn a_tool_waits_again_until_a_call_is_approved() {
    for decision in [Decision::Deny("no".to_owned()), Decision::Answer("It was paid.".into())] {
        let paid = Paid::default();
        let fork = paid_fork(&paid).await;
        let model = calls(&[("pay", &pays(5)), ("pay", &pays(5))]).text("Done.");
        let agent = paid.agent("root", model);
        let pending = waiting(agent.run("Pay 5.").on(&fork).await);
        let decided = Decisions::new().with(&pending[0].id, decision);
        let pending = waiting(agent.resume(&fork).decide(decided).await);
        assert_eq!((pending[0].id.as_str(), paid.amounts()), ("1.2.0", vec![5]));
        let output = agent.resume(&fork).decide(Decisions::new().approve("1.2.0")).await.unwrap();
        assert_eq!((output.text.as_str(), paid.amounts()), ("Done.", vec![5, 5]));
    }
}

#[tokio::test]
async fn two_calls_of_a_message_are_decided_apart() {
    let paid = Paid::default();
    let fork = paid_fork(&paid).await;
    let both = [6, 7].map(|amount| ToolCall::new(amount.to_string(), "pay", pays(amount)));
    let model = ScriptedModel::new().response(ModelResponse::calls(both)).text("Done.");
    let agent = paid.agent("root", model);
    assert_eq!(waiting(agent.run("Pay 6 and 7.").on(&fork).await).len(), 2);
    let pending = waiting(agent.resume(&fork).decide(Decisions::new().approve("1.1.0")).await);
    assert_eq!((pending[0].id.as_str(), paid.amounts()), ("1.1.1", vec![5, 6]));
    let changed = Decisions::new().with("1.1.1", Decision::Change(json!({"amount": 2})));
    agent.resume(&fork).decide(changed).await.unwrap();
    assert_eq!(paid.amounts(), [5, 6, 2]);
}

#[tokio::test]
async fn an_approval_to_call_again_is_none_for_the_permissions_of_the_tool() {
    let paid = Paid::default();
    let fork = paid_fork(&paid).await;
    let rules = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
        .rule(PermissionRule::allow())
        .decide_later();
    let dispatcher = Dispatcher::new(paid.tools()).unwrap().with_middleware(rules);
    let model = calls(&[("pay", &pays(6)), ("pay", &pays(7))]).text("Done.");
    let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
    let again = |id: &str| Decisions::new().with(id, Decision::ApproveForSession);
    let pending = waiting(agent.run("Pay.").on(&fork).await);
    assert!(reason(&pending[0]).starts_with("it may have run before"));
    let pending = waiting(agent.resume(&fork).decide(again("1.1.0")).await);
    assert_eq!((reason(&pending[0]).as_str(), paid.amounts()), ("it costs money", vec![5]));
    // This approval holds for the next call, too, and another process has loaded the conversation.
    agent.resume(&fork).decide(again("1.1.0")).await.unwrap();
    assert_eq!(paid.amounts(), [5, 6, 7]);
}

#[tokio::test]
async fn calls_that_did_not_run_and_those_before_the_fork_do_not_wait() {
    let paid = Paid::default();
    let saved = Sessions::default().user("ada").conversation("1");
    let model = ScriptedModel::new()
        .call("pay", pays(1))
        .text("Paid.")
        .call("pay", r#"{"amount": "much"}"#)
        .text("It failed.");
    let agent = paid.agent("root", model);
    agent.run("Pay 1.").on(&saved).await.unwrap();
    agent.run("Pay much.").on(&saved).await.unwrap();
    let fork = saved.fork("2", 4).await.unwrap();
    let agent = paid.agent("root", ScriptedModel::new().call("pay", pays(2)).text("Paid."));
    agent.run("Pay 2.").on(&fork).await.unwrap();
    assert_eq!(paid.amounts(), [1, 2]);
}

#[tokio::test]
async fn calls_in_called_and_parallel_agents_wait() {
    let expert = |paid: &Paid, amount| {
        let expert = paid.agent("expert", ScriptedModel::new().call("pay", pays(amount)).text("Paid."));
        let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
        let model = ScriptedModel::new().call("expert", r#"{"request": "Pay."}"#).text("Done.");
        Agent::builder(model).name("root").tools(tools).build().unwrap()
    };
    let team = |paid: &Paid, amount: u64| -> Agent {
        let member =
            |name: &str, amount| paid.agent(name, ScriptedModel::new().call("pay", pays(amount)).text(name));
        ParallelAgent::new("team", [member("one", amount), member("two", amount + 1)]).into()
    };
    let paid = Paid::default();
    let saved = Sessions::default().user("ada").conversation("1");
    expert(&paid, 5).run("Pay.").on(&saved).await.unwrap();
    // From the log, and from the snapshot with which a fork begins.
    let again = expert(&paid, 6);
    let fork = saved.fork("2", 0).await.unwrap();
    let pending = waiting(again.run("Pay.").on(&fork).await);
    assert_eq!((pending[0].id.as_str(), pending[0].call.name.as_str()), ("1.1.0/1.1.0", "pay"));
    again.resume(&fork).decide(Decisions::new().approve("1.1.0/1.1.0")).await.unwrap();
    assert_eq!(paid.amounts(), [5, 6]);
    let copy = saved.fork("3", ForkPoint::End).await.unwrap();
    let fork = copy.fork("4", 0).await.unwrap();
    let pending = waiting(expert(&paid, 7).run("Pay.").on(&fork).await);
    assert_eq!((pending[0].id.as_str(), pending[0].call.name.as_str()), ("2.1.0", "expert"));

    let paid = Paid::default();
    let saved = Sessions::default().user("ada").conversation("1");
    team(&paid, 5).run("Pay.").on(&saved).await.unwrap();
    let fork = saved.fork("2", 0).await.unwrap();
    let again = team(&paid, 7);
    let pending = waiting(again.run("Pay.").on(&fork).await);
    let ids: Vec<&str> = pending.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["b0/1.1.0", "b1/1.1.0"]);
    let decided = ids.iter().fold(Decisions::new(), |decided, id| decided.approve(*id));
    again.resume(&fork).decide(decided).await.unwrap();
    let mut amounts = paid.amounts();
    amounts.sort_unstable();
    assert_eq!(amounts, [5, 6, 7, 8]);
    assert_eq!(
        paid.agent("root", ScriptedModel::new().call("pay", pays(9)).text("Paid."))
            .run("Pay.")
            .on(&fork)
            .await
            .unwrap()
            .text,
        "Paid."
    );
}

#[tokio::test]
async fn an_approval_for_the_session_holds_after_the_conversation_was_loaded() {
    let paid = Paid::default();
    let store = MemoryStore::new();
    let saved = Sessions::new(store.clone()).user("ada").conversation("1");
    let agent = |model: ScriptedModel| {
        let rules = Permissions::new()
            .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
            .rule(PermissionRule::allow())
            .decide_later();
        let dispatcher = Dispatcher::new(paid.tools()).unwrap().with_middleware(rules);
        Agent::builder(model).dispatcher(dispatcher).build().unwrap()
    };
    let first = agent(ScriptedModel::new().call("pay", pays(1)).text("Paid."));
    let pending = waiting(first.run("Pay 1.").on(&saved).await);
    let granted = Decisions::new().with(&pending[0].id, Decision::ApproveForSession);
    first.resume(&saved).decide(granted).await.unwrap();
    agent(ScriptedModel::new().call("pay", pays(2)).text("Paid.")).run("Pay 2.").on(&saved).await.unwrap();
    // Another program, with the log alone.
    let saved = Sessions::new(store.clone()).user("ada").conversation("1");
    agent(ScriptedModel::new().call("pay", pays(3)).text("Paid.")).run("Pay 3.").on(&saved).await.unwrap();
    assert_eq!(paid.amounts(), [1, 2, 3]);
    // A fork asks again, and so does an approval of one call.
    let fork = saved.fork("2", ForkPoint::End).await.unwrap();
    let once = agent(calls(&[("pay", &pays(4)), ("pay", &pays(5))]).text("Paid."));
    let pending = waiting(once.run("Pay 4 and 5.").on(&fork).await);
    let pending = waiting(once.resume(&fork).decide(Decisions::new().approve(&pending[0].id)).await);
    assert_eq!((reason(&pending[0]).as_str(), paid.amounts()), ("it costs money", vec![1, 2, 3, 4]));
    let key = ConversationKey { user: "ada", id: "1" };
    let log = store.load(key).await.unwrap().unwrap().entries.join("\n");
    assert_eq!(log.matches("approve_for_session").count(), 1);
}
