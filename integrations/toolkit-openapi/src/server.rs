//! The server: a registry is a service over HTTP, described by its document.

mod api_call;
mod bound_api;
mod call_events;
mod definition_format;
mod http_caller;
mod http_service;
mod page;
mod problem_details;
mod published;
mod responses;
mod routes;

pub use bound_api::BoundApi;
pub use definition_format::openapi_document;
pub use http_caller::HttpCaller;
pub use http_service::HttpService;
pub use toolkit_http::server::HttpBody;

use crate::OpenApiError;
use published::Api;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::ToSocketAddrs;
use toolkit_core::__private::dispatcher_for;
use toolkit_core::registry::IntoRegistrySource;
use toolkit_core::{BuildError, Dispatcher, ToolError};
use toolkit_http::server::{HttpGuards, checked_path};

/// Publishes the tools of a registry as operations of an HTTP API.
///
/// Each tool is `POST /tools/{name}` with its arguments as the JSON body. `GET /openapi.json` is the
/// document, and `GET /` a page of documentation.
///
/// The body of a response is the JSON, the text, or the bytes of the single media item that the tool returns.
/// Any other output is a JSON object with a list `content`. An error is a problem (RFC 9457), with the
/// [kind](toolkit_core::ErrorKind) as `kind`. With `Accept: text/event-stream`, a call sends progress as
/// server-sent events, and last the event `result` or `error`. `Prefer: wait=10` limits it to ten seconds.
///
/// Calls go through the dispatcher, and are dropped if their client goes away. The document follows a
/// [live](toolkit_core::LiveRegistry) registry.
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit_ai::prelude::*;
/// use toolkit_ai::openapi::server::OpenApiServer;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = ToolRegistry::from_tools(tools![add])?;
/// let dispatcher = Dispatcher::new(registry)?.with_timeout(Duration::from_secs(30));
/// OpenApiServer::from(dispatcher)
///     .with_name("Calculator", "1.0.0")
///     .with_bearer_token(std::env::var("TOKEN")?)
///     .serve("127.0.0.1:8000")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct OpenApiServer {
    api: Api,
}

impl OpenApiServer {
    /// Creates a server for the tools of a registry.
    ///
    /// If a tool takes an [`HttpCaller`], a live registry must declare this state with
    /// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state). A fixed registry need not.
    ///
    /// # Errors
    /// The registry is not complete. See [`Dispatcher::new`].
    pub fn new(registry: impl IntoRegistrySource) -> Result<Self, BuildError> {
        dispatcher_for::<HttpCaller>(registry).map(Self::from)
    }

    fn with(mut self, change: impl FnOnce(&mut Api)) -> Self {
        change(&mut self.api);
        self
    }

    /// Sets the API's title and version in the document, `Tools` and `1.0.0` by default.
    pub fn with_name(self, title: impl Into<String>, version: impl Into<String>) -> Self {
        self.with(|api| {
            api.title = title.into();
            api.version = version.into();
        })
    }

    /// Sets the API's description in the document.
    pub fn with_description(self, description: impl Into<String>) -> Self {
        self.with(|api| api.description = Some(description.into()))
    }

    /// Sets the path before all paths of the server, such as `/api`; empty by default.
    ///
    /// # Errors
    /// The path has a part `.` or `..`, or characters that a URL has only percent-encoded. Also if a part
    /// begins with `:` or `*`, which routers take for the name of a parameter.
    pub fn with_path(self, path: impl AsRef<str>) -> Result<Self, BuildError> {
        let path = checked_path(path.as_ref())?;
        Ok(self.with(|api| api.path = path))
    }

