//! One call of a tool: from the request to the response.

use super::arguments;
use super::caller::Caller;
use super::handler::Handler;
use super::input::{Inputs, Suspension};
use super::results::{busy, failure, success};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ProgressNotificationParam, ProgressToken, Resource,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolkit_core::context::Progress;
use toolkit_core::{
    CallId, ErrorKind, RunContext, ToolCall, ToolDefinition, ToolError, ToolRegistry, ToolResult,
};

/// The number of progress reports that wait for a slow client. Further reports are dropped.
const PROGRESS_REPORTS: usize = 64;

/// The time to send the last progress reports after the end of the call.
const LAST_REPORTS: Duration = Duration::from_secs(1);

pub(super) async fn run(
    handler: &Handler,
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let settings = &handler.settings;
    let registry = settings.dispatcher.registry();
    let names = registry.wire_names(&settings.format());
    let name = names.unspell(&request.name);
    let Some(tool) = registry.get(name) else { return unknown(&registry, name) };
    let Ok(_permit) = settings.permits.try_acquire() else { return Ok(busy(settings.max_calls).into()) };

    let text = arguments::text(&context.extensions, request.arguments.take());
    let call = ToolCall::new(settings.next_call_id(), name, &*text);
    let inputs = Inputs::new(&settings.secret, name, text, request.input_responses, request.request_state)?;
    let cancellation = context.ct.clone();
    let reports = context.meta.get_progress_token().map(|token| (token, context.peer.clone()));
    let caller = Caller::new(handler, context, inputs);
    let run = match run_context(handler, &caller) {
        Ok(run) => run,
        Err(error) => return Ok(failure(&error).into()),
    };

    let links = Links { handler, call: call.id.clone() };
    let result = match reports {
        None => dispatch(handler, run, call, cancellation, &caller).await,
        Some((token, peer)) => {
            let (sender, receiver) = mpsc::channel(PROGRESS_REPORTS);
            // If too many reports are waiting, this report is dropped. The client sees a later report
            // instead.
            let run = run.on_progress(move |progress| drop(sender.try_send(progress)));
            // Boxed, so that calls without reports stay small.
            let call = Box::pin(dispatch(handler, run, call, cancellation, &caller));
            Box::pin(reporting(call, receiver, token, peer)).await
        }
    };
    match result {
        Err(suspension) => suspension.into_response(&settings.secret),
        Ok(result) => {
            let links = links.take();
            let mut result = complete(result, tool.definition(), || full_json(handler, &links));
            result.content.extend(links.into_iter().map(ContentBlock::resource_link));
            Ok(result.into())
        }
    }
}

/// The links to the full texts of one call. Dropping this value removes the links from the store, however the
/// call has ended.
struct Links<'a> {
    handler: &'a Handler,
    call: CallId,
}

impl Links<'_> {
    fn take(&self) -> Vec<Resource> {
        let outputs = self.handler.settings.outputs.as_ref();
        outputs.map(|outputs| outputs.take_links(&self.call)).unwrap_or_default()
    }
}

impl Drop for Links<'_> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Returns the response to a call of an unknown or disabled tool. A call of an unknown tool gets a protocol
/// error. A call of a disabled tool gets an error for the model.
fn unknown(registry: &ToolRegistry, name: &str) -> Result<CallToolResponse, ErrorData> {
    match registry.validate(name, "{}") {
        Err(error) if error.kind() != ErrorKind::NotFound => Ok(failure(&error).into()),
        Err(error) => Err(ErrorData::invalid_params(error.message().to_owned(), None)),
        Ok(()) => Err(ErrorData::invalid_params(format!("Tool `{name}` not found"), None)),
    }
}

/// Returns the run context of one call: the run context of the session, with the state of the call added.
fn run_context(handler: &Handler, caller: &Caller) -> Result<RunContext, ToolError> {
    let mut run = handler.run().with_state(caller.clone());
    if let Some(trace) = caller.trace_context() {
        run = run.with_extension(trace);
    }
    let add = || handler.settings.call_state.iter().try_fold(run, |run, state| state(caller, run));
    // A panic would end the task of the request without a response.
    catch_unwind(AssertUnwindSafe(add))
        .unwrap_or_else(|_| Err(ToolError::failed("the server cannot tell who calls the tool")))
}

/// Runs the call until it ends, or until it asks the client a question that only a repeated request can
/// answer.
async fn dispatch(
    handler: &Handler,
    run: RunContext,
    call: ToolCall,
    cancellation: CancellationToken,
    caller: &Caller,
) -> Result<ToolResult, Suspension> {
    let (id, name) = (call.id.clone(), call.name.clone());
    let dispatcher = handler.settings.dispatcher.clone().with_run(run);
    let results = dispatcher.dispatch_with([call], cancellation);
    let results = if caller.can_suspend() {
        tokio::select! {
            biased;
            results = results => results,
            () = caller.inputs().suspended() => Vec::new(),
        }
    } else {
        results.await
    };
    if let Some(suspension) = caller.inputs().take_suspension() {
        return Err(suspension);
    }
    let lost = || ToolResult::new(id, name.clone(), Err(ToolError::cancelled(&name)));
    Ok(results.into_iter().next().unwrap_or_else(lost))
}

fn complete(
    result: ToolResult,
    definition: &ToolDefinition,
    full_json: impl FnOnce() -> Option<Value>,
) -> CallToolResult {
    match result.outcome.and_then(|output| success(output, definition, full_json)) {
        Ok(result) => result,
        Err(error) => failure(&error),
    }
}

/// Returns the full JSON of a truncated result, parsed from the first full text of the call.
fn full_json(handler: &Handler, links: &[Resource]) -> Option<Value> {
    let text = handler.settings.outputs.as_ref()?.json(&links.first()?.uri)?;
    serde_json::from_str(&text).ok()
}

/// Runs the call and sends its progress reports to the client. All reports are sent before the result.
async fn reporting<T>(
    call: impl Future<Output = T>,
    mut reports: mpsc::Receiver<Progress>,
    token: ProgressToken,
    peer: Peer<RoleServer>,
) -> T {
    let ended = CancellationToken::new();
    let mut send = pin!(async {
        let mut sent = f64::NEG_INFINITY;
        loop {
            let report = tokio::select! {
                biased;
                report = reports.recv() => report,
                () = ended.cancelled() => None,
            };
            let Some(report) = report else { return };
            // The protocol demands that progress increases.
            let percent = report.fraction * 100.0;
            if percent > sent {
                sent = percent;
                let mut params = ProgressNotificationParam::new(token.clone(), percent).with_total(100.0);
                params.message = Some(report.message).filter(|message| !message.is_empty());
                if peer.notify_progress(params).await.is_err() {
                    return;
                }
            }
        }
    });
    let mut call = pin!(call);
    let value = tokio::select! {
        value = &mut call => value,
        () = &mut send => return call.await,
    };
    ended.cancel();
    let _ = tokio::time::timeout(LAST_REPORTS, send).await;
    value
}
