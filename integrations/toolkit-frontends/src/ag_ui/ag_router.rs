//! The paths of AG-UI.

use super::ag_encoder::{AgEncoder, reasoning_id, result_id};
use super::ag_event::AgEvent;
use super::ag_history::{leaves, messages_of, messages_until, waits_for};
use super::ag_message::AgMessage;
use super::ag_request::AgRequest;
use super::ag_shown::ShownMessages;
use crate::page_access::{PageAccess, PageUser, PageValues, guard};
use crate::page_error::PageError;
use crate::page_log::read_log;
use crate::page_paths::{Served, User, conversations, stop};
use crate::page_runs::{PageExtras, decide, pending_of, submit};
use crate::run_stream::{PageEncoder, RunStream, Written, event_response, event_text, events_text};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::sync::Arc;
use toolkit_agent::RunEvent;
use toolkit_agent::runs::{Cursor, RunUpdate, Runs};
use toolkit_agent::session::{ConversationKey, RunStatus};

/// Serves conversations to clients of AG-UI.
///
/// | path | answer |
/// | --- | --- |
/// | `POST /` | an exchange: the answer to the user's messages, or what follows from a `resume` |
/// | `GET /` | the user's conversations: `[{id, title, status, savedAt}]` |
/// | `GET /{thread}` | all messages as a snapshot, then what a working run writes |
/// | `POST /{thread}/stop` | 204 if a run was cancelled, 404 if none works or waits |
///
/// A run goes on when the page is closed. Of the history that a client sends, the user's messages at its end count, each once
/// by its id, and the results of calls that wait. Without a message that the user has written elsewhere meanwhile, the exchange
/// is an error after a snapshot. The client's tools are those of the run, whose calls it answers, and of its state the session
/// values that the program [names](PageAccess::with_writable_values). Its context is not read.
///
/// ```
/// use toolkit_frontends::{PageAccess, PageUser, ag_ui};
/// use toolkit_ai::agent::runs::LocalRuns;
/// use toolkit_ai::agent::{Agent, Sessions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
/// let runs = LocalRuns::new(agent, Sessions::default());
/// let agent = ag_ui::router(runs, PageAccess::new(|_| Some(PageUser::new("ada"))));
/// let app = axum::Router::new().nest("/agent", agent);
/// # let _: axum::Router = app;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn router<R: Runs>(runs: R, access: PageAccess) -> Router {
    let limit = DefaultBodyLimit::max(access.max_body());
    Router::new()
        .route("/", get(conversations::<R>).post(exchange::<R>))
        .route("/{thread}", get(attach::<R>))
        .route("/{thread}/stop", post(stop::<R>))
        .layer(limit)
        .layer(from_fn_with_state(access, guard))
        .with_state(Arc::new(runs))
}

/// The encoder of one run of a conversation.
struct AgRun<R> {
    encoder: AgEncoder,
    run: String,
    thread: AgThread<R>,
    shown: ShownMessages,
    /// The calls whose results are messages of the client.
    answered: Vec<String>,
}

/// A conversation, as a page sees it.
struct AgThread<R> {
    runs: Arc<R>,
    user: PageUser,
    id: String,
    values: PageValues,
}

impl<R> Clone for AgThread<R> {
    fn clone(&self) -> Self {
        let Self { runs, user, id, values } = self;
        Self { runs: runs.clone(), user: user.clone(), id: id.clone(), values: values.clone() }
    }
}

impl<R: Runs> AgThread<R> {
    fn key(&self) -> ConversationKey<'_> {
        ConversationKey { user: self.user.name(), id: &self.id }
    }

    /// Returns the event with the messages up to a run, and those of it that are shown.
    async fn messages(&self, run: &str, shown: Option<&ShownMessages>) -> Result<String, PageError> {
        let log = read_log(&*self.runs, self.key()).await?;
        Ok(event_text(&AgEvent::MessagesSnapshot { messages: messages_until(&log, run, shown) }))
    }

    /// Returns the event with the session values, if pages read any.
    async fn state(&self) -> Result<String, PageError> {
        if !self.values.are_shown() {
            return Ok(String::new());
        }
        let values = self.values.shown(self.runs.values(self.key()).await?);
        Ok(event_text(&AgEvent::StateSnapshot { snapshot: json!(values) }))
    }
}

