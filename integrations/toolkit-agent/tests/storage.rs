//! What is saved can be read again, without details of errors.

use crate::support::Nothing;
use futures_util::{StreamExt, stream};
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::fmt;
use std::panic::resume_unwind;
use std::time::Duration;
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, Conversation, RunEvent, Sessions};
use toolkit_core::call::ProviderExtras;
use toolkit_core::middleware::Retry;
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolError, ToolOutput, ToolRegistry, ToolResult};
use toolkit_llm::record::{Recorder, Replay};
use toolkit_llm::{
    AssistantMessage, ChatModel, Message, ModelError, ModelOptions, ModelRequest, ModelResponse, ModelStream,
    NativeMessages, ScriptedModel, StreamEvent, ToolMessage,
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Own,
    User,
    App,
    Native,
    Structured,
    Text,
    Extras,
    Arguments,
}

const PLACES: [Place; 8] = [
    Place::Own,
    Place::User,
    Place::App,
    Place::Native,
    Place::Structured,
    Place::Text,
    Place::Extras,
    Place::Arguments,
];

/// Creates nested arrays (`false`) and objects (`true`), the innermost first.
fn nested(levels: &[bool]) -> Value {
    levels.iter().fold("[[{{\\\"".into(), |inner, is_object| {
        if *is_object {
            Map::from_iter([("]}\"".to_owned(), inner)]).into()
        } else {
            vec![inner, "[{".into()].into()
        }
    })
}

fn values() -> impl Strategy<Value = Vec<(Place, Vec<bool>)>> {
    // Most values are near serde_json's limit.
    let depth = prop_oneof![1 => 0..8_usize, 4 => 110..135_usize, 1 => 0..300_usize];
    let levels = depth.prop_flat_map(|depth| prop::collection::vec(any::<bool>(), depth));
    prop::collection::vec((prop::sample::select(&PLACES[..]), levels), 1..4)
}

fn set(conversation: &Conversation, key: &str, value: Value) {
    conversation.session().apply(&[(key.to_owned(), Some(value))].into());
}

fn add(conversation: &mut Conversation, place: Place, value: Value) {
    let call = |text: &str| ToolCall::new("1", "look", text);
    let result = |output: ToolOutput| {
        let message = ToolMessage::new(vec![ToolResult::of(&call("{}"), Ok(output))]);
        Message::Tool(message)
    };
    match place {
        Place::Own => set(conversation, "deep", value),
        Place::User => set(conversation, "user:deep", value),
        Place::App => set(conversation, "app:deep", value),
        Place::Native => {
            let mut message = AssistantMessage::text("hi");
            message.native = Some(NativeMessages::new("anthropic", vec![value]));
            conversation.push(message);
        }
        Place::Structured => {
            conversation.push(result(ToolOutput::text("hi").with_structured(value)));
        }
        Place::Text => conversation.push(result(ToolOutput::json(&value).unwrap())),
        Place::Extras => {
            let fields = Map::from_iter([("deep".to_owned(), value)]);
            let call = call("{}").with_extras(ProviderExtras::new("gemini", fields));
            conversation.push(AssistantMessage::default().with_calls([call]));
        }
        Place::Arguments => {
            conversation.push(AssistantMessage::default().with_calls([call(&value.to_string())]));
        }
    }
}

