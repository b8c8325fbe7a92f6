//! Tools and models shared by the tests.

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use proptest::prelude::ProptestConfig;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, MemoryStore, Save,
    StateScope, StoreError, Summary,
};
use toolkit_agent::structured::TypedOutput;
use toolkit_agent::{Agent, AgentBuilder, AgentError, Conversation, PendingCall, RunError, RunEvent};
use toolkit_agent::{Decisions, Limits, ResumeRequest, RunRequest};
use toolkit_core::context::SessionDelta;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{CancellationToken, ClosureTool, ToolContext, ToolError, ToolParams, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::model::{OutputFormat, OutputLosses, Priced};
use toolkit_llm::transport::{EventStream, Transport};
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelRetry, ModelStream,
    Price, ScriptedModel, StreamEvent,
};

/// Returns the settings of a random test, with `PROPTEST_CASES` if set.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { default } else { ProptestConfig { cases, ..default } }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
pub(crate) struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Wait {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Set {
    key: String,
    value: String,
}

/// Creates `add`, `wait`, `fail`, `enough`, `answer` and `set`.
pub(crate) fn tools() -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b);
    registry.register(add.unwrap()).unwrap();
    let wait = ClosureTool::new("wait", "Waits.", |Wait { ms }: Wait| async move {
        sleep(Duration::from_millis(ms)).await;
        format!("waited {ms}")
    });
    registry.register(wait.unwrap()).unwrap();
    let fail = ClosureTool::new("fail", "Fails.", |_: Nothing| Err::<(), _>(ToolError::failed("no luck")));
    registry.register(fail.unwrap()).unwrap();
    let enough = ClosureTool::new_with_context("enough", "Escalates.", |_: Nothing, context: ToolContext| {
        context.actions().escalate();
        "enough"
    });
    registry.register(enough.unwrap()).unwrap();
    let answer =
        ClosureTool::new_with_context("answer", "Is the answer.", |_: Nothing, context: ToolContext| {
            context.actions().skip_summarization();
            "the answer"
        });
    registry.register(answer.unwrap()).unwrap();
    let set = ClosureTool::new_with_context(
        "set",
        "Remembers.",
        |Set { key, value }: Set, context: ToolContext| {
            context.session().set(key, value);
            "remembered"
        },
    );
    registry.register(set.unwrap()).unwrap();
    registry
}

pub(crate) fn agent(model: impl ChatModel) -> AgentBuilder {
    Agent::builder(model).tools(tools()).retry(ModelRetry::never())
}

pub(crate) fn says(name: &str, text: &str) -> Agent {
    // It is free, so that a limit of the cost holds without token counts.
    let model = Priced::new(ScriptedModel::new().text(text), Price::default());
    Agent::builder(model).name(name).build().unwrap()
}

pub(crate) fn cancelled_after(delay: Duration) -> Options {
    Options::new().with_cancellation(token_after(delay))
}

pub(crate) fn token_after(delay: Duration) -> CancellationToken {
    let token = CancellationToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        sleep(delay).await;
        later.cancel();
    });
    token
}

pub(crate) fn transcript(messages: &[Message]) -> Vec<String> {
    messages.iter().map(line).collect()
}

fn line(message: &Message) -> String {
    match message {
        Message::User(_) => format!("user: {}", message.to_text()),
        Message::Assistant(said) if said.calls.is_empty() => format!("{}: {}", said.agent, said.text),
        Message::Assistant(said) => {
            let calls: Vec<&str> = said.calls.iter().map(|call| call.name.as_str()).collect();
            format!("{}: {} calls {}", said.agent, said.text, calls.join(", "))
        }
        Message::Tool(given) => {
            let texts: Vec<_> = given.results.iter().map(|result| result.to_text()).collect();
            format!("results: {}", texts.join(", "))
        }
    }
}

/// Returns an event's `type` and agent.
pub(crate) fn kind(event: &RunEvent) -> String {
    let event = serde_json::to_value(event).unwrap();
    let agent = event.get("agent").and_then(Value::as_str).unwrap_or_default();
    format!("{} {agent}", event["type"].as_str().unwrap()).trim_end().to_owned()
}

/// Asserts that calls have results in order, and that no provider needs repairs except other ids for repeated
/// ones.
pub(crate) fn assert_sendable(conversation: &Conversation) {
    let messages = conversation.messages();
    for (position, message) in messages.iter().enumerate() {
        let Message::Assistant(said) = message else { continue };
        let ids = |calls: &mut dyn Iterator<Item = String>| calls.collect::<Vec<_>>();
        let calls = ids(&mut said.calls.iter().map(|call| call.id.to_string()));
        let results = match messages.get(position + 1) {
            Some(Message::Tool(given)) => {
                ids(&mut given.results.iter().map(|result| result.call_id.to_string()))
            }
            _ => Vec::new(),
        };
        assert_eq!(calls, results, "{messages:?}");
    }
    for format in [ApiFormat::OpenAiChat, ApiFormat::OpenAiResponses, ApiFormat::Anthropic, ApiFormat::Gemini]
    {
        let names = tools().wire_names(&format);
        let sent: Vec<Value> = messages
            .iter()
            .flat_map(|message| match message {
                Message::User(said) => vec![format.encode_user(&said.content)],
                Message::Assistant(said) => format.encode_assistant(&said.text, &said.calls, &names),
                Message::Tool(given) => format.encode_results(&given.results),
            })
            .collect();
        assert_eq!(without_ids(format.repair_history(sent.clone())), without_ids(sent), "{format:?}");
    }
}

