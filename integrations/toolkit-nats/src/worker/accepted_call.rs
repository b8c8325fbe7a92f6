//! One call on a worker, from its message to its end.

#[cfg(feature = "ledger")]
use super::identity::owner_of;
use super::identity::{RemoteCaller, caller_of};
use super::offers::Offer;
use super::worker_state::{RunningCall, WorkerState};
use crate::frames::{CallHead, CallOutcome, Frame, LARGE, Refusal, frames_of};
#[cfg(feature = "ledger")]
use crate::ledger::{CallLedger, Claim, ClaimedCall, POLL};
use crate::span::MessageSpan;
use async_nats::Subject;
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;
use toolkit_core::__private::CallPermit;
use toolkit_core::__private::lock;
use toolkit_core::context::ToolActions;
use toolkit_core::output::{Content, MediaData};
use toolkit_core::{
    CancellationToken, Dispatcher, ErrorKind, RunContext, ToolCall, ToolError, ToolOutput, ToolResult,
};

/// The maximum bytes of an outcome that are sent before the caller asks for more.
const PART: usize = 256 << 10;
/// How long a worker waits for this question. A caller that was stopped asks when it wakes.
const PATIENCE: Duration = Duration::from_secs(30);

/// An accepted call, which counts as running until it is dropped.
pub(super) struct AcceptedCall {
    state: Arc<WorkerState>,
    offer: Arc<Offer>,
    /// The name of the caller in the subject.
    caller: String,
    reply: Subject,
    message: Bytes,
    cancellation: CancellationToken,
    asked: Arc<Notify>,
    started: Instant,
    /// Released after the call has left the running ones.
    _permit: CallPermit,
}

impl Drop for AcceptedCall {
    fn drop(&mut self) {
        lock(&self.state.calls.running).remove(self.reply.as_str());
    }
}

impl AcceptedCall {
    pub(super) fn new(
        state: Arc<WorkerState>,
        offer: Arc<Offer>,
        caller: &str,
        reply: Subject,
        message: Bytes,
        permit: CallPermit,
    ) -> Self {
        let cancellation = CancellationToken::new();
        let asked = Arc::new(Notify::new());
        let started = Instant::now();
        let running = RunningCall { cancellation: cancellation.clone(), asked: asked.clone(), started };
        lock(&state.calls.running).insert(reply.to_string(), running);
        let caller = caller.to_owned();
        Self { state, offer, caller, reply, message, cancellation, asked, started, _permit: permit }
    }

    pub(super) async fn run(self) {
        let state = &self.state;
        let message = self.message.clone();
        let Some((head, arguments)) = CallHead::read(&message) else {
            return state.refuse(self.reply.clone(), &Refusal::NotServed).await;
        };
        let caller = match caller_of(&head, &self.caller, &state.settings) {
            Ok(caller) => caller,
            Err(reason) => return state.refuse(self.reply.clone(), &Refusal::Denied(reason)).await,
        };
        let parent = caller.trace.as_ref().map(|trace| trace.parent.as_str());
        let span = MessageSpan::new("process", "consumer", &head.tool, &head.id, parent);
        match self.outcome(&head, arguments, caller, &span).await {
            Ok(body) => self.send_outcome(&body).await,
            Err(refusal) => state.refuse(self.reply.clone(), &refusal).await,
        }
    }

    /// Sends the outcome in parts, the next one when the caller has asked about the call, as it does after
    /// each. A server closes connections for which too much waits. The rest of a cancelled call is not sent.
    async fn send_outcome(&self, body: &Bytes) {
        let state = &self.state;
        for frame in frames_of(body, state.fleet.client.max_payload().min(PART)) {
            let is_last = !matches!(frame, Frame::Chunk(..));
            state.send(self.reply.clone(), &frame).await;
            if is_last {
                return;
            }
            let asked = timeout(PATIENCE, self.asked.notified());
            if !matches!(self.cancellation.run_until_cancelled(asked).await, Some(Ok(()))) {
                return;
            }
        }
    }

