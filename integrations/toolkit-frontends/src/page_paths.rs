//! The paths that are the same in all protocols.

use crate::page_access::{PageUser, PageValues};
use crate::page_error::PageError;
use axum::extract::{Path, State};
use axum::{Extension, Json};
use http::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_agent::runs::Runs;
use toolkit_agent::session::{ConversationKey, RunStatus};

pub(crate) type Served<R> = State<Arc<R>>;

/// The user of a request, whom the guard has found.
pub(crate) type User = Extension<PageUser>;

/// Lists the user's conversations.
pub(crate) async fn conversations<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
) -> Result<Json<Value>, PageError> {
    let mut list = Vec::new();
    for info in runs.list(user.name()).await? {
        let status = match info.summary.status {
            RunStatus::Working { .. } => "working",
            RunStatus::Waiting { .. } => "waiting",
            _ => "ready",
        };
        list.push(json!({
            "id": info.id,
            "title": &*info.summary.title,
            "status": status,
            "savedAt": seconds(info.saved_at),
        }));
    }
    Ok(Json(list.into()))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns the session values that pages read.
pub(crate) async fn values<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Extension(values): Extension<PageValues>,
    Path(chat): Path<String>,
) -> Result<Json<BTreeMap<String, Value>>, PageError> {
    let key = ConversationKey { user: user.name(), id: &chat };
    Ok(Json(values.shown(runs.values(key).await?)))
}

/// Cancels the run of a conversation that works or waits.
pub(crate) async fn stop<R: Runs>(
    State(runs): Served<R>,
    Extension(user): User,
    Path(chat): Path<String>,
) -> Result<StatusCode, PageError> {
    if !user.may_write() {
        return Err(PageError::MayNot("stop runs"));
    }
    let key = ConversationKey { user: user.name(), id: &chat };
    let status = runs.status(key).await?;
    let (RunStatus::Working { run, .. } | RunStatus::Waiting { run, .. }) = &status else {
        return Err(PageError::NotFound);
    };
    if !runs.cancel(key, run).await? {
        return Err(PageError::NotFound);
    }
    Ok(StatusCode::NO_CONTENT)
}
