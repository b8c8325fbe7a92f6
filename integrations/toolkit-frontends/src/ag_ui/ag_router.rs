//! The paths of AG-UI.

use super::ag_encoder::AgEncoder;
use super::ag_event::AgEvent;
use super::ag_history::{messages_of, waits_for};
use super::ag_request::AgRequest;
use crate::page_access::{PageAccess, PageUser, guard};
use crate::page_error::PageError;
use crate::page_paths::{Served, User, conversations, stop};
use crate::run_stream::{PageEncoder, RunStream, Snapshot, Written, event_response, event_text};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use futures_util::FutureExt;
use serde_json::json;
use std::sync::Arc;
use toolkit_agent::runs::{InputMode, RunInput, RunUpdate, Runs, RunsError};
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
/// by its id, and the results of calls that wait. Its tools, context and state are not read.
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
struct AgRun {
    run: String,
    encoder: AgEncoder,
}

impl PageEncoder for AgRun {
    fn run(&self) -> &str {
        &self.run
    }

    fn write(&mut self, update: &RunUpdate) -> Written {
        match update {
            RunUpdate::Event { run, .. } if **run != *self.run => Written::Events(String::new()),
            RunUpdate::Event { event, .. } if self.encoder.takes_back(event) => {
                Written::Again(text_of(&self.encoder.close()))
            }
            RunUpdate::Event { event, .. } => Written::Events(text_of(&self.encoder.event(event))),
            _ => Written::Again(text_of(&self.encoder.close())),
        }
    }

    fn has_ended(&self) -> bool {
        self.encoder.has_ended()
    }

    fn end(&mut self) -> String {
        text_of(&self.encoder.finish())
    }
}

fn text_of(events: &[AgEvent]) -> String {
    let mut text = String::new();
    for event in events {
        text.push_str(&event_text(event));
    }
    text
}

/// Returns how the messages are read again, as a snapshot.
fn snapshot<R: Runs>(runs: Arc<R>, user: &str, thread: &str) -> Snapshot {
    let (user, thread) = (user.to_owned(), thread.to_owned());
    Box::new(move || read_again(runs.clone(), user.clone(), thread.clone()).boxed())
}

async fn read_again<R: Runs>(runs: Arc<R>, user: String, thread: String) -> Option<String> {
    let key = ConversationKey { user: &user, id: &thread };
    let entries = runs.entries(key).await.ok()?;
    Some(event_text(&AgEvent::MessagesSnapshot { messages: messages_of(&entries, "") }))
}

async fn exchange<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    body: Bytes,
) -> Result<Response, PageError> {
    let request: AgRequest = serde_json::from_slice(&body)
        .map_err(|error| PageError::BadRequest(format!("the request is no input of AG-UI: {error}")))?;
    let key = ConversationKey { user: user.name(), id: &request.thread_id };
    let inputs = request.inputs()?;
    let status = runs.status(key).await?;
    let encoder = AgEncoder::new(&request.thread_id, &request.run_id);
    let mut head = event_text(&encoder.start());
    let begun = if inputs.is_empty() {
        decide(&*runs, &user, &request, &status, &mut head).await?
    } else if user.may_write() {
        let run = submit(&*runs, key, inputs, &status).await?;
        BegunExchange { run, waits: 0, decided: Vec::new() }
    } else {
        return Err(PageError::MayNot("send messages"));
    };
    let updates = runs.attach(key, None).await?;
    let BegunExchange { run, waits, decided } = begun;
    let stream = RunStream::new(AgRun { run, encoder }, updates, waits, head).with_decided(decided);
    Ok(stream.with_snapshot(snapshot(runs, user.name(), &request.thread_id)).into_response())
}

/// The run that answers in an exchange.
struct BegunExchange {
    run: String,
    /// How many times it had waited before.
    waits: usize,
    /// The calls that the request has decided.
    decided: Vec<String>,
}

/// Submits the inputs. Returns the run of the last one.
async fn submit(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    inputs: Vec<RunInput>,
    status: &RunStatus,
) -> Result<String, PageError> {
    let mut mode = match status {
        RunStatus::Waiting { .. } => InputMode::Interrupt,
        _ => InputMode::Enqueue,
    };
    let mut run = String::new();
    for input in inputs {
        run = runs.submit(key, input.with_mode(mode)).await?.run;
        mode = InputMode::Enqueue;
    }
    Ok(run)
}

/// Decides the calls that a request has answers for.
async fn decide(
    runs: &impl Runs,
    user: &PageUser,
    request: &AgRequest,
    status: &RunStatus,
    head: &mut String,
) -> Result<BegunExchange, PageError> {
    if !user.may_decide() {
        return Err(PageError::MayNot("decide calls"));
    }
    let key = ConversationKey { user: user.name(), id: &request.thread_id };
    let pending = match status {
        RunStatus::Waiting { calls, .. } => &calls[..],
        _ => &[],
    };
    let decisions = request.decisions(pending);
    let calls: Vec<&str> = decisions.iter().map(|(call, _)| call.as_str()).collect();
    let Some((run, waits)) = waits_for(&runs.entries(key).await?, &calls) else {
        let reason = "the request has neither a message of the user nor an answer to a call that waits";
        return Err(PageError::BadRequest(reason.to_owned()));
    };
    let mut decided = Vec::new();
    for (call, decision) in decisions {
        let Some(decision) = decision else { continue };
        match runs.decide(key, &call, decision, key.user).await {
            Ok(()) => decided.push(call),
            Err(RunsError::AlreadyDecided { by, .. }) => {
                let value = json!({"toolCallId": call, "by": by});
                head.push_str(&event_text(&AgEvent::Custom { name: "decided".to_owned(), value }));
                decided.push(call);
            }
            // Its run has gone on, and the page hears what became of it.
            Err(RunsError::NotPending(_)) if pending.len() > 1 => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(BegunExchange { run, waits, decided })
}

async fn attach<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(thread): Path<String>,
) -> Result<Response, PageError> {
    let key = ConversationKey { user: user.name(), id: &thread };
    let entries = runs.entries(key).await?;
    let Some(last) = entries.last() else { return Err(PageError::NotFound) };
    let run = last.run.to_string();
    let mut encoder = AgEncoder::new(&thread, format!("{run}.attached"));
    let mut head = event_text(&encoder.start());
    if matches!(runs.status(key).await?, RunStatus::Working { .. }) {
        head.push_str(&event_text(&AgEvent::MessagesSnapshot { messages: messages_of(&entries, &run) }));
        let updates = runs.attach(key, None).await?;
        let stream = RunStream::new(AgRun { run, encoder }, updates, 0, head);
        return Ok(stream.with_snapshot(snapshot(runs, user.name(), &thread)).into_response());
    }
    head.push_str(&event_text(&AgEvent::MessagesSnapshot { messages: messages_of(&entries, "") }));
    for entry in &entries {
        if let Some(event) = entry.event().filter(|_| *entry.run == *run) {
            // The snapshot has them; the last one says how the run ended.
            let _ = encoder.event(event);
        }
    }
    let end = encoder.finish();
    head.push_str(&text_of(end.last().map(std::slice::from_ref).unwrap_or_default()));
    Ok(event_response(head.into()))
}