impl<R> AgRun<R> {
    fn new(encoder: AgEncoder, run: String, thread: AgThread<R>) -> Self {
        Self { encoder, run, thread, shown: ShownMessages::default(), answered: Vec::new() }
    }

    /// Notes the message that an event completes.
    fn note(&mut self, event: &RunEvent, cursor: &Cursor) {
        match event {
            RunEvent::Message { message_id, .. } => {
                self.shown.add(cursor, message_id.clone());
                self.shown.add(cursor, reasoning_id(message_id));
            }
            RunEvent::Result { key, .. } => self.shown.add(cursor, result_id(key)),
            _ => {}
        }
    }
}

impl<R: Runs> PageEncoder for AgRun<R> {
    fn run(&self) -> &str {
        &self.run
    }

    fn write(&mut self, update: &RunUpdate) -> Written {
        match update {
            RunUpdate::Event { run, .. } if **run != *self.run => Written::Events(String::new()),
            RunUpdate::Event { event, cursor, .. } => {
                let taken_back = self.encoder.take_back(event);
                if let (Some(_), RunEvent::Text { message_id, .. }) = (&taken_back, &**event) {
                    self.shown.forget(message_id);
                    self.shown.forget(&reasoning_id(message_id));
                }
                let mut text = String::new();
                for sent in self.encoder.event(event).as_slice() {
                    // The client has this result as its own message.
                    let is_known = matches!(sent, AgEvent::ToolCallResult { tool_call_id, .. }
                        if self.answered.iter().any(|call| **call == **tool_call_id));
                    if !is_known {
                        text.push_str(&event_text(sent));
                    }
                }
                self.note(event, cursor);
                match taken_back {
                    Some(ended) => Written::Again(events_text(&ended), text),
                    None => Written::Events(text),
                }
            }
            other => {
                self.shown.go_back(other.cursor().filter(|_| matches!(other, RunUpdate::Back { .. })));
                Written::Again(events_text(&self.encoder.go_back(&self.shown)), String::new())
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.encoder.has_ended()
    }

    fn end(&mut self) -> String {
        events_text(&self.encoder.finish())
    }

    fn read_again(&self) -> BoxFuture<'static, Option<String>> {
        let (thread, run, shown) = (self.thread.clone(), self.run.clone(), self.shown.clone());
        async move { thread.messages(&run, Some(&shown)).await.ok() }.boxed()
    }

    fn read_before_end(&self) -> BoxFuture<'static, Option<String>> {
        let (thread, run) = (self.thread.clone(), self.run.clone());
        let is_incomplete = self.encoder.is_incomplete();
        async move {
            let state = thread.state().await.ok()?;
            if !is_incomplete {
                return Some(state);
            }
            Some(thread.messages(&run, None).await.ok()? + &state)
        }
        .boxed()
    }
}

async fn exchange<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Extension(values): Extension<PageValues>,
    body: Bytes,
) -> Result<Response, PageError> {
    let request: AgRequest = serde_json::from_slice(&body)
        .map_err(|error| PageError::BadRequest(format!("the request is no input of AG-UI: {error}")))?;
    let thread = AgThread { runs: runs.clone(), user, id: request.thread_id.clone(), values };
    let inputs = request.inputs()?;
    let encoder = AgEncoder::new(request.thread_id.as_str(), request.run_id.as_str());
    let mut head = event_text(&encoder.start());
    let begun = if inputs.is_empty() {
        decide_calls(&thread, &request, &mut head).await?
    } else if !thread.user.may_write() {
        return Err(PageError::MayNot("send messages"));
    } else {
        let log = messages_of(&read_log(&*runs, thread.key()).await?);
        if leaves(&request.ids(), &log) {
            return Ok(left(head, log));
        }
        let values = thread.values.written(request.values());
        let extras = PageExtras { values, tools: request.tools };
        let (run, after) = submit(&*runs, thread.key(), inputs, &extras).await?;
        BegunExchange { run, after, ..BegunExchange::default() }
    };
    let BegunExchange { run, after, waits, decided, answered } = begun;
    let updates = runs.attach(thread.key(), after).await?;
    head.push_str(&thread.state().await?);
    let run = AgRun { answered, ..AgRun::new(encoder, run, thread) };
    Ok(RunStream::new(run, updates, waits, head).with_decided(decided).into_response())
}

