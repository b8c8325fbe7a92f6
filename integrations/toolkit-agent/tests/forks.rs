//! Forks of saved conversations: where they begin, and what they keep.

mod again;

use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_agent::compaction::{Compaction, SummaryRequest};
use toolkit_agent::session::{
    ConversationKey, ConversationStore, ForkPoint, MemoryStore, Save, SavedConversation, Summary,
};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, Conversation, Sessions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolContext, ToolRegistry};
use toolkit_llm::{Message, ModelResponse, ScriptedModel};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Nothing {}

fn tools() -> ToolRegistry {
    let look = ClosureTool::new("look", "Looks.", |_: Nothing| "a cat ".repeat(200)).unwrap();
    let count = |_: Nothing, context: ToolContext| {
        let session = context.session();
        let number = session.get("count").and_then(|count| count.as_u64()).unwrap_or_default() + 1;
        session.set("count", number);
        session.set("user:count", number);
        number
    };
    let count = ClosureTool::new_with_context("count", "Counts.", count).unwrap();
    let mut registry = ToolRegistry::new();
    registry.register(look.map_metadata(|metadata| metadata.with_read_only(true))).unwrap();
    registry.register(count).unwrap();
    registry
}

fn named(name: &str, model: ScriptedModel) -> Agent {
    Agent::builder(model).name(name).tools(tools()).build().unwrap()
}

/// Returns a model that makes one call after the other.
fn calls(calls: &[(&str, &str)]) -> ScriptedModel {
    let mut model = ScriptedModel::new();
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let call = ToolCall::new(format!("call_{number}"), *tool, *arguments);
        model = model.response(ModelResponse::calls([call]));
    }
    model
}

async fn summarize(request: SummaryRequest) -> Result<String, String> {
    Ok(format!("{} messages.", request.messages.len()))
}