    /// Runs the call and stores its outcome, claimed if there is a ledger and the call may not be repeated.
    async fn outcome(
        &self,
        head: &CallHead<'_>,
        arguments: &str,
        caller: RemoteCaller,
        span: &MessageSpan,
    ) -> Result<Bytes, Refusal> {
        #[cfg(feature = "ledger")]
        let ledger = self.state.settings.ledger.as_ref().filter(|_| !self.may_be_repeated(head));
        #[cfg(feature = "ledger")]
        let owner = ledger.map(|_| owner_of(&caller, head, &self.reply)).unwrap_or_default();
        // The future is large, and moved several times.
        let run = span.clone().around(Box::pin(self.dispatch(head, arguments, caller, span)));
        #[cfg(feature = "ledger")]
        if let Some(ledger) = ledger {
            let number = self.state.settings.calls.next_number();
            let call = ClaimedCall::new(owner, head, arguments, &self.state.id, number);
            if let Some(stored) = self.claim(ledger, &call, self.give_up(head)).await? {
                return Ok(stored);
            }
            let ended = run.await;
            // If the ledger refuses the result, it is still true, and the caller gets it once.
            let _ = ledger.finish(&call, ended.known(), self.give_up(head)).await;
            return ended.answer();
        }
        run.await.answer()
    }

    /// Returns whether another run does no harm, so that no claim is needed.
    #[cfg(feature = "ledger")]
    fn may_be_repeated(&self, head: &CallHead<'_>) -> bool {
        let registry = self.offer.dispatcher.registry();
        registry.get(&head.tool).is_some_and(|tool| tool.definition().metadata.is_repeatable())
    }

    /// The time after which nobody waits for the call.
    #[cfg(feature = "ledger")]
    fn give_up(&self, head: &CallHead<'_>) -> Instant {
        self.started.checked_add(Duration::from_millis(head.left_ms)).unwrap_or(self.started)
    }

    /// Claims the call, or returns its outcome if it has run. Sends beats while another worker runs it.
    #[cfg(feature = "ledger")]
    async fn claim(
        &self,
        ledger: &CallLedger,
        call: &ClaimedCall,
        give_up: Instant,
    ) -> Result<Option<Bytes>, Refusal> {
        loop {
            match ledger.claim(call).await {
                Ok(Claim::Ours) => return Ok(None),
                Ok(Claim::Done(body)) => return Ok(Some(body.into())),
                Ok(Claim::Unknown) => return Err(Refusal::ClaimLost),
                Ok(Claim::OfAnotherCall) => return Err(Refusal::IdTaken),
                Ok(Claim::Running) if self.cancellation.is_cancelled() => return Err(Refusal::Stopped),
                Ok(Claim::Running) if Instant::now() > give_up => return Err(Refusal::Running),
                Ok(Claim::Running) => tokio::time::sleep(POLL).await,
                Err(_) => return Err(Refusal::LedgerDown),
            }
        }
    }

    async fn dispatch(
        &self,
        head: &CallHead<'_>,
        arguments: &str,
        caller: RemoteCaller,
        span: &MessageSpan,
    ) -> EndedRun {
        let call = ToolCall::new(&*head.id, head.tool.as_ref(), arguments);
        let dispatcher = self.dispatcher(Duration::from_millis(head.left_ms), caller);
        let (result, _) = dispatcher.dispatch_found(call, self.cancellation.clone()).await;
        let error = result.error().map(ToolError::kind);
        if let Some(kind) = error {
            span.fail(kind.as_str());
        }
        let duration = self.started.elapsed();
        lock(&self.state.calls.counts).end(duration, error.is_some());
        lock(&self.offer.counts).end(duration, error.is_some());
        let limit = self.state.settings.max_result_bytes;
        let body = if is_large(&result) {
            tokio::task::spawn_blocking(move || written(result, limit)).await.unwrap_or_default()
        } else {
            written(result, limit)
        };
        match error {
            Some(ErrorKind::Cancelled) if self.cancellation.is_cancelled() => EndedRun::Cancelled,
            Some(ErrorKind::TimedOut) => EndedRun::TimedOut(body),
            _ => EndedRun::Finished(body),
        }
    }

