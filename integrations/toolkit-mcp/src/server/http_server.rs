//! The server over HTTP: settings, a service, and a server bound to an address.

mod http_batch;
mod http_faults;
mod http_service;
mod sessions;

pub use http_service::HttpService;

use self::http_faults::{bind, host_fault, origin_fault, token_fault};
use super::auth::{ProtectedResource, VerifiedToken, WELL_KNOWN};
use super::caller::Caller;
use super::http_answers::refusal;
use super::mcp_server::McpServer;
use super::server_settings::{HttpSettings, ServerSettings};
use crate::macros::{debug, setters};
use crate::mcp_error::McpError;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolkit_core::BuildError;
use toolkit_core::error::BuildProblem;
use toolkit_http::server::{HttpBody, HttpGuards, checked_path, terminated};

/// The time for writing the responses of the last calls.
const LAST_RESPONSES: Duration = Duration::from_millis(500);

const CLOSING: Duration = Duration::from_secs(2);

/// # HTTP
///
/// These methods need the feature `server-http`. Only clients with versions before 2026-07-28 have
/// sessions.
impl McpServer {
    /// Requires the header `Authorization: Bearer …` with this token in every request.
    ///
    /// White space around the token is ignored. An empty token refuses every request, and a
    /// [bound](Self::bind_http) server reports it.
    ///
    /// For tokens with claims, [mount](Self::into_service) the server behind your own authentication layer,
    /// and read them with [`Caller::extension`](super::Caller::extension).
    pub fn with_bearer_token(mut self, token: impl Into<Arc<str>>) -> Self {
        let token: Arc<str> = token.into();
        let http = &mut self.settings.http;
        http.guards.set_token(&token);
        http.set_fault("with_bearer_token", token_fault(&token));
        self.settings.is_private = true;
        self
    }

    /// Protects the server with OAuth: every request needs a token for which `check` returns the
    /// claims.
    ///
    /// The server also publishes the metadata of the resource (RFC 9728), which lead clients to the
    /// authorization server. A request without a valid token gets the status 401, and a call of a
    /// tool whose [scopes](Self::with_scopes) the token lacks gets 403, both with a challenge.
    /// Lists show the tools that the token allows, and a session belongs to the subject of its
    /// token.
    ///
    /// `check` must verify the signature, the issuer, the expiry, and that the audience is this
    /// server. `JwtVerifier` (feature `jwt`) does so for JSON Web Tokens.
    ///
    /// ```
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::serde_json::Value;
    /// use toolkit_ai::mcp::server::McpServer;
    /// use toolkit_ai::mcp::server::{VerifiedToken, ProtectedResource};
    ///
    /// /// Returns the claims of a valid token. Here stands the question to the authorization server.
    /// async fn claims(token: String) -> Option<Value> {
    ///     None
    /// }
    ///
    /// let resource = ProtectedResource::new("https://tools.example.com/mcp", ["https://login.example.com"])
    ///     .with_scopes(["notes:read"]);
    /// let server = McpServer::new(ToolRegistry::new())?
    ///     .with_allowed_hosts(["tools.example.com"])
    ///     .with_oauth(resource, |token| async { claims(token).await.map(VerifiedToken::from_claims) });
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_oauth<F>(
        self,
        resource: ProtectedResource,
        check: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Option<VerifiedToken>> + Send + 'static,
    {
        self.with(|settings| settings.http.oauth = Some(Arc::new(resource.with_check(check))))
            .with_identity(|request| request.extensions.get().map(VerifiedToken::identity))
            .with_scopes(scope_of_token)
    }

    /// Sets the accepted values of the header `Host`, with or without a port.
    ///
    /// By default, and with an empty list, only names of this machine are accepted. So no web page can reach
    /// the server through a host name of its own (DNS rebinding).
    pub fn with_allowed_hosts<T: Into<String>>(mut self, hosts: impl IntoIterator<Item = T>) -> Self {
        let hosts: Vec<String> = hosts.into_iter().map(Into::into).collect();
        let http = &mut self.settings.http;
        http.set_fault("with_allowed_hosts", hosts.iter().find_map(|host| host_fault(host)));
        http.guards.set_hosts(hosts);
        self
    }

    /// Sets the accepted values of the header `Origin`, such as `https://app.example.com:443`; only this
    /// machine by default.
    ///
    /// Requests without this header are always accepted. Pages of accepted origins may call the server from a
    /// browser, and read its answers.
    pub fn with_allowed_origins<T: Into<String>>(mut self, origins: impl IntoIterator<Item = T>) -> Self {
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        let http = &mut self.settings.http;
        http.set_fault("with_allowed_origins", origins.iter().find_map(|origin| origin_fault(origin)));
        http.guards.set_origins(origins);
        self
    }

    /// Binds each session to the identity of the client that opened it.
    ///
    /// Clients with another identity do not find the session.
    ///
    /// `identity` reads the identity from the HTTP request, for instance from an extension that an
    /// authentication layer has added.
    ///
    /// ```
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// /// Added by a layer that checks tokens.
    /// #[derive(Clone)]
    /// struct Subject(String);
    ///
    /// let server = McpServer::new(ToolRegistry::new())?
    ///     .with_identity(|request| request.extensions.get().map(|Subject(subject)| subject.clone()));
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    pub fn with_identity(self, identity: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.http.identity = Some(Arc::new(identity)))
    }

