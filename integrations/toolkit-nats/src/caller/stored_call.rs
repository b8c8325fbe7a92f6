//! What the ledger knows about a call.

use super::caller_state::CallerState;
use super::replies::Reply;
use crate::fleet::FleetError;
use crate::frames::{Assembly, CallHead, CallOutcome, Frame, Refusal};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::{ToolError, ToolOutput};

/// The time to wait for the answer.
const WAIT: Duration = Duration::from_secs(10);

/// What the ledger knows about a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoredCall {
    /// The call has ended with this outcome.
    Ended(Result<ToolOutput, ToolError>),
    /// A worker runs the call.
    Running,
    /// The worker of the call was lost. The tool may have run, and does not run again under this id.
    Unknown,
    /// No worker has claimed the call, or its entry has expired.
    NotFound,
}

pub(super) async fn fetch(state: &CallerState, id: &str) -> Result<StoredCall, FleetError> {
    let token = state.settings.token.as_ref().and_then(|token| token());
    let head = CallHead {
        tool: "".into(),
        id: id.into(),
        left_ms: 0,
        run: None,
        token: token.map(Into::into),
        trace: None,
    };
    let message = head.write("").map_err(FleetError::lost)?;
    let subject = state.fleet.subject(format_args!("result.{}", state.settings.name));
    let mut line = state.replies.open();
    let sent = state.fleet.client.publish_with_reply(subject, line.subject.clone(), message).await;
    sent.map_err(FleetError::lost)?;
    let limit = state.settings.max_result_bytes;
    let answer = async {
        let mut assembly = Assembly::default();
        loop {
            let Some(Reply::Frame(message)) = line.next().await else { return Err("no worker has a ledger") };
            let body = match Frame::read(&message) {
                Some(Frame::Refused { refusal, .. }) => {
                    return match refusal {
                        Refusal::Running => Ok(StoredCall::Running),
                        Refusal::ClaimLost => Ok(StoredCall::Unknown),
                        Refusal::NoSuchCall => Ok(StoredCall::NotFound),
                        Refusal::Denied(_) => Err("the worker refuses the caller"),
                        _ => Err("the ledger does not answer"),
                    };
                }
                Some(Frame::Chunk(number, part)) => {
                    assembly.add(number, part, limit).map_err(|_| "the result is incomplete or too long")?;
                    continue;
                }
                Some(Frame::End(chunks, last)) => {
                    assembly.end(chunks, last, limit).map_err(|_| "the result is incomplete or too long")?
                }
                _ => return Err("the answer of a worker is malformed"),
            };
            let outcome =
                serde_json::from_slice::<CallOutcome>(&body).ok().and_then(CallOutcome::into_result);
            return outcome.map(StoredCall::Ended).ok_or("the answer of a worker is malformed");
        }
    };
    let answer = timeout(WAIT, answer).await.unwrap_or(Err("no worker has answered"));
    answer.map_err(FleetError::lost)
}