    fn dispatcher(&self, left: Duration, caller: RemoteCaller) -> Dispatcher {
        let mut run = RunContext::new().with_invocation_id(self.reply.as_str());
        if let Some(trace) = caller.trace.as_ref() {
            run = run.with_extension(trace.clone());
        }
        let state = self.state.clone();
        let reply = self.reply.clone();
        run = run.with_state(caller.clone()).with_extension(caller);
        run = run.on_progress(move |progress| {
            state.send_now(reply.clone(), &Frame::Progress(progress.fraction, progress.message));
        });
        self.offer.dispatcher.clone().with_hard_limit(left).with_run(run)
    }
}

/// Returns whether the outcome is written on its own thread.
fn is_large(result: &ToolResult) -> bool {
    let contents = result.output().map_or(&[][..], ToolOutput::content);
    contents.iter().map(content_length).sum::<usize>() > LARGE
}

fn content_length(content: &Content) -> usize {
    match content {
        Content::Image(media) | Content::Audio(media) | Content::File(media) => match &media.data {
            MediaData::Base64(text) => text.len(),
            MediaData::Url(url) => url.len(),
        },
        content => content.to_text().len(),
    }
}

/// Returns the outcome as it travels, or an error if it exceeds the limit.
fn written(result: ToolResult, limit: usize) -> Bytes {
    let fault = match serde_json::to_vec(&CallOutcome::new(result.outcome, result.actions)) {
        Ok(body) if body.len() <= limit => return body.into(),
        Ok(body) => format!("its result has {} bytes, more than {limit}; ask for less", body.len()),
        Err(error) => format!("its result cannot be written as JSON: {error}"),
    };
    let outcome = CallOutcome::new(Err(ToolError::failed(fault)), ToolActions::default());
    serde_json::to_vec(&outcome).unwrap_or_default().into()
}

/// How a run has ended. What a stopped run has done is unknown.
enum EndedRun {
    Finished(Bytes),
    TimedOut(Bytes),
    Cancelled,
}

impl EndedRun {
    #[cfg(feature = "ledger")]
    fn known(&self) -> Option<&[u8]> {
        match self {
            Self::Finished(body) => Some(body),
            Self::TimedOut(_) | Self::Cancelled => None,
        }
    }

    /// Returns the answer for the caller. After the caller's own cancellation, nobody reads it.
    fn answer(self) -> Result<Bytes, Refusal> {
        match self {
            Self::Finished(body) | Self::TimedOut(body) => Ok(body),
            Self::Cancelled => Err(Refusal::Stopped),
        }
    }
}

#[cfg(feature = "ledger")]
pub(super) async fn send_stored(state: &WorkerState, caller: &str, reply: Subject, message: &Bytes) {
    let Some(ledger) = &state.settings.ledger else { return };
    let Some((head, _)) = CallHead::read(message) else {
        return state.refuse(reply, &Refusal::NotServed).await;
    };
    let caller = match caller_of(&head, caller, &state.settings) {
        Ok(caller) => caller,
        Err(reason) => return state.refuse(reply, &Refusal::Denied(reason)).await,
    };
    let owner = owner_of(&caller, &head, &reply);
    let refusal = match ledger.stored(&owner, &head.id).await {
        Ok(Some(Claim::Done(body))) => return state.send_body(&reply, &body.into()).await,
        Ok(Some(Claim::Running | Claim::Ours)) => Refusal::Running,
        Ok(Some(Claim::Unknown | Claim::OfAnotherCall)) => Refusal::ClaimLost,
        Ok(None) => Refusal::NoSuchCall,
        Err(_) => Refusal::LedgerDown,
    };
    state.refuse(reply, &refusal).await;
}
