//! The span of a request of the protocol, at the client and at the server, and its measurement, with
//! OpenTelemetry's names. Without the feature `tracing`, all functions here do nothing.

use std::sync::OnceLock;
use toolkit_core::__private::trace::{Empty, OpenSpan, Timer, is_observed, measure, span};

#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestTarget<'a> {
    /// Such as a list.
    #[cfg(feature = "client")]
    Unnamed,
    Tool(&'a str),
    Prompt(&'a str),
    Resource(&'a str),
}

/// The connection, as far as known.
#[derive(Debug, Clone, Default)]
pub(crate) struct NetworkPath {
    /// `pipe` for a child process, `tcp` for HTTP.
    pub(crate) transport: Option<&'static str>,
    /// The server's host and port.
    pub(crate) server: Option<(String, u16)>,
}

pub(crate) struct RequestFacts<'a> {
    pub(crate) is_client: bool,
    pub(crate) method: &'a str,
    pub(crate) target: RequestTarget<'a>,
    pub(crate) protocol: Option<String>,
    pub(crate) session: Option<&'a str>,
    pub(crate) path: &'a NetworkPath,
    /// The `traceparent` of the client, at the server.
    pub(crate) parent: Option<&'a str>,
}

/// The span of one request. Dropping it before the end records a cancellation.
pub(crate) struct RequestSpan(Option<Box<OpenRequest>>);

struct OpenRequest {
    span: OpenSpan,
    is_client: bool,
    method: String,
    tool: Option<String>,
    prompt: Option<String>,
    protocol: Option<String>,
    transport: Option<&'static str>,
    started: Timer,
    /// The error code in the answer.
    code: OnceLock<i32>,
    has_ended: OnceLock<()>,
}

impl RequestSpan {
    /// Opens the span of a request. `facts` is called only if there is a subscriber.
    pub(crate) fn open<'a>(facts: impl FnOnce() -> RequestFacts<'a>) -> Self {
        if !is_observed() {
            return Self(None);
        }
        Self(Some(Box::new(OpenRequest::new(facts()))))
    }

    pub(crate) fn set_id(&self, id: impl ToString) {
        if let Some(open) = &self.0 {
            open.span.record("jsonrpc.request.id", id.to_string());
        }
    }

    /// Sets the error code in the answer, which is then the type of the error.
    pub(crate) fn set_code(&self, code: i32) {
        if let Some(open) = &self.0 {
            open.code.get_or_init(|| code);
        }
    }

    /// Runs `work`, which waits for the answer, within the span.
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let span = self.0.as_ref().map(|open| open.span.clone());
        span.unwrap_or_else(OpenSpan::current).around(work)
    }

    /// Ends the span, and measures the request.
    pub(crate) fn end(&self, error: Option<&str>) {
        if let Some(open) = &self.0 {
            open.end(error);
        }
    }
}

impl OpenRequest {
    fn new(facts: RequestFacts<'_>) -> Self {
        let RequestFacts { is_client, method, target, protocol, session, path, parent } = facts;
        let [tool, prompt, resource] = match target {
            #[cfg(feature = "client")]
            RequestTarget::Unnamed => [None; 3],
            RequestTarget::Tool(name) => [Some(name), None, None],
            RequestTarget::Prompt(name) => [None, Some(name), None],
            RequestTarget::Resource(uri) => [None, None, Some(uri)],
        };
        // There are too many URIs for names of spans.
        let name = match tool.or(prompt) {
            Some(target) => format!("{method} {target}"),
            None => method.to_owned(),
        };
        let kind = if is_client { "client" } else { "server" };
        let span = span!(
            "mcp_request",
            "otel.name" = name,
            "otel.kind" = kind,
            "otel.status_code" = Empty,
            "mcp.method.name" = method,
            "mcp.protocol.version" = protocol,
            "mcp.resource.uri" = resource,
            "mcp.session.id" = session,
            "jsonrpc.request.id" = Empty,
            "rpc.response.status_code" = Empty,
            "gen_ai.operation.name" = tool.map(|_| "execute_tool"),
            "gen_ai.tool.name" = tool,
            "gen_ai.prompt.name" = prompt,
            "network.transport" = path.transport,
            "network.protocol.name" = path.transport.filter(|name| *name == "tcp").map(|_| "http"),
            "server.address" = path.server.as_ref().map(|(host, _)| host.as_str()),
            "server.port" = path.server.as_ref().map(|(_, port)| *port),
            "traceparent" = parent,
            "error.type" = Empty,
        );
        Self {
            span,
            is_client,
            method: method.to_owned(),
            tool: tool.map(str::to_owned),
            prompt: prompt.map(str::to_owned),
            protocol,
            transport: path.transport,
            started: Timer::start(),
            code: OnceLock::new(),
            has_ended: OnceLock::new(),
        }
    }

    /// Only the first end counts.
    fn end(&self, error: Option<&str>) {
        if self.has_ended.set(()).is_err() {
            return;
        }
        let code = self.code.get().map(i32::to_string);
        let error = error.map(|error| code.as_deref().unwrap_or(error));
        if let Some(code) = &code {
            self.span.record("rpc.response.status_code", code.as_str());
        }
        if let Some(error) = error {
            self.span.fail(error);
        }
        self.measure(code.as_deref(), error);
    }

    /// Emits the duration as an event outside of any span. A server that answers an error code may not know
    /// the name in the request: names that clients invent would be too many.
    fn measure(&self, code: Option<&str>, error: Option<&str>) {
        let seconds = self.started.elapsed().as_secs_f64();
        let is_known = self.is_client || code.is_none();
        let [tool, prompt] = [&self.tool, &self.prompt].map(|name| measured_name(name.as_deref(), is_known));
        measure!(
            "histogram.mcp.client.operation.duration" = self.is_client.then_some(seconds),
            "histogram.mcp.server.operation.duration" = (!self.is_client).then_some(seconds),
            "mcp.method.name" = self.method,
            "mcp.protocol.version" = self.protocol,
            "gen_ai.operation.name" = self.tool.as_ref().map(|_| "execute_tool"),
            "gen_ai.tool.name" = tool,
            "gen_ai.prompt.name" = prompt,
            "network.transport" = self.transport,
            "rpc.response.status_code" = code,
            "error.type" = error,
        );
    }
}

/// Returns the name; `_OTHER` if it may be unknown.
fn measured_name(name: Option<&str>, is_known: bool) -> Option<&str> {
    if is_known { name } else { name.and(Some("_OTHER")) }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.end(Some("cancelled"));
    }
}