    /// Sets the path of the server at its address and in its router, `/mcp` by default.
    ///
    /// The program mounts a [service](Self::into_service) at a path of its own.
    ///
    /// # Errors
    /// No request can have the path, because a character is not percent-encoded or a part is `.` or `..`.
    /// Also if a part begins with `:` or `*`, which routers take for a parameter, or if the path is one of
    /// the OAuth metadata.
    pub fn with_path(self, path: impl AsRef<str>) -> Result<Self, BuildError> {
        let path = checked_path(path.as_ref())?;
        if path.starts_with(WELL_KNOWN) {
            let message = "it is the path of the metadata of OAuth; use another path";
            return Err(BuildProblem::invalid_path(path, message).into());
        }
        Ok(self.with(|settings| settings.http.path = path))
    }

    /// Returns the server as a tower service, to mount it at any path of any HTTP server.
    ///
    /// [Check](toolkit_core::Dispatcher::check) rules before: while one selects no tool, all calls are
    /// refused.
    ///
    /// ```no_run
    /// use axum::Router;
    /// use axum::routing::get;
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = McpServer::new(ToolRegistry::new())?.into_service();
    /// let app: Router = Router::new().route("/health", get(|| async { "ok" })).nest_service("/mcp", tools);
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    /// axum::serve(listener, app).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// With [OAuth](Self::with_oauth), the service also answers requests for the metadata of the resource.
    /// Clients look for it at the root of the host. A router that nests the service routes
    /// `/.well-known/oauth-protected-resource`, followed by the path of the resource, to a clone of it.
    #[must_use]
    pub fn into_service(self) -> HttpService {
        HttpService::new(Arc::new(self.settings))
    }

    /// Returns the server as a router of axum 0.8, to merge it into an application (feature
    /// `axum-08`). It has the [path](Self::with_path) of the server and those of the OAuth
    /// metadata. [Check](toolkit_core::Dispatcher::check) rules before: while one selects no tool,
    /// all calls are refused.
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::get;
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::mcp::server::McpServer;
    ///
    /// let tools = McpServer::new(ToolRegistry::new())?.into_router();
    /// let app: Router = Router::new().route("/health", get(|| async { "ok" })).merge(tools);
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    #[cfg(feature = "axum-08")]
    pub fn into_router<S: Clone + Send + Sync + 'static>(self) -> axum::Router<S> {
        let paths = paths(&self.settings);
        let service = self.into_service();
        let mut router = axum::Router::new();
        for path in paths {
            router = router.route_service(&path, service.clone());
        }
        router
    }

    /// Binds the server to an address, such as `127.0.0.1:8000`. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is not free, or other machines can reach it although no [hosts are
    /// allowed](Self::with_allowed_hosts). Also if a rule [selects no
    /// tool](toolkit_core::Dispatcher::check), or no request can have the token, a host or an
    /// origin.
    pub async fn bind_http(self, address: impl ToSocketAddrs) -> Result<HttpServer, McpError> {
        self.settings.check_rules()?;
        self.settings.http.check()?;
        let (listener, address) = bind(&self.settings.http.guards, address).await?;
        Ok(HttpServer { listener, address, server: self })
    }

    /// Serves clients over HTTP at an address, until the process receives an interrupt or a request
    /// to terminate.
    ///
    /// # Errors
    /// See [`bind_http`](Self::bind_http).
    pub async fn serve_http(self, address: impl ToSocketAddrs) -> Result<(), McpError> {
        self.bind_http(address).await?.run().await;
        Ok(())
    }
}

