//! The paths of a chat.

use super::ui_history::{messages_of, waits_for};
use super::ui_message::UiMessage;
use super::ui_request::{UiAgain, UiAsk, UiDecisions, UiRequest};
use super::ui_stream::{after_decisions, message, nothing};
use crate::page_access::{PageAccess, PageUser, PageValues, guard};
use crate::page_error::PageError;
use crate::page_log::{input_of, read_log};
use crate::page_paths::{Served, User, conversations, stop, values};
use crate::page_runs::{PageExtras, decide, pending_of, submit};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use http::StatusCode;
use std::mem;
use std::sync::Arc;
use toolkit_agent::runs::{Cursor, InputMode, Runs};
use toolkit_agent::session::{ConversationKey, RunStatus};

/// Serves conversations to pages with the AI SDK.
///
/// | path | answer |
/// | --- | --- |
/// | `GET /` | the user's conversations: `[{id, title, status, savedAt}]` |
/// | `POST /`, `POST /{chat}` | the message that answers, or goes on after decisions; without `{chat}`, the body has its `id` |
/// | `GET /{chat}/stream` | the message being written, from its start; 204 if no run works or is about to |
/// | `GET /{chat}/messages` | all messages, for the page's first load |
/// | `POST /{chat}/stop` | 204 if a run was cancelled, 404 if none works or waits |
/// | `GET /{chat}/values` | the session values that the program lets pages [read](PageAccess::with_readable_values) |
///
/// A run goes on when the page is closed. A message to a run that works is answered after it, and a message to a run that
/// waits for decisions gives up its calls. Only the user's messages at the end of the sent history count, each once by its
/// id: what came before is read from the log.
///
/// An answer that is [regenerated](toolkit_agent::runs::RunInput::with_replaced), and a message that was changed, take the
/// place of what the conversation had from there on, and what works or waits is ended. The conversation keeps its id. The same
/// request again has the same answer.
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
        .route("/{chat}/values", get(values::<R>))
        .layer(limit)
        .layer(from_fn_with_state(access, guard))
        .with_state(Arc::new(runs))
}

async fn send_by_id<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Extension(values): Extension<PageValues>,
    body: Bytes,
) -> Result<Response, PageError> {
    let mut request = read(&body)?;
    let Some(chat) = request.id.take().filter(|id| !id.is_empty()) else {
        return Err(PageError::BadRequest("the request has no `id` of a conversation".to_owned()));
    };
    answer(&*runs, &user, &values, &chat, request).await
}

async fn send<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Extension(values): Extension<PageValues>,
    Path(chat): Path<String>,
    body: Bytes,
) -> Result<Response, PageError> {
    answer(&*runs, &user, &values, &chat, read(&body)?).await
}

fn read(body: &[u8]) -> Result<UiRequest, PageError> {
    serde_json::from_slice(body)
        .map_err(|error| PageError::BadRequest(format!("the request is not one of the AI SDK: {error}")))
}

async fn answer(
    runs: &impl Runs,
    user: &PageUser,
    values: &PageValues,
    chat: &str,
    mut request: UiRequest,
) -> Result<Response, PageError> {
    let key = ConversationKey { user: user.name(), id: chat };
    let values = values.written(mem::take(&mut request.values));
    let extras = PageExtras { values, ..PageExtras::default() };
    match request.ask()? {
        UiAsk::Decisions(_) if !user.may_decide() => Err(PageError::MayNot("decide calls")),
        UiAsk::Decisions(decisions) => answer_decisions(runs, key, decisions).await,
        _ if !user.may_write() => Err(PageError::MayNot("send messages")),
        UiAsk::Inputs(inputs) => {
            let (run, after) = submit(runs, key, inputs, &extras).await?;
            Ok(message(&run, runs.attach(key, after).await?))
        }
        UiAsk::Again(again) => {
            let (run, after) = submit_again(runs, key, again, &extras).await?;
            Ok(message(&run, runs.attach(key, after).await?))
        }
    }
}

/// Submits a message in place of an earlier form of it, or of its answer. Returns the run that answers it, and a place before.
async fn submit_again(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    again: UiAgain,
    extras: &PageExtras,
) -> Result<(String, Option<Cursor>), PageError> {
    let UiAgain { input, is_regenerated, run } = again;
    let log = read_log(runs, key).await?;
    let Some((latest, said)) = input_of(&log, &input.id) else {
        return submit(runs, key, vec![input], extras).await;
    };
    if !is_regenerated && *said == input.message {
        return Ok((latest.to_owned(), None));
    }
    // The same request has the same run, so that a page may repeat it.
    let next = next_run(run.as_deref().unwrap_or(latest));
    let replaced = input.id.clone();
    let again = input.into_input(extras).with_run(next).with_replaced(replaced);
    let submitted = runs.submit(key, again.with_mode(InputMode::Interrupt)).await?;
    Ok((submitted.run, submitted.after))
}

/// Returns the run that answers a message after this one: `m1`, `m1~2`, `m1~3`.
fn next_run(run: &str) -> String {
    if let Some((first, number)) = run.rsplit_once('~')
        && let Ok(number) = number.parse::<u32>()
    {
        return format!("{first}~{}", number.saturating_add(1));
    }
    format!("{run}~2")
}

async fn answer_decisions(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    UiDecisions { run, steps, calls: decisions }: UiDecisions,
) -> Result<Response, PageError> {
    let run = run.as_str();
    let log = read_log(runs, key).await?;
    if !log.iter().any(|entry| *entry.run == *run) {
        return Err(PageError::NotFound);
    }
    // The page sends all results that it knows.
    let Some(waits) = waits_for(&log, run, steps, &decisions) else { return Ok(nothing(run)) };
    let status = runs.status(key).await?;
    let pending = if status.run() == Some(run) { pending_of(&status) } else { &[] };
    let decided = decide(runs, key, pending, decisions).await?;
    Ok(after_decisions(run, runs.attach(key, None).await?, waits, decided))
}

async fn attach<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(chat): Path<String>,
) -> Result<Response, PageError> {
    let key = ConversationKey { user: user.name(), id: &chat };
    let run = match runs.status(key).await? {
        RunStatus::Working { run, .. } => Some(run.to_string()),
        // What is behind it begins when it is decided.
        RunStatus::Waiting { .. } => None,
        _ => runs.queued(key).await?.into_iter().next(),
    };
    let Some(run) = run else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    Ok(message(&run, runs.attach(key, None).await?))
}

async fn messages<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(chat): Path<String>,
) -> Result<Json<Vec<UiMessage>>, PageError> {
    let key = ConversationKey { user: user.name(), id: &chat };
    let log = read_log(&*runs, key).await?;
    if log.is_empty() {
        return Err(PageError::NotFound);
    }
    Ok(Json(messages_of(&log)))
}