/// Removes Anthropic's ids of calls and results, unique in a history.
fn without_ids(mut messages: Vec<Value>) -> Vec<Value> {
    let blocks = messages.iter_mut().filter_map(|message| message.get_mut("content")?.as_array_mut());
    for block in blocks.flatten().filter_map(Value::as_object_mut) {
        block.remove("id");
        block.remove("tool_use_id");
    }
    messages
}

pub(crate) const HESITATION: Duration = Duration::from_millis(2);

/// A model with a delay before each delta.
pub(crate) struct Hesitant(pub(crate) ScriptedModel);

impl ChatModel for Hesitant {
    fn name(&self) -> &str {
        "hesitant"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        sleep(HESITATION).await;
        self.0.respond(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let deltas = self.0.stream(request).await?;
        Ok(ModelStream::new(Halting { deltas, wait: Box::pin(sleep(HESITATION)) }))
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        self.0.output_losses(output)
    }
}

struct Halting {
    deltas: ModelStream,
    wait: Pin<Box<Sleep>>,
}

impl Stream for Halting {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.wait.as_mut().poll(cx));
        self.wait = Box::pin(sleep(HESITATION));
        Pin::new(&mut self.deltas).poll_next(cx)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Access {
    Append,
    SaveValues,
    ValuesSaved,
}

type Hook =
    dyn Fn(Access) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>> + Send + Sync + 'static;

/// A store in memory that asks a function before and after its work.
#[derive(Clone)]
pub(crate) struct Watched {
    store: MemoryStore,
    hook: Arc<Hook>,
}

impl Watched {
    pub(crate) fn new<F: Future<Output = Result<(), StoreError>> + Send + 'static>(
        store: &MemoryStore,
        hook: impl Fn(Access) -> F + Send + Sync + 'static,
    ) -> Self {
        Self { store: store.clone(), hook: Arc::new(move |access| Box::pin(hook(access))) }
    }
}

impl ConversationStore for Watched {
    async fn load(&self, key: ConversationKey<'_>) -> Result<Option<ConversationLog>, StoreError> {
        self.store.load(key).await
    }

    async fn append(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        (self.hook)(Access::Append).await?;
        self.store.append(key, save).await
    }

    async fn replace(&self, key: ConversationKey<'_>, save: Save<'_>) -> Result<u64, StoreError> {
        self.store.replace(key, save).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        self.store.list(user).await
    }