setters! { McpServer.settings.http:
    /// Sets the maximum number of open sessions, 1,000 by default.
    ///
    /// Beyond it, a new session ends the one unused for the longest time, at least ten seconds. Without such
    /// a session, the new one is refused with the status 503. With zero, only clients without sessions are
    /// served.
    ///
    /// Clients with protocol version 2026-07-28 have no sessions. A session takes about 80 KiB of memory.
    with_max_sessions(max_sessions: usize) = max_sessions;
    /// Sets how long a session stays open without use, 30 minutes by default.
    ///
    /// A session with an open request or event stream is in use. The client of an ended session begins a new
    /// one.
    with_session_idle(session_idle: Duration) = session_idle;
}

impl McpServer {
    toolkit_http::limit_setters!();
}

impl McpServer {
    toolkit_http::limit_setters!(peer);

    fn guards(&mut self) -> &mut HttpGuards {
        &mut self.settings.http.guards
    }
}

/// Returns the paths of the server, with and without a final slash, and of the OAuth metadata.
fn paths(settings: &ServerSettings) -> BTreeSet<String> {
    let HttpSettings { path, oauth, .. } = &settings.http;
    let mut paths = BTreeSet::from([format!("{path}/")]);
    if !path.is_empty() {
        paths.insert(path.clone());
    }
    paths.extend(oauth.iter().flat_map(|oauth| oauth.metadata_paths()));
    paths
}

/// A server bound to an address.
#[must_use]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    server: McpServer,
}

impl HttpServer {
    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.server.settings.http.path)
    }

    /// Serves clients until the process receives an interrupt or a request to terminate.
    pub async fn run(self) {
        self.run_until(terminated()).await;
    }

    /// Serves clients until `stop` is ready or the [cancellation](McpServer::with_cancellation)
    /// token is cancelled.
    ///
    /// The server then accepts no further calls, and waits for running calls within the
    /// [grace](McpServer::with_grace) time.
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send + 'static) {
        let mut server_settings = self.server.settings;
        let stopped = server_settings.cancellation.child_token();
        // Running calls still have to send their results after the listener has ended.
        let sessions = CancellationToken::new();
        server_settings.cancellation = sessions.clone();
        let settings = Arc::new(server_settings);
        let stop = {
            let stopped = stopped.clone();
            async move {
                stopped.run_until_cancelled(stop).await;
                stopped.cancel();
            }
        };
        let end = async {
            stopped.cancelled().await;
            let ended = timeout(settings.http.guards.grace, settings.calls.all_ended()).await;
            sleep(LAST_RESPONSES).await;
            sessions.cancel();
            sleep(CLOSING).await;
            drop(ended);
        };
        let paths = Arc::new(paths(&settings));
        let service = HttpService::new(settings.clone());
        let serve = settings.http.guards.accept(
            self.listener,
            move |request| answer(paths.clone(), service.clone(), request),
            stop,
        );
        tokio::select! {
            () = serve => sessions.cancel(),
            () = end => {}
        }
    }
}

fn scope_of_token(caller: &Caller) -> String {
    caller.extension::<VerifiedToken>().map(|token| token.scope.clone()).unwrap_or_default()
}

async fn answer(
    paths: Arc<BTreeSet<String>>,
    service: HttpService,
    request: Request<HttpBody>,
) -> Response<HttpBody> {
    if !paths.contains(request.uri().path()) {
        return refusal(StatusCode::NOT_FOUND, "");
    }
    service.handle(request).await
}

debug!(HttpServer, self, "url": self.url());