/// Returns an exchange that has failed, because the history of the client is another one than that of the log.
fn left(mut head: String, messages: Vec<AgMessage>) -> Response {
    let message = "The conversation has gone on elsewhere. Send the message again.".to_owned();
    let error = AgEvent::RunError { message, code: "history".to_owned() };
    head.push_str(&events_text(&[AgEvent::MessagesSnapshot { messages }, error]));
    event_response(head.into())
}

/// The run that answers in an exchange.
#[derive(Default)]
struct BegunExchange {
    run: String,
    /// A place before the run.
    after: Option<Cursor>,
    /// How many times it had waited before.
    waits: usize,
    /// The calls that the request has decided.
    decided: Vec<String>,
    /// Those of them whose results are messages of the client.
    answered: Vec<String>,
}

/// Decides the calls that a request has answers for.
async fn decide_calls<R: Runs>(
    thread: &AgThread<R>,
    request: &AgRequest,
    head: &mut String,
) -> Result<BegunExchange, PageError> {
    if !thread.user.may_decide() {
        return Err(PageError::MayNot("decide calls"));
    }
    let status = thread.runs.status(thread.key()).await?;
    let pending = pending_of(&status);
    let decisions = request.decisions(pending);
    let Some((run, waits)) = waits_for(&read_log(&*thread.runs, thread.key()).await?, &decisions) else {
        let reason = "the request has neither a message of the user nor an answer to a call that waits";
        return Err(PageError::BadRequest(reason.to_owned()));
    };
    let decided = decide(&*thread.runs, thread.key(), pending, decisions).await?;
    let mut answered = request.answered();
    for (call, by) in decided.earlier {
        answered.retain(|known| *known != call);
        let value = json!({"toolCallId": call, "by": by});
        head.push_str(&event_text(&AgEvent::Custom { name: "decided".to_owned(), value }));
    }
    Ok(BegunExchange { run, after: None, waits, decided: decided.calls, answered })
}

async fn attach<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Extension(values): Extension<PageValues>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let thread = AgThread { runs: runs.clone(), user, id, values };
    let log = read_log(&*runs, thread.key()).await?;
    let queued = runs.queued(thread.key()).await?.into_iter().next();
    let Some(last) = log.last().map(|entry| entry.run.to_string()).or(queued.clone()) else {
        return Err(PageError::NotFound);
    };
    let live = match runs.status(thread.key()).await? {
        RunStatus::Working { run, .. } => Some(run.to_string()),
        // What is behind it begins when it is decided.
        RunStatus::Waiting { .. } => None,
        _ => queued,
    };
    let mut encoder = AgEncoder::new(thread.id.as_str(), format!("{last}.attached"));
    let messages = match &live {
        Some(run) => messages_until(&log, run, Some(&ShownMessages::default())),
        None => messages_of(&log),
    };
    let snapshot = event_text(&AgEvent::MessagesSnapshot { messages });
    let mut head = event_text(&encoder.start()) + &thread.state().await? + &snapshot;
    if let Some(run) = live {
        let updates = runs.attach(thread.key(), None).await?;
        return Ok(RunStream::new(AgRun::new(encoder, run, thread), updates, 0, head).into_response());
    }
    for entry in &log {
        if let Some(event) = entry.event().filter(|_| *entry.run == *last) {
            // The snapshot has them; the last one says how the run ended.
            let _ = encoder.event(event);
        }
    }
    let end = encoder.finish();
    head.push_str(&events_text(end.last().map(std::slice::from_ref).unwrap_or_default()));
    Ok(event_response(head.into()))
}
