//! The futures of public functions can change threads.

use serde_json::json;
use toolkit_agent::{Agent, Conversation, Sessions};

use toolkit_core::{Dispatcher, RunContext, ToolCall, ToolRegistry};
use toolkit_llm::{ChatModel, ModelRequest, ScriptedModel};

/// A compile error names the future.
fn is_send<T: Send>(future: T) {
    drop(future);
}

fn is_static<T: Send + 'static>(future: T) {
    drop(future);
}

#[test]
fn calls_and_runs_are_send() {
    let registry = ToolRegistry::new();
    is_send(registry.call("add", "{}"));
    let dispatcher = Dispatcher::new(registry).unwrap().with_run(RunContext::new());
    is_send(dispatcher.call("add", json!({}).to_string()));
    is_send(dispatcher.dispatch([ToolCall::new("1", "add", "{}")]));

    let model = ScriptedModel::new();
    is_send(model.respond(ModelRequest::from("Hi.")));
    is_send(model.stream(ModelRequest::from("Hi.")));
    is_send(model.ask::<bool>("Yes?"));

    let agent = Agent::builder(model).build().unwrap();
    let sessions = Sessions::default();
    let place = || sessions.user("ada").conversation("1");
    is_static(agent.run("Hi."));
    is_static(agent.run("Hi.").into_future());
    is_static(agent.run("Hi.").on(place()).outcome());
    is_static(agent.run("Hi.").on(place()).stream());
    is_static(agent.run("Yes?").on(place()).typed::<bool>().into_future());
    is_static(agent.run("Yes?").on(place()).typed::<bool>().stream());
    is_static(agent.resume(place()).into_future());
    let mut conversation = Conversation::new("1");
    is_send(agent.run("Hi.").on(&mut conversation).into_future());
    is_send(agent.resume(&mut conversation).outcome());
    is_send(sessions.save(&mut conversation));
    let saved = place();
    is_send(saved.open());
    is_send(saved.abandon());
    is_send(saved.delete());
    is_send(sessions.user("ada").list());
}