/// Checks that a save succeeds or changes nothing; `open` opens the store like another program.
async fn check<S: ConversationStore>(
    open: impl AsyncFn() -> S,
    values: &[(Place, Vec<bool>)],
) -> Result<(), TestCaseError> {
    let sessions = Sessions::new(open().await);
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    conversation.push(Message::user("hi"));
    for key in ["deep", "user:deep", "app:deep"] {
        set(&conversation, key, "before".into());
    }
    sessions.save(&mut conversation).await.unwrap();
    let before = conversation.messages().to_vec();
    for (place, levels) in values {
        add(&mut conversation, *place, nested(levels));
    }
    let text = serde_json::to_string(&conversation);
    let is_readable = text.is_ok_and(|text| serde_json::from_str::<Conversation>(&text).is_ok());
    let saved = sessions.save(&mut conversation).await;
    let last = |place| values.iter().rfind(|(other, _)| *other == place).map(|(_, levels)| levels);
    // Only session values are nested deeper in the log than in a conversation's JSON, by one level.
    let is_refused = |place| {
        let limit = if place == Place::Own { 124 } else { 126 };
        last(place).is_some_and(|levels| levels.len() > limit)
    };
    let is_saved = is_readable && ![Place::Own, Place::User, Place::App].into_iter().any(is_refused);
    prop_assert!(saved.is_ok() || !is_saved, "{:?}", saved);
    let mut restored = Sessions::new(open().await).user("ada").conversation("1").open().await.unwrap();
    let expected = if restored.messages().len() > before.len() { conversation.messages() } else { &before };
    prop_assert_eq!(restored.messages(), expected);
    for (key, place) in [("deep", Place::Own), ("user:deep", Place::User), ("app:deep", Place::App)] {
        let is_kept = !is_refused(place) && (place != Place::Own || is_readable || saved.is_ok());
        let expected = last(place).filter(|_| is_kept).map_or("before".into(), |levels| nested(levels));
        prop_assert_eq!(restored.session().get(key), Some(expected), "{}", key);
    }
    if let Err(error) = saved {
        prop_assert!(error.to_string().contains("levels"), "{}", error);
        // A refusal does not keep anything else from being saved.
        set(&sessions.user("bob").conversation("1").open().await.unwrap(), "app:other", 1.into());
        sessions.save(&mut sessions.user("bob").conversation("1").open().await.unwrap()).await.unwrap();
        restored = Sessions::new(open().await).user("bob").conversation("1").open().await.unwrap();
        prop_assert_eq!(restored.session().get("app:other"), Some(1.into()));
    }
    Ok(())
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Records the values in a request, and opens the recording.
async fn record(values: &[(Place, Vec<bool>)]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape.jsonl");
    let model = Recorder::new(ScriptedModel::new().text("one").text("two"), &tape).unwrap();
    model.respond(ModelRequest::new([Message::user("hi")])).await.unwrap();
    let mut conversation = Conversation::new("1");
    let mut options = ModelOptions::new();
    for (place, levels) in values {
        add(&mut conversation, *place, nested(levels));
        if *place == Place::Own {
            options = options.with_extra("deep", nested(levels));
        }
    }
    let request = ModelRequest::new(conversation.messages().to_vec()).with_options(options);
    let recorded = model.respond(request).await;
    let replay = Replay::open(&tape);
    prop_assert!(replay.is_ok(), "{:?}", replay);
    prop_assert_eq!(replay.unwrap().remaining(), if recorded.is_ok() { 2 } else { 1 });
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn a_value_saved_in_memory_can_be_read_again(values in values()) {
        let store = MemoryStore::new();
        run(check(async || store.clone(), &values))?;
    }

    #[test]
    fn a_recording_can_be_read_again(values in values()) {
        run(record(&values))?;
    }
}

const SECRET: &str = "10.0.0.7 refused the key";

#[derive(Debug, Clone, Copy)]
enum Way {
    Panic,
    Details,
    Causes,
    /// An earlier attempt has details.
    Retried,
}

#[derive(Debug, Clone, Copy)]
enum Setting {
    Direct,
    InParallel,
    AsTool,
}

/// Displays its cause only in the alternate form, as `anyhow` does.
struct Caused;

impl fmt::Display for Caused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the shop is closed")?;
        if f.alternate() { write!(f, ": {SECRET}") } else { Ok(()) }
    }
}

fn failing(way: Way) -> Dispatcher {
    let fail = move |_: Nothing| -> Result<(), ToolError> {
        match way {
            // The panic hook stays silent.
            Way::Panic => resume_unwind(Box::new(SECRET.to_owned())),
            Way::Details | Way::Retried => {
                Err(ToolError::failed("no luck").with_details(SECRET).with_retryable(true))
            }
            Way::Causes => Err(ToolError::failed(Caused)),
        }
    };
    let tool = ClosureTool::new("fail", "Fails.", fail).unwrap();
    let retries = if matches!(way, Way::Retried) { 2 } else { 0 };
    let tool = tool.map_metadata(|metadata| metadata.with_retries(retries));
    let pause = Duration::from_millis(1);
    Dispatcher::new(ToolRegistry::from_tools([tool]).unwrap())
        .unwrap()
        .with_middleware(Retry::new().with_pauses(pause, pause))
}

