//! What requests of all protocols do with the runs of a conversation.

use crate::page_error::PageError;
use crate::page_log::{input_of, read_log};
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit_agent::runs::{ClientTool, Cursor, InputMode, RunInput, Runs, RunsError};
use toolkit_agent::session::{ConversationKey, RunStatus};
use toolkit_agent::{Decision, PendingCall};
use toolkit_core::error::Pending;
use toolkit_llm::UserMessage;

/// A message of the user.
#[derive(Debug)]
pub(crate) struct PageInput {
    pub(crate) id: String,
    pub(crate) message: UserMessage,
}

/// What a page sends beside its messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageExtras {
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) tools: Vec<ClientTool>,
}

impl PageInput {
    /// Returns the input of a run, which has the id of the message, so that it is answered once.
    pub(crate) fn into_input(self, extras: &PageExtras) -> RunInput {
        let input = RunInput::new(self.message).with_run(self.id.clone()).with_message_id(self.id);
        input.with_values(extras.values.clone()).with_tools(extras.tools.clone())
    }
}

/// Submits messages. Returns the run that answers the last one, and a place before it.
pub(crate) async fn submit(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    inputs: Vec<PageInput>,
    extras: &PageExtras,
) -> Result<(String, Option<Cursor>), PageError> {
    let mut mode = match runs.status(key).await? {
        RunStatus::Waiting { .. } => InputMode::Interrupt,
        _ => InputMode::Enqueue,
    };
    let mut run = String::new();
    let mut after = None;
    let mut is_known = false;
    for input in inputs {
        let submitted = runs.submit(key, input.into_input(extras).with_mode(mode)).await?;
        run = submitted.run;
        after = submitted.after;
        is_known = !submitted.is_new;
        mode = InputMode::Enqueue;
    }
    // The message may have been answered again since then.
    if is_known && !runs.queued(key).await?.contains(&run) {
        let log = read_log(runs, key).await?;
        let Some((latest, _)) = input_of(&log, &run) else { return Err(PageError::left_out()) };
        run = latest.to_owned();
        after = None;
    }
    Ok((run, after))
}

/// Returns the calls that wait.
pub(crate) fn pending_of(status: &RunStatus) -> &[PendingCall] {
    match status {
        RunStatus::Waiting { calls, .. } => calls,
        _ => &[],
    }
}

/// Returns whether there is a decision about one of these calls.
pub(crate) fn decides_any(decisions: &[(String, Decision)], pending: &[PendingCall]) -> bool {
    for (call, _) in decisions {
        if pending.iter().any(|waiting| waiting.id == *call) {
            return true;
        }
    }
    false
}

/// What a request has decided.
#[derive(Default)]
pub(crate) struct Decided {
    /// The calls that are decided now.
    pub(crate) calls: Vec<String>,
    /// Those of them that were decided before, and by whom.
    pub(crate) earlier: Vec<(String, String)>,
}

/// Decides the calls that wait.
pub(crate) async fn decide(
    runs: &impl Runs,
    key: ConversationKey<'_>,
    pending: &[PendingCall],
    decisions: Vec<(String, Decision)>,
) -> Result<Decided, PageError> {
    let mut decided = Decided::default();
    for (call, decision) in decisions {
        let Some(waiting) = pending.iter().find(|waiting| waiting.id == call) else { continue };
        let is_result = matches!(decision, Decision::Answer(_) | Decision::Fail(_));
        if is_result && matches!(waiting.reason, Pending::Approval { .. }) {
            // Otherwise a page could say what a call has done that never ran.
            return Err(PageError::Conflict(format!(
                "call `{call}` waits for an approval, and not for a result"
            )));
        }
        match runs.decide(key, &call, decision, key.user).await {
            Ok(()) => decided.calls.push(call),
            Err(RunsError::AlreadyDecided { by, .. }) => {
                decided.earlier.push((call.clone(), by));
                decided.calls.push(call);
            }
            // Its run has gone on, and the page hears what became of it.
            Err(RunsError::NotPending(_)) if pending.len() > 1 => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(decided)
}
