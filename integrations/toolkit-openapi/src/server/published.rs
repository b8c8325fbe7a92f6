//! The published API: its settings, its document, and the address where it is served.

use super::definition_format::{DocumentFormat, document};
use super::http_caller::HttpCaller;
use super::routes;
use axum::Router;
use serde_json::{Value, json};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::Semaphore;
use toolkit_core::name::WireNames;
use toolkit_core::{CallId, Dispatcher, RunContext, ToolError};
use toolkit_http::server::{HttpGuards, terminated};

const MAX_CALLS: usize = 1_000;

/// A function that adds state to the run of a call.
type CallState = dyn Fn(&HttpCaller, RunContext) -> Result<RunContext, ToolError> + Send + Sync;

/// The settings of a server.
#[derive(Clone)]
pub(super) struct Api {
    pub(super) dispatcher: Dispatcher,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: Option<String>,
    /// The path before all paths, without a slash at its end.
    pub(super) path: String,
    pub(super) guards: HttpGuards,
    pub(super) permits: Arc<Semaphore>,
    pub(super) call_state: Vec<Arc<CallState>>,
    ids: Arc<AtomicU64>,
}

impl Api {
    pub(super) fn new(dispatcher: Dispatcher) -> Self {
        let mut guards = HttpGuards::new("GET, POST", "retry-after, www-authenticate");
        guards.requires_token = true;
        Self {
            dispatcher,
            title: "Tools".to_owned(),
            version: "1.0.0".to_owned(),
            description: None,
            path: String::new(),
            guards,
            permits: Arc::new(Semaphore::new(MAX_CALLS)),
            call_state: Vec::new(),
            ids: Arc::default(),
        }
    }

    /// Returns the document of the tools that can be called now.
    pub(super) fn document(&self) -> Value {
        let mut info = json!({"title": self.title, "version": self.version});
        if let Some(description) = &self.description {
            info["description"] = description.as_str().into();
        }
        let mut document = document(&self.dispatcher.registry(), info);
        if !self.path.is_empty() {
            document["servers"] = json!([{"url": self.path}]);
        }
        if self.guards.has_token() {
            document["security"] = json!([{"bearer": []}]);
            document["components"]["securitySchemes"] =
                json!({"bearer": {"type": "http", "scheme": "bearer"}});
        }
        document
    }

    /// Returns the published names of the tools.
    pub(super) fn names(&self) -> WireNames {
        self.dispatcher.registry().wire_names(&DocumentFormat)
    }

    /// Returns a call id, unique among all calls of the server.
    pub(super) fn next_call_id(&self) -> CallId {
        format!("http_{}", self.ids.fetch_add(1, Ordering::Relaxed)).into()
    }
}

/// A server bound to an address.
#[must_use]
pub struct BoundApi {
    listener: TcpListener,
    address: SocketAddr,
    api: Arc<Api>,
}

impl BoundApi {
    pub(super) async fn new(api: Api, address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = api.guards.bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, api: Arc::new(api) })
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the page of documentation.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}/", self.address, self.api.path)
    }

    /// Serves clients until the process receives an interrupt or a request to terminate.
    pub async fn run(self) {
        self.run_until(terminated()).await;
    }

    /// Serves clients until `stop` is ready. The server then accepts no further calls, and waits for running calls
    /// within the [grace](super::OpenApiServer::with_grace) time.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let router: Router = routes::router(self.api.clone());
        self.api.guards.serve(self.listener, router, stop).await;
    }
}

impl fmt::Debug for BoundApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundApi").field("url", &self.url()).finish_non_exhaustive()
    }
}
