//! The paths of a chat.

use super::UiChunk;
use super::ui_history::{messages_of, waits_for};
use super::ui_message::UiMessage;
use super::ui_request::{UiAsk, UiDecisions, UiRequest};
use super::ui_stream::{Decided, after_decisions, message, nothing};
use crate::page_access::{PageAccess, PageUser, guard};
use crate::page_error::PageError;
use crate::page_paths::{Served, User, conversations, stop};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use http::StatusCode;
use serde_json::json;
use std::sync::Arc;
use toolkit_agent::runs::{InputMode, RunInput, Runs, RunsError};
use toolkit_agent::session::{ConversationKey, RunStatus};

/// Serves conversations to pages with the AI SDK.
///
/// | path | answer |
/// | --- | --- |
/// | `GET /` | the user's conversations: `[{id, title, status, savedAt}]` |
/// | `POST /`, `POST /{chat}` | the message that answers, or goes on after decisions; without `{chat}`, the body has its `id` |
/// | `GET /{chat}/stream` | the message being written, from its start; 204 if no run works |
/// | `GET /{chat}/messages` | all messages, for the page's first load |
/// | `POST /{chat}/stop` | 204 if a run was cancelled, 404 if none works or waits |
///
/// A run goes on when the page is closed. A message to a run that works is answered after it, and a message to a run that
/// waits for decisions gives up its calls. Only the user's messages at the end of the sent history count, each once by its
/// id: what came before is read from the log.
///
/// ```
/// use toolkit_frontends::{PageAccess, PageUser, ai_sdk};
/// use toolkit_ai::agent::runs::LocalRuns;
/// use toolkit_ai::agent::{Agent, Sessions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
/// let runs = LocalRuns::new(agent, Sessions::default());
/// let chat = ai_sdk::router(runs, PageAccess::new(|_| Some(PageUser::new("ada"))));
/// let app = axum::Router::new().nest("/chat", chat);
/// # let _: axum::Router = app;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn router<R: Runs>(runs: R, access: PageAccess) -> Router {
    let limit = DefaultBodyLimit::max(access.max_body());
    Router::new()
        .route("/", get(conversations::<R>).post(send_by_id::<R>))
        .route("/{chat}", post(send::<R>))
        .route("/{chat}/stream", get(attach::<R>))
        .route("/{chat}/messages", get(messages::<R>))
        .route("/{chat}/stop", post(stop::<R>))
        .layer(limit)
        .layer(from_fn_with_state(access, guard))
        .with_state(Arc::new(runs))
}

async fn send_by_id<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    body: Bytes,
) -> Result<Response, PageError> {
    let mut request = read(&body)?;
    let Some(chat) = request.id.take().filter(|id| !id.is_empty()) else {
        return Err(PageError::BadRequest("the request has no `id` of a conversation".to_owned()));
    };
    answer(&*runs, &user, &chat, request).await
}

async fn send<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(chat): Path<String>,
    body: Bytes,
) -> Result<Response, PageError> {
    answer(&*runs, &user, &chat, read(&body)?).await
}

fn read(body: &[u8]) -> Result<UiRequest, PageError> {
    serde_json::from_slice(body)
        .map_err(|error| PageError::BadRequest(format!("the request is not one of the AI SDK: {error}")))
}

async fn answer(
    runs: &impl Runs,
    user: &PageUser,
    chat: &str,
    request: UiRequest,
) -> Result<Response, PageError> {
    let key = ConversationKey { user: user.name(), id: chat };
    match request.ask()? {
        UiAsk::Inputs(_) if !user.may_write() => Err(PageError::MayNot("send messages")),
        UiAsk::Inputs(inputs) => answer_inputs(runs, key, inputs).await,
        UiAsk::Decisions(_) if !user.may_decide() => Err(PageError::MayNot("decide calls")),
        UiAsk::Decisions(decisions) => answer_decisions(runs, key, decisions).await,
    }
}

async fn answer_inputs(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    inputs: Vec<RunInput>,
) -> Result<Response, PageError> {
    let mut mode = match runs.status(key).await? {
        RunStatus::Waiting { .. } => InputMode::Interrupt,
        _ => InputMode::Enqueue,
    };
    let mut run = String::new();
    for input in inputs {
        let submitted = runs.submit(key, input.with_mode(mode)).await?;
        run = submitted.run;
        mode = InputMode::Enqueue;
    }
    let updates = runs.attach(key, None).await?;
    Ok(message(&run, updates))
}

async fn answer_decisions(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    UiDecisions { run, steps, calls: decisions }: UiDecisions,
) -> Result<Response, PageError> {
    let run = run.as_str();
    let entries = runs.entries(key).await?;
    if !entries.iter().any(|entry| *entry.run == *run) {
        return Err(PageError::NotFound);
    }
    let calls: Vec<&str> = decisions.iter().map(|(call, _)| call.as_str()).collect();
    // The page sends all results that it knows.
    let Some(waits) = waits_for(&entries, run, steps, &calls) else { return Ok(nothing(run)) };
    let pending = match runs.status(key).await? {
        RunStatus::Waiting { run: waiting, calls, .. } if *waiting == *run => calls,
        _ => Vec::new(),
    };
    let mut decided = Decided::default();
    for (call, decision) in decisions {
        if !pending.iter().any(|waiting| waiting.id == call) {
            continue;
        }
        match runs.decide(key, &call, decision, key.user).await {
            Ok(()) => decided.calls.push(call),
            Err(RunsError::AlreadyDecided { by, .. }) => {
                let data = json!({"toolCallId": call, "by": by});
                decided.chunks.push(UiChunk::DataDecided { id: call.clone(), data, transient: true });
                decided.calls.push(call);
            }
            // Its run has gone on, and the page hears what became of it.
            Err(RunsError::NotPending(_)) if pending.len() > 1 => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(after_decisions(run, runs.attach(key, None).await?, waits, decided))
}

async fn attach<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(chat): Path<String>,
) -> Result<Response, PageError> {
    let key = ConversationKey { user: user.name(), id: &chat };
    let RunStatus::Working { run, .. } = runs.status(key).await? else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    Ok(message(&run, runs.attach(key, None).await?))
}

async fn messages<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(chat): Path<String>,
) -> Result<Json<Vec<UiMessage>>, PageError> {
    let key = ConversationKey { user: user.name(), id: &chat };
    let entries = runs.entries(key).await?;
    if entries.is_empty() {
        return Err(PageError::NotFound);
    }
    Ok(Json(messages_of(&entries)))
}
