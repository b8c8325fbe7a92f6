//! The calls of agents that wait for a decision, over all conversations and restarts.

use crate::page_answer::{Refused, json_answer};
use crate::page_guard::may;
use crate::page_rights::PageRights;
use crate::served_page::Served;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;
use toolkit_agent::Decision;
use toolkit_agent::runs::{Runs, RunsError};
use toolkit_agent::session::{ConversationInfo, ConversationKey, RunStatus};

/// The [`Runs`] of a program, whatever their type.
pub(crate) trait Inbox: Send + Sync {
    fn waiting(&self) -> BoxFuture<'_, Result<Vec<ConversationInfo>, RunsError>>;

    fn decide<'a>(
        &'a self,
        request: &'a DecisionRequest,
        by: &'a str,
    ) -> BoxFuture<'a, Result<(), RunsError>>;
}

impl<R: Runs> Inbox for R {
    fn waiting(&self) -> BoxFuture<'_, Result<Vec<ConversationInfo>, RunsError>> {
        Runs::waiting(self, None).boxed()
    }

    fn decide<'a>(
        &'a self,
        request: &'a DecisionRequest,
        by: &'a str,
    ) -> BoxFuture<'a, Result<(), RunsError>> {
        let key = ConversationKey { user: &request.user, id: &request.conversation };
        Runs::decide(self, key, &request.call, request.decision.clone(), by).boxed()
    }
}

/// What a reader decides.
#[derive(serde::Deserialize)]
pub(crate) struct DecisionRequest {
    user: String,
    conversation: String,
    /// The key of the call in its conversation.
    call: String,
    decision: Decision,
}

/// Lists the calls that wait, the earliest first.
pub(crate) async fn list(
    State(served): State<Served>,
    Extension(rights): Extension<PageRights>,
) -> Result<Response, Refused> {
    let shows_arguments = served.contents || rights.may_decide();
    let mut calls = Vec::new();
    if let Some(inbox) = &served.inbox {
        for info in inbox.waiting().await.map_err(refused)? {
            add_calls(&mut calls, &info, shows_arguments);
        }
    }
    Ok(json_answer(&json!({"calls": calls})))
}

fn add_calls(calls: &mut Vec<Value>, info: &ConversationInfo, shows_arguments: bool) {
    let RunStatus::Waiting { since, calls: pending, .. } = &info.summary.status else { return };
    for pending in pending {
        let arguments = shows_arguments.then(|| pending.call.arguments.as_str());
        calls.push(json!({
            "user": info.user,
            "conversation": info.id,
            "title": &*info.summary.title,
            "since": since,
            "saved": info.saved_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            "call": pending.id,
            "agent": pending.agent,
            "tool": pending.call.name,
            "arguments": arguments,
            "reason": pending.reason,
        }));
    }
}

/// Decides a call. The log of its conversation has the name of the reader.
pub(crate) async fn decide(
    State(served): State<Served>,
    Extension(rights): Extension<PageRights>,
    body: Bytes,
) -> Result<Response, Refused> {
    may(rights.may_decide(), "decide calls")?;
    let request: DecisionRequest = serde_json::from_slice(&body)
        .map_err(|error| Refused(StatusCode::BAD_REQUEST, format!("the request is no decision: {error}")))?;
    let Some(inbox) = &served.inbox else {
        return Err(Refused(StatusCode::NOT_FOUND, "this program has no agents".to_owned()));
    };
    inbox.decide(&request, rights.name()).await.map_err(refused)?;
    Ok(json_answer(&json!({})))
}

fn refused(error: RunsError) -> Refused {
    match error {
        RunsError::Store(_) => {
            let message = "the conversations cannot be read or saved now; try again later";
            Refused(StatusCode::INTERNAL_SERVER_ERROR, message.to_owned())
        }
        error => Refused(StatusCode::CONFLICT, error.to_string()),
    }
}
