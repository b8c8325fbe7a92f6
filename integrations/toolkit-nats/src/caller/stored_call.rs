//! What the ledger knows about a call.

use super::caller_state::CallerState;
use super::listings::receive_body;
use super::outgoing_call::RESULT_LIMIT;
use crate::fleet_error::FleetError;
use crate::frames::{CallHead, CallOutcome, Refusal, read_json};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::{ToolError, ToolOutput};

const WAIT: Duration = Duration::from_secs(10);

/// What the ledger knows about a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoredCall {
    /// The call has ended with this outcome.
    Ended(Result<ToolOutput, ToolError>),
    /// A worker runs the call.
    Running,
    /// The call's worker was lost, or the call was cancelled or out of time. The tool may have run, and does
    /// not run again under this id.
    Unknown,
    /// No worker has claimed the call, or its entry has expired. Calls of repeatable tools are not claimed.
    NotFound,
}

pub(super) async fn fetch(state: &CallerState, id: &str) -> Result<StoredCall, FleetError> {
    let token = state.token();
    let redactor = state.redactor(token.as_deref());
    let owner = Some(state.owner.as_str().into());
    let head = CallHead { id: id.into(), token: token.map(Into::into), owner, ..CallHead::default() };
    let message = head.write("").map_err(FleetError::lost)?;
    let subject = state.fleet.subject(format_args!("result.{}", state.settings.name));
    let mut line = state.replies.open(None);
    let sent = state.fleet.client.publish_with_reply(subject, line.subject.clone(), message).await;
    sent.map_err(FleetError::lost)?;
    let received = timeout(WAIT, receive_body(&mut line, RESULT_LIMIT, &redactor)).await;
    let body = match received.unwrap_or(Err(None)) {
        Ok(body) => body,
        Err(Some(Refusal::Running)) => return Ok(StoredCall::Running),
        Err(Some(Refusal::ClaimLost)) => return Ok(StoredCall::Unknown),
        Err(Some(Refusal::NoSuchCall)) => return Ok(StoredCall::NotFound),
        Err(_) => return Err(FleetError::lost("no worker with a ledger answers")),
    };
    let outcome = read_json::<CallOutcome>(&body, &redactor).and_then(CallOutcome::into_result);
    outcome.map(StoredCall::Ended).ok_or_else(|| FleetError::lost("the answer of a worker is malformed"))
}