/// Returns a single agent, one that calls another one, a parallel team, and an agent with compactions.
fn agents() -> Vec<Agent> {
    let single = named("single", calls(&[("count", "{}"), ("look", "{}")]).text("A cat."));
    let expert = named("expert", ScriptedModel::new().call("count", "{}").text("42"));
    let model = ScriptedModel::new().call("expert", r#"{"request": "What?"}"#).text("It is 42.");
    let experts = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let caller = Agent::builder(model).name("caller").tools(experts).build().unwrap();
    let members = ["one", "two"].map(|name| named(name, ScriptedModel::new().call("count", "{}").text(name)));
    let reads = calls(&[("look", "{}"); 12]).text("Read.");
    let reader = Agent::builder(reads).name("reader").tools(tools());
    let reader = reader.compaction(Compaction::new(2_000).with_summary(summarize)).build().unwrap();
    vec![single, caller, ParallelAgent::new("team", members).into(), reader]
}

/// A conversation with a run of each agent and one message of the program.
struct History {
    sessions: Sessions,
    store: MemoryStore,
    saved: SavedConversation,
    /// The conversation before each input, and at the end.
    states: Vec<Conversation>,
}

impl History {
    async fn new() -> Self {
        let store = MemoryStore::new();
        let sessions = Sessions::new(store.clone());
        let saved = sessions.user("ada").conversation("1");
        let mut states = vec![saved.open().await.unwrap()];
        for (number, agent) in agents().iter().enumerate() {
            agent
                .run(format!("Question {number}."))
                .invocation_id(format!("r{number}"))
                .on(&saved)
                .await
                .unwrap();
            states.push(saved.open().await.unwrap());
            if number == 1 {
                let mut conversation = saved.open().await.unwrap();
                conversation.push(Message::user("By the way."));
                sessions.save(&mut conversation).await.unwrap();
                states.push(saved.open().await.unwrap());
            }
        }
        Self { sessions, store, saved, states }
    }

    fn end(&self) -> &Conversation {
        &self.states[self.states.len() - 1]
    }
}

/// Returns the state and the session values in the JSON of a conversation, without what a fork resets.
fn kept(conversation: &Conversation) -> Value {
    let mut json = serde_json::to_value(conversation).unwrap();
    let state = json["state"].as_object_mut().unwrap();
    for reset in ["run", "earlier_runs", "inputs", "origin"] {
        state.remove(reset);
    }
    json!({"state": json["state"], "values": json["values"]})
}

#[tokio::test]
async fn a_fork_has_the_state_before_its_input_and_begins_nowhere_else() {
    let history = History::new().await;
    assert!(kept(history.end())["state"]["compactions"].is_object());
    assert_eq!(history.end().session().get("count"), Some(json!(3)));
    let mut refused = 0;
    for index in 0..=history.end().messages().len() {
        let id = format!("fork {index}");
        let before = history.states.iter().find(|state| state.messages().len() == index);
        let fork = match (history.saved.fork(&id, index).await, before) {
            (Ok(fork), Some(_)) => fork,
            (Err(error), None) => {
                let inputs = "a fork may begin before the messages [0, 6, 10, 11, 18], or at the end";
                assert!(error.to_string().contains(inputs), "{error}");
                refused += 1;
                continue;
            }
            (ended, before) => panic!("{index}: {ended:?} {before:?}"),
        };
        let fork = fork.open().await.unwrap();
        let before = before.unwrap();
        assert_eq!(kept(&fork), kept(before), "{index}");
        assert_eq!((fork.id(), fork.user_id()), (id.as_str(), "ada"));
        assert_eq!(fork.session().get("user:count"), Some(json!(3)));
        assert_eq!(fork.latest_run(), None);
        assert_eq!(fork.spent().model_calls, 0);
    }
    assert_eq!(refused, history.end().messages().len() + 1 - history.states.len());
    // The source is unchanged.
    let now = history.saved.open().await.unwrap();
    assert_eq!(serde_json::to_value(&now).unwrap(), serde_json::to_value(history.end()).unwrap());
    assert_eq!(now.spent().model_calls, 3 + 4 + 4 + 13);
}

#[tokio::test]
async fn a_fork_begins_before_the_input_with_an_id() {
    let History { store, states, .. } = History::new().await;
    // The log of a program whose clients give ids to their messages.
    let key = ConversationKey { user: "ada", id: "1" };
    let text = store.load(key).await.unwrap().unwrap().entries.join(" ");
    let text = text.replace(r#""run":"r2""#, r#""run":"r2","message":"m2""#);
    let store = MemoryStore::new();
    store.append(key, Save::new(0, &text, &Summary::default())).await.unwrap();
    let saved = Sessions::new(store).user("ada").conversation("1");
    for (id, state) in [("r0", 0), ("r1", 1), ("r2", 3), ("m2", 3), ("r3", 4)] {
        let fork = saved.fork(format!("before {id}"), id).await.unwrap();
        assert_eq!(fork.open().await.unwrap().messages(), states[state].messages(), "{id}");
    }
    let error = saved.fork("2", "m7").await.unwrap_err();
    assert_eq!(error.to_string(), "conversation `1` cannot be forked: no run and no message has the id `m7`");
    let error = saved.fork("before r0", "r1").await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let error = saved.fork("2", 99).await.unwrap_err();
    assert!(error.to_string().contains("message 99 begins no run"), "{error}");
}

#[tokio::test]
async fn messages_that_were_removed_or_erased_shift_the_inputs() {
    let History { sessions, saved, states, store } = History::new().await;
    let mut conversation = saved.open().await.unwrap();
    conversation.keep_latest(9);
    sessions.save(&mut conversation).await.unwrap();
    let [first, pushed] = [0, 1].map(|index| conversation.messages()[index].to_text());
    assert_eq!((first.as_str(), pushed.starts_with("Question")), ("Question 3.", false));
    let fork = saved.fork("2", 0).await.unwrap().open().await.unwrap();
    assert_eq!(fork.messages(), states[4].messages());
    // A log that was erased begins with the messages that are left.
    let saved = saved.fork("3", ForkPoint::End).await.unwrap();
    let mut conversation = saved.open().await.unwrap();
    conversation.push(Message::user("Bye."));
    let messages = conversation.messages().to_vec();
    assert_eq!(sessions.erase(&mut conversation).await.unwrap(), Vec::<String>::new());
    let key = ConversationKey { user: "ada", id: "3" };
    assert_eq!(store.load(key).await.unwrap().unwrap().entries.len(), 1);
    for (id, index) in [("4", 0), ("5", messages.len() - 1), ("6", messages.len())] {
        let fork = saved.fork(id, index).await.unwrap().open().await.unwrap();
        assert_eq!(fork.messages(), &messages[..index]);
    }
}

#[tokio::test]
async fn a_conversation_is_not_forked_while_a_run_works_or_within_it() {
    let sessions = Sessions::default();
    let saved = sessions.user("ada").conversation("1");
    assert_eq!(
        saved.fork("2", ForkPoint::End).await.unwrap_err().to_string(),
        "conversation `1` cannot be forked: it does not exist"
    );
    let source = saved.clone();
    let fork = move |_: Nothing| {
        let source = source.clone();
        async move { source.fork("2", 0).await.map(|_| "forked").map_err(|error| error.to_string()) }
    };
    let fork = ClosureTool::new("fork", "Forks.", fork).unwrap();
    let ask = ClosureTool::new("ask", "Asks.", |_: Nothing| {
        Err::<(), _>(toolkit_core::ToolError::question("Which?"))
    });
    let tools = ToolRegistry::from_tools([fork, ask.unwrap()]).unwrap();
    let model = calls(&[("fork", "{}"), ("ask", "{}")]);
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    agent.run("Go.").on(&saved).await.unwrap_err();
    let conversation = saved.open().await.unwrap();
    let result = conversation.messages()[2].to_text();
    assert!(result.contains("a run works on it, or its process has died; wait for its end"), "{result}");
    // The run waits for an answer.
    let error = saved.fork("2", ForkPoint::End).await.unwrap_err();
    assert!(error.to_string().contains("its latest run is unfinished"), "{error}");
    let fork = saved.fork("2", 0).await.unwrap().open().await.unwrap();
    assert_eq!((fork.messages(), fork.pending()), (&[][..], Vec::new()));
    assert_eq!(saved.open().await.unwrap().pending().len(), 1);
}

#[tokio::test]
async fn an_erased_conversation_names_its_forks() {
    let History { sessions, saved, .. } = History::new().await;
    let fork = saved.fork("2", "r3").await.unwrap();
    tokio::time::sleep(Duration::from_millis(2)).await;
    let branch = fork.fork("3", "r1").await.unwrap();
    let mut conversation = saved.open().await.unwrap();
    assert_eq!(sessions.erase(&mut conversation).await.unwrap(), ["3", "2"]);
    assert_eq!(sessions.erase(&mut fork.open().await.unwrap()).await.unwrap(), ["3"]);
    assert_eq!(sessions.erase(&mut branch.open().await.unwrap()).await.unwrap(), Vec::<String>::new());
    // The fork of a deleted fork still has the messages.
    assert!(fork.delete().await.unwrap());
    assert_eq!(sessions.erase(&mut conversation).await.unwrap(), ["3"]);
    let listed = sessions.user("ada").list().await.unwrap();
    let branch = listed.iter().find(|info| info.id == "3").unwrap();
    assert_eq!(branch.summary.forked_from, ["2", "1"]);
}

#[tokio::test]
async fn a_conversation_has_a_title() {
    let sessions = Sessions::default();
    let saved = sessions.user("ada").conversation("1");
    let agent = Agent::builder(ScriptedModel::new().text("Hello.").text("Bye.")).build().unwrap();
    agent.run("How are you?\nI am fine.").on(&saved).await.unwrap();
    let title = || async { sessions.user("ada").list().await.unwrap()[0].summary.title.to_string() };
    assert_eq!(title().await, "How are you?");
    saved.rename("A greeting").await.unwrap();
    agent.run("Bye.").on(&saved).await.unwrap();
    assert_eq!(title().await, "A greeting");
    let fork = saved.fork("2", 2).await.unwrap().open().await.unwrap();
    assert_eq!(fork.title(), "A greeting");
    // A title given during a run would be a conflict for it.
    let renamed = saved.clone();
    let rename = move |_: Nothing| {
        let renamed = renamed.clone();
        async move { renamed.rename("Other").await.map_err(|error| error.to_string()) }
    };
    let tools = ToolRegistry::from_tools([ClosureTool::new("rename", "Renames.", rename).unwrap()]).unwrap();
    let model = ScriptedModel::new().call("rename", "{}").text("It failed.");
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let output = agent.run("Rename it.").on(&saved).await.unwrap();
    let result = output.messages[2].to_text();
    assert!(result.contains("conversation `1` cannot be renamed: a run works on it"), "{result}");
}