    async fn unfinished(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, StoreError> {
        self.store.unfinished(user).await
    }

    async fn delete(&self, key: ConversationKey<'_>) -> Result<bool, StoreError> {
        self.store.delete(key).await
    }

    async fn put(
        &self,
        key: ConversationKey<'_>,
        name: &str,
        content: &str,
    ) -> Result<InboxItem, StoreError> {
        self.store.put(key, name, content).await
    }

    async fn inbox(&self, key: ConversationKey<'_>) -> Result<Vec<InboxItem>, StoreError> {
        self.store.inbox(key).await
    }

    async fn take(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        self.store.take(key, number).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        self.store.load_state(scope).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        (self.hook)(Access::SaveValues).await?;
        self.store.update_state(scope, changes).await?;
        (self.hook)(Access::ValuesSaved).await
    }
}

/// The conversation that most tests save.
pub(crate) const KEY: ConversationKey<'static> = ConversationKey { user: "ada", id: "1" };

/// Returns a store with a log of these saves.
pub(crate) async fn store_of<T: AsRef<str>>(saves: &[T]) -> MemoryStore {
    let store = MemoryStore::new();
    let summary = Summary::default();
    let mut version = 0;
    for save in saves {
        let save = save.as_ref();
        let first = entries_of(save)[0]["n"].as_u64().unwrap();
        version = store.append(KEY, Save::new(version, save, &summary).with_first(first)).await.unwrap();
    }
    store
}

/// Returns the entries of a save, each as an object with its number `n`, its `node`, its time `at`, and the
/// `entry`.
pub(crate) fn entries_of(save: &str) -> Vec<Value> {
    let mut entries = Vec::new();
    let mut header = Value::Null;
    for element in serde_json::Deserializer::from_str(save).into_iter::<Value>() {
        let element = element.unwrap();
        if element.get("n").is_some() {
            header = element;
            continue;
        }
        let mut entry = header.clone();
        entry["entry"] = element;
        entries.push(entry);
        header["n"] = json!(header["n"].as_u64().unwrap() + 1);
    }
    entries
}

/// A tool that asks the program a question.
pub(crate) fn question(name: &str) -> ClosureTool {
    ClosureTool::new(name, "Asks.", |_: Nothing| Err::<(), _>(ToolError::question("Which?"))).unwrap()
}

pub(crate) fn reloaded(conversation: &Conversation) -> Conversation {
    serde_json::from_str(&serde_json::to_string(conversation).unwrap()).unwrap()
}

pub(crate) fn pending<T: std::fmt::Debug>(ended: Result<T, RunError>) -> Vec<PendingCall> {
    match ended.map_err(AgentError::from) {
        Err(AgentError::Interrupted { pending, .. }) => pending,
        ended => panic!("{ended:?}"),
    }
}

/// The connection breaks at this event.
pub(crate) const BROKEN: &str = "the connection breaks";

/// After this event, the connection stays open and silent.
pub(crate) const OPEN: &str = "the connection stays open";

/// A server that answers each request with the next body or list of stream events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    replies: Arc<Mutex<VecDeque<Value>>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Script {
    pub(crate) fn new(replies: impl IntoIterator<Item = Value>) -> Self {
        Self { replies: Arc::new(Mutex::new(replies.into_iter().collect())), ..Self::default() }
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

impl Transport for Script {
    async fn send(&self, body: Value) -> Result<Value, ModelError> {
        self.asked.lock().unwrap().push(body);
        match self.replies.lock().unwrap().pop_front() {
            None => Err(ModelError::new(ModelErrorKind::InvalidRequest, "the script is over")),
            Some(Value::Null) => Err(ModelError::new(ModelErrorKind::Unavailable, "the server restarts")),
            Some(reply) => Ok(reply),
        }
    }

    async fn stream(&self, body: Value) -> Result<EventStream, ModelError> {
        match self.send(body).await? {
            Value::Array(events) => {
                Ok(EventStream::events(stream::iter(events).then(async |event| match event.as_str() {
                    Some(BROKEN) => Err(ModelError::new(ModelErrorKind::Connection, "cut")),
                    Some(OPEN) => std::future::pending().await,
                    _ => Ok(event),
                })))
            }
            _ => Err(ModelError::new(ModelErrorKind::InvalidRequest, "the response is not streamed")),
        }
    }

    async fn retrieve(&self, id: &str) -> Result<Value, ModelError> {
        self.send(json!({"retrieve": id})).await
    }
}

/// Returns a run's events without its error.
pub(crate) async fn events(agent: &Agent) -> Vec<RunEvent> {
    let mut stream = agent.run("go").stream();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.extend(event);
    }
    events
}

/// What a test sets of a run.
#[derive(Clone, Default)]
pub(crate) struct Options {
    limits: Option<Limits>,
    cancellation: CancellationToken,
    decisions: Decisions,
}

impl Options {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        Self { limits: Some(limits), ..self }
    }

    pub(crate) fn with_cancellation(self, cancellation: CancellationToken) -> Self {
        Self { cancellation, ..self }
    }

    pub(crate) fn with_decisions(self, decisions: Decisions) -> Self {
        Self { decisions, ..self }
    }
}

pub(crate) trait Configured: Sized {
    fn options(self, options: Options) -> Self;
}

impl<A> Configured for RunRequest<'_, A> {
    fn options(self, options: Options) -> Self {
        let request = self.cancellation(options.cancellation);
        match options.limits {
            Some(limits) => request.limits(limits),
            None => request,
        }
    }
}

impl<A> Configured for ResumeRequest<'_, A> {
    fn options(self, options: Options) -> Self {
        let request = self.cancellation(options.cancellation).decide(options.decisions);
        match options.limits {
            Some(limits) => request.limits(limits),
            None => request,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Form {
    pub(crate) attempts: Option<u32>,
    pub(crate) mode: Option<AnswerMode>,
}

impl Form {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_attempts(self, attempts: u32) -> Self {
        Self { attempts: Some(attempts), ..self }
    }

    pub(crate) fn with_mode(self, mode: AnswerMode) -> Self {
        Self { mode: Some(mode), ..self }
    }
}

pub(crate) trait Formed: Sized {
    fn form(self, form: Form) -> Self;
}

macro_rules! formed {
    ($($request:ident),+) => {
        $(impl<T: ToolParams + Send + 'static> Formed for $request<'_, TypedOutput<T>> {
            fn form(self, form: Form) -> Self {
                let request = self.attempts(form.attempts.unwrap_or(3));
                match form.mode {
                    Some(mode) => request.mode(mode),
                    None => request,
                }
            }
        })+
    };
}

formed!(RunRequest, ResumeRequest);
