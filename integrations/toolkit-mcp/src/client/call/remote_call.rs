//! One call of a server's tool.

use crate::client::connection::{MOST_QUESTIONS, Pending, Session};
use crate::client::content::{any_outcome, outcome, short};
use crate::client::failures::chain;
use crate::client::settings::ClientSettings;
use crate::client::tools::RemoteTool;
use crate::client::transport::ProgressSink;
use crate::numbers::is_exact;
use crate::reports::Reports;
use crate::request_span::{RequestSpan, RequestTarget};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, InputRequest, InputRequiredResult, InputResponses,
    ProgressNotificationParam, RequestMetaObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_core::context::TraceContext;
use toolkit_core::foreign::clean;
use toolkit_core::{ErrorKind, ToolContext, ToolError, ToolOutput};

/// The maximum number of requests in one call. All but the first answer questions of the server, or only
/// continue the call.
const ROUNDS: usize = 16;

const PAUSE: Duration = Duration::from_millis(200);

pub(crate) fn unreachable(server: &str) -> ToolError {
    let advice = "try again later, or continue without its tools";
    ToolError::failed(format_args!("MCP server `{server}` is not reachable; {advice}")).with_retryable(true)
}

pub(crate) struct RemoteCall<'a> {
    session: &'a Session,
    pub(crate) tool: &'a RemoteTool,
    pub(crate) context: &'a ToolContext,
    is_expired: AtomicBool,
}

impl<'a> RemoteCall<'a> {
    pub(crate) fn new(session: &'a Session, tool: &'a RemoteTool, context: &'a ToolContext) -> Self {
        Self { session, tool, context, is_expired: AtomicBool::new(false) }
    }

    /// Returns whether the server has ended the session instead of executing the call.
    pub(crate) fn is_expired(&self) -> bool {
        self.is_expired.load(Ordering::Relaxed)
    }

    pub(crate) async fn run(&self, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let limit = self.settings().max_call_time;
        // This limit also ends questions to the user.
        timeout(limit, self.rounds(arguments)).await.unwrap_or_else(|_| Err(self.timed_out(limit)))
    }

