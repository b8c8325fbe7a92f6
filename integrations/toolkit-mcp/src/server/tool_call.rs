//! One call of a tool: from the request to the response.

use super::caller::{Caller, LogLevel};
use super::client_lines::RawArguments;
use super::definitions::is_wrapped;
use super::input::{Inputs, Suspension};
use super::results::{busy, failure, success};
use super::server_settings::ServerSettings;
use crate::locks::lock;
use crate::reports::Reports;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ContentBlock, ErrorData, ProgressNotificationParam,
    ProgressToken, Resource,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolkit_core::context::Progress;
use toolkit_core::{CallId, ErrorKind, RunContext, Tool, ToolCall, ToolError, ToolResult};

/// The time to send the waiting progress reports after the end of the call.
const LAST_REPORTS: Duration = Duration::from_secs(10);

/// The data of a client's session that its calls need.
pub(super) struct CallSession<'a> {
    pub(super) settings: &'a ServerSettings,
    pub(super) run: RunContext,
    /// The minimum severity of log messages for the client.
    pub(super) log_level: LogLevel,
}

/// Runs a call and returns the response to its request.
pub(super) async fn run(
    session: CallSession<'_>,
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let CallSession { settings, run, log_level } = session;
    let Ok(_permit) = settings.permits.try_acquire() else { return Ok(busy(settings.max_calls).into()) };
    let names = settings.names(&settings.dispatcher.registry());
    let name = names.unspell(&request.name);

    let text = RawArguments::text(&context.extensions, request.arguments.take());
    let call = ToolCall::new(settings.next_call_id(), name, &*text);
    let inputs = Inputs::new(&settings.secret, name, text, request.input_responses, request.request_state)?;
    let cancellation = context.ct.clone();
    let reports = context.meta.get_progress_token().map(|token| (token, context.peer.clone()));
    let caller = Caller::new(context, inputs, log_level);
    let run = match run_context(settings, run, &caller) {
        Ok(run) => run,
        Err(error) => return Ok(failure(&error).into()),
    };

    let links = Links { settings, call: call.id.clone() };
    let ended = match reports {
        None => dispatch(settings, run, call, cancellation, &caller).await,
        Some((token, peer)) => {
            let reports = Arc::new(Reports::default());
            let run = run.on_progress(increasing(reports.clone(), token));
            // Boxed, so that calls without reports stay small.
            let call = Box::pin(dispatch(settings, run, call, cancellation, &caller));
            Box::pin(reporting(call, &reports, peer)).await
        }
    };
    let (result, tool) = match ended {
        Ok(found) => found,
        Err(suspension) => return suspension.into_response(&settings.secret),
    };
    let links = links.take();
    let schema = tool.as_ref().and_then(|tool| tool.definition().output_schema());
    let outcome = result.outcome.and_then(|output| {
        let full_json = || full_json(settings, &links);
        success(output, &result.name, schema, full_json)
    });
    let mut result = match outcome {
        Ok(mut result) => {
            if !caller.can_suspend() && schema.is_some_and(is_wrapped) {
                result.structured_content = result.structured_content.map(|value| json!({ "result": value }));
            }
            result
        }
        Err(error) if tool.is_none() && error.kind() == ErrorKind::NotFound => {
            return Err(ErrorData::invalid_params(error.message().to_owned(), None));
        }
        Err(error) => failure(&error),
    };
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
    Ok(result.into())
}

/// The links to the full texts of one call. When this value is dropped, the links are removed from the store, even if
/// the call was cancelled.
struct Links<'a> {
    settings: &'a ServerSettings,
    call: CallId,
}

impl Links<'_> {
    fn take(&self) -> Vec<Resource> {
        let outputs = self.settings.outputs.as_ref();
        outputs.map(|outputs| outputs.take_links(&self.call)).unwrap_or_default()
    }
}

impl Drop for Links<'_> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Returns the run context of one call: the run context of the session, with the state of the call added.
fn run_context(
    settings: &ServerSettings,
    session: RunContext,
    caller: &Caller,
) -> Result<RunContext, ToolError> {
    let mut run = session.with_state(caller.clone());
    if let Some(trace) = caller.trace_context() {
        run = run.with_extension(trace);
    }
    let add = || settings.call_state.iter().try_fold(run, |run, state| state(caller, run));
    // A panic would end the task of the request without a response.
    catch_unwind(AssertUnwindSafe(add))
        .unwrap_or_else(|_| Err(ToolError::failed("the server cannot tell who calls the tool")))
}

/// Runs the call until it ends, or until it asks the client a question that only a repeated request can
/// answer.
async fn dispatch(
    settings: &ServerSettings,
    run: RunContext,
    call: ToolCall,
    cancellation: CancellationToken,
    caller: &Caller,
) -> Result<(ToolResult, Option<Arc<dyn Tool>>), Suspension> {
    let dispatcher = settings.dispatcher.clone().with_run(run);
    let mut running = pin!(dispatcher.dispatch_found(call, cancellation));
    let ended = if caller.can_suspend() {
        tokio::select! {
            biased;
            ended = &mut running => Some(ended),
            () = caller.inputs().suspended() => None,
        }
    } else {
        None
    };
    match (caller.inputs().take_suspension(), ended) {
        (Some(suspension), _) => Err(suspension),
        (None, Some(ended)) => Ok(ended),
        (None, None) => Ok(running.await),
    }
}

/// Returns the full JSON of a truncated result, parsed from the first full text of the call.
fn full_json(settings: &ServerSettings, links: &[Resource]) -> Option<Value> {
    let text = settings.outputs.as_ref()?.json(&links.first()?.uri)?;
    serde_json::from_str(&text).ok()
}

/// Returns a listener that adds reports to a queue. The protocol demands that progress increases, so other
/// reports are dropped.
fn increasing(reports: Arc<Reports>, token: ProgressToken) -> impl Fn(Progress) + Send + Sync + 'static {
    let highest = Mutex::new(f64::NEG_INFINITY);
    move |progress| {
        let percent = progress.fraction * 100.0;
        let mut highest = lock(&highest);
        if percent > *highest {
            *highest = percent;
            let mut report = ProgressNotificationParam::new(token.clone(), percent).with_total(100.0);
            report.message = Some(progress.message).filter(|message| !message.is_empty());
            reports.add(report);
        }
    }
}

/// Runs the call and sends its progress reports to the client. The waiting reports are sent before the result.
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
