//! One call of a client: of a tool, of a prompt, or of a function behind a resource.

use super::visibility::is_visible;
use crate::reports::Reports;
use crate::server::caller::{Caller, Inputs, LogLevel};
use crate::server::server_settings::ServerSettings;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, InputRequiredResult, InputResponses, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolkit_core::__private::lock;
use toolkit_core::context::Progress;
use toolkit_core::{
    CallId, Dispatcher, ErrorKind, RunContext, Tool, ToolCall, ToolError, ToolOutput, ToolRegistry,
    ToolResult,
};

/// The time to send the waiting progress reports after the end of the call.
const LAST_REPORTS: Duration = Duration::from_secs(10);

/// What calls need of a client's session.
pub(crate) struct CallSession<'a> {
    pub(crate) settings: &'a ServerSettings,
    pub(crate) run: RunContext,
    /// The minimum severity of log messages.
    pub(crate) log_level: LogLevel,
}

pub(super) struct ClientCall<'a> {
    pub(super) id: CallId,
    pub(super) name: &'a str,
    pub(super) arguments: Arc<str>,
    pub(super) input_responses: Option<InputResponses>,
    pub(super) request_state: Option<String>,
}

pub(super) enum CallEnd {
    /// The dispatcher has answered the call. There is no tool if none was found.
    Answered(ToolResult, Option<Arc<dyn Tool>>),
    /// The client does not see a tool with this name.
    NotFound,
    /// Too many calls are running, or the state of the call could not be computed.
    Refused(ToolError),
    /// The client repeats the call with its answers.
    Suspended(InputRequiredResult),
}

/// Returns the identity of the client, with [`with_identity`](crate::server::McpServer::with_identity).
#[cfg(feature = "server-http")]
fn principal(settings: &ServerSettings, context: &RequestContext<RoleServer>) -> Option<String> {
    settings.http.identity.as_ref()?(context.extensions.get()?)
}

#[cfg(not(feature = "server-http"))]
const fn principal(_: &ServerSettings, _: &RequestContext<RoleServer>) -> Option<String> {
    None
}

/// Runs a call through a dispatcher, if the server admits it.
pub(crate) async fn run(
    session: CallSession<'_>,
    dispatcher: &Dispatcher,
    call: ClientCall<'_>,
    context: RequestContext<RoleServer>,
) -> Result<CallEnd, ErrorData> {
    let CallSession { settings, mut run, log_level } = session;
    let _permit = match settings.calls.admit() {
        Ok(permit) => permit,
        Err(busy) => return Ok(CallEnd::Refused(busy)),
    };
    let ClientCall { id, name, arguments, input_responses, request_state } = call;
    let call = ToolCall::new(id, name, &*arguments);
    let principal = principal(settings, &context);
    let inputs = Inputs::new(&settings.secret, name, arguments, input_responses, request_state, principal)?;
    let cancellation = context.ct.clone();
    let reports = context.meta.get_progress_token().map(|token| (token, context.peer.clone()));
    let caller = Caller::new(context, inputs, log_level);
    // The tool that runs is the one that the filters have seen, whatever changes meanwhile.
    let registry = dispatcher.snapshot();
    if !settings.filters.is_empty() {
        let tool = registry.get(&call.name);
        if !tool.is_some_and(|tool| is_visible(settings, &caller, tool.definition())) {
            return Ok(CallEnd::NotFound);
        }
    }
    if let Some(trace) = caller.trace_context() {
        run = run.with_extension(trace);
    }
    let run = match settings.calls.run_context(run, &caller) {
        Ok(run) => run,
        Err(error) => return Ok(CallEnd::Refused(error)),
    };
    match reports {
        None => {
            let dispatcher = dispatcher.clone().with_run(run);
            dispatch(settings, dispatcher, &registry, call, cancellation, &caller).await
        }
        Some((token, peer)) => {
            let reports = Arc::new(Reports::default());
            let dispatcher = dispatcher.clone().with_run(run.on_progress(increasing(reports.clone(), token)));
            // Boxed, so that calls without reports stay small.
            let call = Box::pin(dispatch(settings, dispatcher, &registry, call, cancellation, &caller));
            Box::pin(reporting(call, &reports, peer)).await
        }
    }
}

/// Returns the output of a prompt or of a function behind a resource. `not_found` is the error for a call
/// that the client may not know.
pub(crate) async fn output(
    session: CallSession<'_>,
    dispatcher: &Dispatcher,
    call: ClientCall<'_>,
    context: RequestContext<RoleServer>,
    not_found: impl FnOnce() -> ErrorData,
) -> Result<Result<ToolOutput, InputRequiredResult>, ErrorData> {
    let error = match run(session, dispatcher, call, context).await? {
        CallEnd::NotFound => return Err(not_found()),
        CallEnd::Suspended(question) => return Ok(Err(question)),
        CallEnd::Refused(error) => error,
        CallEnd::Answered(result, _) => match result.outcome {
            Ok(output) => return Ok(Ok(output)),
            Err(error) => error,
        },
    };
    let message = error.message().to_owned();
    Err(match error.kind() {
        ErrorKind::InvalidArguments | ErrorKind::NotFound => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    })
}

/// Runs the call until it ends, or asks a question that only a repeated request can answer.
async fn dispatch(
    settings: &ServerSettings,
    dispatcher: Dispatcher,
    registry: &Arc<ToolRegistry>,
    call: ToolCall,
    cancellation: CancellationToken,
    caller: &Caller,
) -> Result<CallEnd, ErrorData> {
    let mut running = pin!(dispatcher.dispatch_in(registry, call, cancellation));
    let ended = if caller.can_suspend() {
        tokio::select! {
            biased;
            ended = &mut running => Some(ended),
            () = caller.inputs().suspended() => None,
        }
    } else {
        None
    };
    let (result, tool) = match (caller.inputs().suspension(&settings.secret), ended) {
        (Some(question), _) => return question.map(CallEnd::Suspended),
        (None, Some(ended)) => ended,
        (None, None) => running.await,
    };
    Ok(CallEnd::Answered(result, tool))
}

/// Returns a listener that queues reports. The protocol demands that progress increases, so others are
/// dropped.
fn increasing(reports: Arc<Reports>, token: ProgressToken) -> impl Fn(Progress) + Send + Sync + 'static {
    let highest = Mutex::new(f64::NEG_INFINITY);
    move |progress| add_if_higher(&reports, &highest, &token, progress)
}

fn add_if_higher(reports: &Reports, highest: &Mutex<f64>, token: &ProgressToken, progress: Progress) {
    let percent = progress.fraction * 100.0;
    let mut highest = lock(highest);
    if percent > *highest {
        *highest = percent;
        let mut report = ProgressNotificationParam::new(token.clone(), percent).with_total(100.0);
        if !progress.message.is_empty() {
            report.message = Some(progress.message);
        }
        reports.add(report);
    }
}

/// Runs the call and sends its progress reports, the last before the result.
async fn reporting<T>(call: impl Future<Output = T>, reports: &Reports, peer: Peer<RoleServer>) -> T {
    let ended = CancellationToken::new();
    let mut send = pin!(async {
        loop {
            let report = tokio::select! {
                biased;
                report = reports.next() => report,
                () = ended.cancelled() => return,
            };
            if peer.notify_progress(report).await.is_err() {
                return;
            }
        }
    });
    let mut call = pin!(call);
    let value = tokio::select! {
        value = &mut call => value,
        () = &mut send => return call.await,
    };
    ended.cancel();
    let _ = timeout(LAST_REPORTS, send).await;
    value
}