/// Runs an agent with a failing call, and returns everything that may be stored.
async fn stored(way: Way, setting: Setting, mut conversation: Conversation) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape.jsonl");
    let model = ScriptedModel::new().call("fail", "{}").text("It failed.");
    let model = Recorder::new(model, &tape).unwrap();
    let mut agent = Agent::builder(model).name("shop").dispatcher(failing(way)).build().unwrap();
    match setting {
        Setting::InParallel => agent = ParallelAgent::new("team", [agent]).into(),
        Setting::AsTool => {
            let model = ScriptedModel::new().call("shop", r#"{"request": "Buy."}"#).text("done");
            let tools = ToolRegistry::from_tools([agent.to_tool().unwrap()]).unwrap();
            agent = Agent::builder(model).tools(tools).build().unwrap();
        }
        Setting::Direct => {}
    }
    let mut shown = Vec::new();
    let mut run = agent.run("Buy.").on(&mut conversation).stream();
    while let Some(event) = run.next().await {
        if let RunEvent::Result { result, .. } = event.unwrap() {
            shown.extend(result.error().map(|error| format!("{error:#}")));
        }
    }
    drop(run);
    let recorded = std::fs::read_to_string(&tape).unwrap();
    assert!(recorded.contains("call_0_1"), "{recorded}");
    assert!(!recorded.contains(SECRET), "a recording holds what the model reads: {recorded}");
    // A replay matches, so the request is complete.
    drop(Replay::open(&tape).unwrap());
    (serde_json::to_string(&conversation).unwrap(), shown)
}

#[tokio::test]
async fn details_of_errors_are_stored_only_if_asked_for() {
    for way in [Way::Panic, Way::Details, Way::Causes, Way::Retried] {
        for setting in [Setting::Direct, Setting::InParallel, Setting::AsTool] {
            let (text, shown) = stored(way, setting, Conversation::new("1")).await;
            assert!(!text.contains(SECRET), "{way:?} {setting:?}: {text}");
            if !matches!(way, Way::Retried) {
                // The program still gets them in events.
                assert!(shown.iter().any(|error| error.contains(SECRET)), "{way:?} {setting:?}: {shown:?}");
            }
            let (text, _) = stored(way, setting, Conversation::new("1").with_error_details(true)).await;
            let is_stored = !matches!(setting, Setting::AsTool);
            assert_eq!(text.contains(SECRET), is_stored, "{way:?} {setting:?}: {text}");
        }
    }
}

/// A turn in progress stores results, too.
#[tokio::test]
async fn details_stay_out_of_every_save_of_a_run() {
    let store = MemoryStore::new();
    let wait = ClosureTool::new("wait", "Waits.", |_: Nothing| async {
        tokio::time::sleep(Duration::from_millis(300)).await;
    });
    let dispatcher = failing(Way::Panic);
    let mut registry = (*dispatcher.registry()).clone();
    registry.register(wait.unwrap()).unwrap();
    let model = ScriptedModel::new();
    let model = model.call("fail", "{}").call("wait", "{}").text("done");
    let model = model.call("fail", "{}").call("wait", "{}").text("done");
    let agent = Agent::builder(model).tools(registry).build().unwrap();
    for (details, id) in [(false, "1"), (true, "2")] {
        let sessions = Sessions::new(store.clone()).with_error_details(details);
        let agent = agent.clone();
        let run = tokio::spawn(async move {
            agent.run("Go.").on(sessions.user("ada").conversation(id)).await.map(drop)
        });
        let mut was_stored = false;
        while !run.is_finished() {
            let log = store.load(ConversationKey { user: "ada", id }).await.unwrap().unwrap_or_default();
            was_stored |= log.entries.concat().contains(SECRET);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        run.await.unwrap().unwrap();
        assert_eq!(was_stored, details);
    }
}

struct Endless(Vec<StreamEvent>);

impl ChatModel for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        std::future::pending().await
    }

    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        let deltas = stream::iter(self.0.clone().into_iter().map(Ok)).chain(stream::pending());
        Ok(ModelStream::new(deltas))
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_within_an_answer_loses_neither_results_nor_text() {
    let double = ClosureTool::new("double", "Doubles.", |_: Nothing| 42).unwrap();
    let model = Endless(vec![
        StreamEvent::Reasoning("I have to ".to_owned()),
        StreamEvent::Reasoning("double it.".to_owned()),
        StreamEvent::Text("Let me see.".to_owned()),
        StreamEvent::Call(ToolCall::new("1", "double", "{}")),
    ]);
    let tools = ToolRegistry::from_tools([double]).unwrap();
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let sessions = Sessions::default();
    let run = agent.run("What is twice 21?").on(sessions.user("ada").conversation("1"));
    assert!(tokio::time::timeout(Duration::from_millis(200), run).await.is_err());
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    conversation.settle();
    let [_, Message::Assistant(said), Message::Tool(given)] = conversation.messages() else {
        panic!("{:?}", conversation.messages())
    };
    assert_eq!((said.text.as_str(), said.reasoning.as_str()), ("Let me see.", "I have to double it."));
    assert_eq!(given.results[0].to_text(), "42");
}