    async fn rounds(&self, arguments: Map<String, Value>) -> Result<ToolOutput, ToolError> {
        let mut params = CallToolRequestParams::new(self.tool.name.clone()).with_arguments(arguments);
        for _ in 0..ROUNDS {
            match self.once(params.clone()).await? {
                ServerResult::CallToolResult(result) => return self.checked(outcome(result)?),
                ServerResult::InputRequiredResult(required) => {
                    (params.input_responses, params.request_state) = self.answers(required).await?;
                }
                ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
                    return Ok(ToolOutput::new(Vec::new()));
                }
                // The tool has run, so what can be read is kept.
                other => return self.checked(any_outcome(serde_json::to_value(other).unwrap_or_default())?),
            }
        }
        Err(self.error("asked too many questions", "use another tool"))
    }

    /// Checks structured content against the output schema of the tool. Content with a number that a JSON
    /// value cannot hold is left out, and may be missing: the text has the number. The error contains the
    /// text of the refused result, because the tool has already run.
    fn checked(&self, output: ToolOutput) -> Result<ToolOutput, ToolError> {
        let Some(schema) = self.tool.definition.output_schema().filter(|_| self.settings().check_results)
        else {
            return Ok(output);
        };
        let fault = match output.structured() {
            None => match serde_json::from_str(&output.to_text()) {
                Ok(value) if is_exact(schema, &value).is_ok() => return Ok(output),
                _ => "structured content is missing".to_owned(),
            },
            Some(structured) => match is_exact(schema, structured) {
                Ok(true) => return Ok(output),
                Ok(false) => return Ok(ToolOutput::new(output.into_content())),
                Err(first) => first.to_string(),
            },
        };
        let what = format!("broke the output schema of the tool: {fault}");
        let mut advice = "the tool has run, so check before trying again".to_owned();
        let text = short(&clean(&output.to_text()));
        if !text.is_empty() {
            advice.push_str(". It returned: ");
            advice.push_str(&text);
        }
        Err(self.error(&what, &advice))
    }

    async fn once(&self, params: CallToolRequestParams) -> Result<ServerResult, ToolError> {
        let span = self.session.open_span("tools/call", RequestTarget::Tool(&self.tool.name));
        let response = span.around(self.exchange(params, &span)).await;
        span.end(match &response {
            Ok(ServerResult::CallToolResult(result)) if result.is_error == Some(true) => Some("tool_error"),
            Ok(_) => None,
            Err(error) => Some(error.kind().as_str()),
        });
        response
    }

    /// Sends one request and waits for the response. Passes on progress reports meanwhile.
    async fn exchange(
        &self,
        params: CallToolRequestParams,
        span: &RequestSpan,
    ) -> Result<ServerResult, ToolError> {
        // Dropped after `reports`: dropping `pending` removes their sink.
        let mut pending: Option<Pending> = None;
        let reports = Arc::new(Reports::default());
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(ProgressSink(Arc::downgrade(&reports)));
        let limit = self.settings().call_timeout;
        let deadline = sleep(limit);
        tokio::pin!(deadline);
        let ended = &self.session.wire.ended;
        let sending = self.session.send(ClientRequest::CallToolRequest(request), self.options());
        tokio::pin!(sending);
        // Repeating the same progress is no progress.
        let mut progress = f64::NEG_INFINITY;
        loop {
            let response = async {
                match &mut pending {
                    Some(pending) => Ok(Some(pending.response().await?)),
                    None => {
                        let sent = pending.insert(sending.as_mut().await?);
                        sent.id().inspect(|id| span.set_id(id));
                        Ok(None)
                    }
                }
            };
            tokio::select! {
                biased;
                report = reports.next() => {
                    if report.progress > progress {
                        progress = report.progress;
                        deadline.set(sleep(limit));
                    }
                    self.report(report);
                }
                response = response => match response {
                    Ok(Some(response)) => return Ok(response),
                    Ok(None) => {}
                    Err(error) => {
                        span.set_refusal(&error);
                        return Err(self.failed(&error));
                    }
                },
                () = ended.cancelled() => return Err(self.lost(&self.session.wire.reason())),
                () = &mut deadline => {
                    // While the user is asked, the server waits for the client.
                    if self.session.handler.questions.available_permits() == MOST_QUESTIONS {
                        return Err(self.timed_out(limit));
                    }
                    deadline.set(sleep(limit));
                }
            }
        }
    }

    fn timed_out(&self, limit: Duration) -> ToolError {
        ToolError::timed_out(self.context.tool_name().as_str(), limit)
    }

    pub(crate) fn settings(&self) -> &ClientSettings {
        &self.session.handler.settings
    }

    /// Adds the trace context of the call.
    fn options(&self) -> PeerRequestOptions {
        let options = PeerRequestOptions::no_options();
        let Some(trace) = self.context.extension::<TraceContext>() else { return options };
        let mut meta = RequestMetaObject::default();
        meta.set_traceparent(&trace.parent);
        if let Some(state) = &trace.state {
            meta.set_tracestate(state);
        }
        if let Some(baggage) = &trace.baggage {
            meta.set_baggage(baggage);
        }
        options.with_meta(meta)
    }

    fn report(&self, report: ProgressNotificationParam) {
        let total = report.total.filter(|total| *total > 0.0);
        let fraction = total.map_or(0.0, |total| report.progress / total);
        let message = report.message.map(|message| short(&clean(&message)));
        self.context.progress(fraction, message.unwrap_or_else(|| report.progress.to_string()));
    }

    /// Returns the answers to the server's questions, and the request state to send back.
    async fn answers(
        &self,
        required: InputRequiredResult,
    ) -> Result<(Option<InputResponses>, Option<String>), ToolError> {
        let questions = required.input_requests.unwrap_or_default();
        if questions.is_empty() {
            if required.request_state.is_none() {
                return Err(self.error("asked for input without a question", "use another tool"));
            }
            sleep(PAUSE).await;
        }
        let mut answers = InputResponses::new();
        for (key, question) in questions {
            let answer = match question {
                InputRequest::Elicitation(request) => {
                    let answer = self.session.handler.elicit(request.params).await;
                    serde_json::to_value(answer).unwrap_or_default()
                }
                InputRequest::ListRoots(_) => json!({"roots": []}),
                _ => {
                    let what = "asked for something that this program does not offer";
                    return Err(self.error(what, "use another tool"));
                }
            };
            answers.insert(key, answer);
        }
        if answers.is_empty() {
            return Ok((None, required.request_state));
        }
        Ok((Some(answers), required.request_state))
    }

    #[cfg(feature = "client-http")]
    fn lost_request(&self, error: &(dyn std::error::Error + 'static), details: &str) -> ToolError {
        use crate::client::failures::HttpFault;
        let is_unreachable =
            matches!(error.downcast_ref(), Some(HttpFault::Client(error)) if error.is_unsent());
        let peer = self.session.peer.peer_info();
        let has_session = peer.is_none_or(|peer| peer.protocol_version.has_initialize());
        // Without a session, another server behind the same address may answer the next request.
        if is_unreachable || has_session {
            self.session.replace(details);
        }
        if is_unreachable { unreachable(&self.settings().name) } else { self.lost(details) }
    }

    fn failed(&self, error: &ServiceError) -> ToolError {
        let details = short(&chain(error));
        #[cfg(feature = "client-http")]
        if crate::client::failures::is_expired(error) {
            self.session.replace("the server has ended the session");
            self.is_expired.store(true, Ordering::Relaxed);
            return self.of_http(&crate::client::failures::Failure::Expired).with_details(details);
        }
        #[cfg(feature = "client-http")]
        if let ServiceError::TransportSend(failed) = error
            && let Some(failure) = crate::client::failures::Failure::from_error(&*failed.error)
        {
            return self.of_http(&failure).with_details(details);
        }
        let error = match error {
            ServiceError::McpError(data) => {
                let error = self.of_protocol(data);
                if error.kind() == ErrorKind::NotFound {
                    self.session.handler.tools_changed.notify_one();
                }
                error
            }
            ServiceError::Cancelled { .. } => ToolError::cancelled(self.context.tool_name().as_str()),
            ServiceError::TransportClosed if self.session.wire.ended.is_cancelled() => {
                self.lost(&self.session.wire.reason())
            }
            // Over HTTP, the stream with the answer ended early.
            ServiceError::TransportClosed => self.broken_off(),
            error if error.is_authorization_required() => self.no_access(),
            ServiceError::TransportSend(_) if details.contains("exceeded the maximum size") => {
                self.too_large()
            }
            #[cfg(feature = "client-http")]
            ServiceError::TransportSend(failed)
                if failed.error.is::<crate::client::failures::HttpFault>() =>
            {
                self.lost_request(&*failed.error, &details)
            }
            ServiceError::TransportSend(_) => {
                self.session.replace(&details);
                self.lost(&details)
            }
            _ => self.invalid(),
        };
        error.with_details(details)
    }
}