    /// Adds a value to the state of each call, computed from the [`HttpCaller`].
    ///
    /// An error of `state` fails the call.
    ///
    /// The registry must declare the type with
    /// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state). Headers are claims of the client: take
    /// checked claims of an authentication layer from [`HttpCaller::extension`].
    ///
    /// ```
    /// use toolkit_ai::{ToolError, ToolRegistry};
    /// use toolkit_ai::openapi::server::OpenApiServer;
    ///
    /// /// Tools take a parameter `#[state] language: &Language`.
    /// struct Language(String);
    ///
    /// let registry = ToolRegistry::new().with_run_state::<Language>();
    /// let server = OpenApiServer::new(registry)?.with_call_state(|caller| match caller.header("accept-language") {
    ///     Some(language) => Ok(Language(language.to_owned())),
    ///     None => Err(ToolError::failed("the request names no language")),
    /// });
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_call_state<T: Send + Sync + 'static>(
        self,
        state: impl Fn(&HttpCaller) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.with(|api| api.calls.add_state(state))
    }

    /// Sets the maximum number of concurrent calls, 1,000 by default.
    ///
    /// Further calls get the status 503. Zero counts as one.
    pub fn with_max_calls(self, calls: usize) -> Self {
        self.with(|api| api.calls.set_max(calls))
    }

    /// Requires the header `Authorization: Bearer …` with this token in every request, and documents it.
    ///
    /// Spaces and line breaks around it are ignored. An empty token refuses every request.
    ///
    /// For tokens with claims, use an authentication layer around the [service](Self::into_service) and
    /// [`HttpCaller::extension`].
    pub fn with_bearer_token(self, token: impl AsRef<str>) -> Self {
        self.with(|api| api.guards.set_token(token.as_ref()))
    }

    /// Sets the accepted values of the header `Host`, with or without a port.
    ///
    /// The default is the names of this machine, which prevents DNS rebinding. An empty list restores it.
    pub fn with_allowed_hosts<T: Into<String>>(self, hosts: impl IntoIterator<Item = T>) -> Self {
        self.with(|api| api.guards.set_hosts(hosts))
    }

    /// Sets the accepted values of the header `Origin`, such as `https://app.example.com`.
    ///
    /// The default is the origins of this machine. Pages of accepted origins may call the server from a
    /// browser.
    pub fn with_allowed_origins<T: Into<String>>(self, origins: impl IntoIterator<Item = T>) -> Self {
        self.with(|api| api.guards.set_origins(origins))
    }

    toolkit_http::limit_setters!();
    toolkit_http::limit_setters!(peer);

    fn guards(&mut self) -> &mut HttpGuards {
        &mut self.api.guards
    }

    /// Returns the document as JSON text.
    #[must_use]
    pub fn document(&self) -> String {
        self.api.document().to_string()
    }

    /// Returns the server as a tower service, for any HTTP server.
    ///
    /// [Check](Dispatcher::check) rules before: while one selects no tool, all calls are refused.
    ///
    /// A router may nest it at its [path](Self::with_path): requests are accepted with this path and without
    /// it.
    ///
    /// ```no_run
    /// use axum::Router;
    /// use axum::routing::get;
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::openapi::server::OpenApiServer;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = OpenApiServer::new(ToolRegistry::new())?.with_path("/api")?.into_service();
    /// let app: Router = Router::new().route("/health", get(|| async { "ok" })).nest_service("/api", tools);
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    /// axum::serve(listener, app).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn into_service(self) -> HttpService {
        HttpService::new(Arc::new(self.api)).nested()
    }

    /// Returns the server as a router of axum 0.8 (feature `axum-08`).
    ///
    /// [Check](Dispatcher::check) rules before: while one selects no tool, all calls are refused.
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::get;
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::openapi::server::OpenApiServer;
    ///
    /// let tools = OpenApiServer::new(ToolRegistry::new())?.with_path("/api")?.into_router();
    /// let app: Router = Router::new().route("/health", get(|| async { "ok" })).merge(tools);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    #[cfg(feature = "axum-08")]
    pub fn into_router<S: Clone + Send + Sync + 'static>(self) -> axum::Router<S> {
        let path = self.api.path.clone();
        let service = HttpService::new(Arc::new(self.api));
        axum::Router::new()
            .route_service(&format!("{path}/"), service.clone())
            .route_service(&format!("{path}/openapi.json"), service.clone())
            .route_service(&format!("{path}/tools/{{name}}"), service)
    }

    /// Binds the server to an address, such as `127.0.0.1:8000`.
    ///
    /// Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is not free, or a rule [selects no tool](Dispatcher::check). Also if other machines can
    /// reach it, and no [hosts are allowed](Self::with_allowed_hosts) or no [token is
    /// required](Self::with_bearer_token). With your own authentication, serve the
    /// [service](Self::into_service).
    pub async fn bind(self, address: impl ToSocketAddrs) -> Result<BoundApi, OpenApiError> {
        BoundApi::new(self.api, address).await
    }

    /// Serves clients at an address until the process is interrupted or told to terminate.
    ///
    /// # Errors
    /// Those of [`bind`](Self::bind).
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), OpenApiError> {
        self.bind(address).await?.run().await;
        Ok(())
    }
}

/// Serves the tools of a dispatcher.
///
/// If a tool takes an [`HttpCaller`], its registry must declare this state with
/// [`with_run_state`](toolkit_core::ToolRegistry::with_run_state).
impl From<Dispatcher> for OpenApiServer {
    fn from(dispatcher: Dispatcher) -> Self {
        Self { api: Api::new(dispatcher) }
    }
}

impl fmt::Debug for OpenApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenApiServer").field("title", &self.api.title).finish_non_exhaustive()
    }
}
