//! The client of a call, as state for tools.

mod ask_client;
mod input;

pub use ask_client::ask_client;
pub use input::Elicited;
pub(super) use input::{Inputs, is_stateless};

use crate::macros::debug;
use rmcp::RoleServer;
#[expect(deprecated, reason = "logging is still part of the protocol")]
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json, to_value};
use std::sync::Arc;
use toolkit_core::context::TraceContext;
use toolkit_core::{ToolContext, ToolError};

/// The client that called a tool, with the data of the request. Clones are cheap.
///
/// A tool takes it as state, or gets it with [`Caller::from_context`]:
///
/// ```
/// use toolkit_ai::{ToolError, ToolRegistry, tool, tools};
/// use toolkit_ai::mcp::server::{Caller, LogLevel};
///
/// /// Greets the program of the user.
/// #[tool]
/// async fn greet(#[state] caller: &Caller) -> Result<String, ToolError> {
///     caller.log(LogLevel::Info, "greeting").await;
///     Ok(format!("Hello, {}!", caller.client_name().unwrap_or_default()))
/// }
///
/// let registry = ToolRegistry::from_tools(tools![greet])?;
/// let server = toolkit_ai::mcp::server::McpServer::new(registry)?;
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct Caller(Arc<CallerData>);

struct CallerData {
    context: RequestContext<RoleServer>,
    inputs: Inputs,
    /// The minimum severity of log messages; `None` if the client wants none.
    log_level: Option<LogLevel>,
}

/// The severity of a log message, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LogLevel {
    /// Details for developers.
    Debug,
    /// General information, such as the current step.
    Info,
    /// Events that are normal but significant.
    Notice,
    /// Conditions that may lead to an error.
    Warning,
    /// Errors.
    Error,
    /// Failures of a part of the server.
    Critical,
    /// Conditions that require immediate action.
    Alert,
    /// The server is unusable.
    Emergency,
}

#[expect(deprecated, reason = "logging is still part of the protocol")]
impl LogLevel {
    pub(super) fn from_level(level: LoggingLevel) -> Self {
        to_value(level).and_then(from_value).unwrap_or(Self::Info)
    }

    fn published(self) -> LoggingLevel {
        to_value(self).and_then(from_value).unwrap_or(LoggingLevel::Info)
    }
}

impl Caller {
    pub(super) fn new(context: RequestContext<RoleServer>, inputs: Inputs, log_level: LogLevel) -> Self {
        // Since version 2026-07-28, each request asks for log messages itself.
        let log_level = if is_stateless(&context) {
            context.meta.log_level().map(LogLevel::from_level)
        } else {
            Some(log_level)
        };
        Self(Arc::new(CallerData { context, inputs, log_level }))
    }

    /// Returns the caller of a call; `None` if it is no MCP client.
    #[must_use]
    pub fn from_context(context: &ToolContext) -> Option<&Self> {
        context.state::<Self>()
    }

    pub(super) fn inputs(&self) -> &Inputs {
        &self.0.inputs
    }

    /// Returns whether a call can end with a question; the client then repeats it with the answer.
    pub(super) fn can_suspend(&self) -> bool {
        is_stateless(&self.0.context)
    }

    /// Returns the name that the client gives its program.
    #[must_use]
    pub fn client_name(&self) -> Option<String> {
        self.0.context.client_info().map(|client| client.name)
    }

    /// Returns the version that the client gives its program.
    #[must_use]
    pub fn client_version(&self) -> Option<String> {
        self.0.context.client_info().map(|client| client.version)
    }

    /// Returns the protocol version of the request, such as `2026-07-28`.
    #[must_use]
    pub fn protocol_version(&self) -> Option<String> {
        self.0.context.protocol_version().map(|version| version.as_str().to_owned())
    }

    /// Returns a value of the request's `_meta`.
    #[must_use]
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.0.context.meta.0.0.get(key)
    }

    /// Returns the trace context of the request, which is sent to servers that the tool calls.
    #[must_use]
    pub fn trace_context(&self) -> Option<TraceContext> {
        let meta = &self.0.context.meta;
        let mut trace = TraceContext::new(meta.get_traceparent()?);
        trace.state = meta.get_tracestate().map(str::to_owned);
        trace.baggage = meta.get_baggage().map(str::to_owned);
        Some(trace)
    }

    /// Returns a header of the HTTP request; `None` without HTTP, or if it is missing or not text.
    #[cfg(feature = "server-http")]
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.http()?.headers.get(name)?.to_str().ok()
    }

    /// Returns an extension of the HTTP request, such as token claims added by a layer of the
    /// program's router.
    #[cfg(feature = "server-http")]
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.http()?.extensions.get()
    }

    #[cfg(feature = "server-http")]
    fn http(&self) -> Option<&http::request::Parts> {
        self.0.context.extensions.get()
    }

    /// Returns whether the client can ask the user with a form.
    #[must_use]
    pub fn can_elicit(&self) -> bool {
        let capabilities = self.0.context.client_capabilities().unwrap_or_default();
        // A client that declares no mode supports forms.
        capabilities.elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    }

    /// Sends a log message, unless the client does not want this level.
    pub async fn log(&self, level: LogLevel, data: impl Into<Value>) {
        if self.0.log_level.is_none_or(|least| level < least) {
            return;
        }
        #[expect(deprecated, reason = "logging is still part of the protocol")]
        {
            let message = LoggingMessageNotificationParam::new(level.published(), data.into());
            // Without a connection, the call is cancelled anyway.
            let _ = self.0.context.peer.notify_logging_message(message).await;
        }
    }

    /// Asks the user to fill in a form.
    ///
    /// `schema` is an object with properties of plain types, and accepted answers are checked against it.
    /// `key` identifies the question within the call.
    ///
    /// With protocol version 2026-07-28, the call ends here, and the client repeats it with the answer. The
    /// tool then runs from its beginning, so ask before any side effect.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::{ToolError, tool};
    /// use toolkit_ai::mcp::server::{Caller, Elicited};
    ///
    /// /// Books a table.
    /// #[tool]
    /// async fn book(#[state] caller: &Caller) -> Result<String, ToolError> {
    ///     let schema = json!({"type": "object", "properties": {"guests": {"type": "integer"}}, "required": ["guests"]});
    ///     match caller.elicit("guests", "For how many guests?", schema).await? {
    ///         Elicited::Accepted(form) => Ok(format!("booked for {}", form["guests"])),
    ///         _ => Ok("not booked".to_owned()),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The client cannot ask the user, or the connection is lost.
    pub async fn elicit(
        &self,
        key: &str,
        message: impl Into<String>,
        schema: Value,
    ) -> Result<Elicited, ToolError> {
        let params = json!({"mode": "form", "message": message.into(), "requestedSchema": schema});
        self.request(key, "elicitation/create", params).await.map(Elicited::from_answer)
    }

    /// Sends a request to the client, and returns the result. `method` is `elicitation/create`,
    /// `sampling/createMessage` or `roots/list`.
    ///
    /// [`elicit`](Self::elicit) explains `key`, and how calls are repeated. Requests whose futures
    /// the tool joins reach the client together.
    ///
    /// # Errors
    /// The client does not support the request or refuses it, or the connection is lost.
    pub async fn request(&self, key: &str, method: &str, params: Value) -> Result<Value, ToolError> {
        self.0.inputs.request(&self.0.context, key, method, params).await
    }
}

debug!(Caller, self, "client": self.client_name(), "protocol_version": self.protocol_version());
