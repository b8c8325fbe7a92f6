//! The page, from its settings to its router.

#[cfg(feature = "agent")]
use crate::approvals::{self, Inbox};
use crate::call_timeline::CallTimeline;
use crate::page_guard::guard;
use crate::page_logins::PageLogins;
use crate::page_rights::PageRights;
use crate::page_routes::{asset, root, session};
use crate::served_page::{Authorise, Served, ServedState};
use crate::{call_routes, tool_routes};
use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use http::request::Parts;
use std::fmt;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use toolkit_core::error::BuildProblem;
use toolkit_core::{BuildError, Dispatcher};
use toolkit_http::server::{HttpBody, HttpGuards, checked_path};
use tower::ServiceExt;

/// The largest body of a request, in bytes: the arguments of a call.
const LARGEST_BODY: usize = 4 << 20;

/// A page that shows the tools of a dispatcher, and what happens to its calls.
///
/// The page shows the calls of [`dispatcher`](Self::dispatcher), which the program uses in place of its
/// own. It keeps the latest 10,000 calls, in at most 64 MiB.
///
/// A reader enters with an address that is valid [once](PageLogins), or as the program's
/// [authoriser](Self::with_authoriser) says.
///
/// ```
/// use toolkit_ai::{ClosureTool, Dispatcher};
/// use toolkit_page::ToolPage;
///
/// let hello = ClosureTool::without_arguments("hello", "Greets.", || "Hello!")?;
/// let page = ToolPage::new(Dispatcher::new([hello])?).with_path("/inside")?;
/// let dispatcher = page.dispatcher(); // its calls are on the page
/// println!("http://127.0.0.1:8000{}", page.logins().new_path());
/// let app = axum::Router::new().merge(page.into_router()?);
/// # let _: axum::Router = app;
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[must_use]
pub struct ToolPage {
    dispatcher: Dispatcher,
    timeline: Arc<CallTimeline>,
    logins: PageLogins,
    authorise: Option<Arc<Authorise>>,
    rights: PageRights,
    guards: HttpGuards,
    path: String,
    title: String,
    contents: bool,
    /// The hosts other than this machine.
    hosts: Vec<String>,
    #[cfg(feature = "agent")]
    inbox: Option<Arc<dyn Inbox>>,
}

impl ToolPage {
    /// Creates the page of a dispatcher.
    pub fn new(dispatcher: Dispatcher) -> Self {
        let timeline = Arc::new(CallTimeline::new(10_000, 64 << 20));
        Self {
            dispatcher: watched(dispatcher, &timeline),
            timeline,
            logins: PageLogins::new(),
            authorise: None,
            rights: PageRights::all(),
            guards: HttpGuards::new("GET, POST", ""),
            path: String::new(),
            title: "Tools".to_owned(),
            contents: false,
            hosts: Vec::new(),
            #[cfg(feature = "agent")]
            inbox: None,
        }
    }

    /// Returns the dispatcher whose calls the page shows.
    pub fn dispatcher(&self) -> Dispatcher {
        self.dispatcher.clone()
    }

    /// Sets the path of the page, such as `/inside`. The default is the root.
    ///
    /// # Errors
    /// The path is not percent-encoded, or a part of it is a parameter for routers.
    pub fn with_path(mut self, path: &str) -> Result<Self, BuildError> {
        self.path = checked_path(path)?;
        self.logins.set_path(&self.path);
        Ok(self)
    }

    /// Sets the title, `Tools` by default.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    /// Sets whether readers see arguments, results and errors of all calls. By default they see only those
    /// of the calls that they make themselves.
    ///
    /// The [contents of events](Dispatcher::with_event_contents) are turned on for [`dispatcher`](Self::dispatcher),
    /// and so for its other listeners.
    pub fn with_contents(mut self, contents: bool) -> Self {
        self.contents = contents;
        self.dispatcher = self.dispatcher.with_event_contents(contents);
        self
    }

    /// Adds the view of calls that wait for a decision, in the conversations of all users.
    ///
    /// Only readers with the [right to decide](PageRights::with_decisions) see their arguments, unless the
    /// page shows [contents](Self::with_contents). The log of a conversation has the
    /// [name](PageRights::with_name) of who decided.
    ///
    /// ```
    /// use toolkit_ai::agent::runs::LocalRuns;
    /// use toolkit_ai::agent::{Agent, Sessions};
    /// use toolkit_ai::llm::ScriptedModel;
    /// use toolkit_ai::{Dispatcher, ToolRegistry};
    /// use toolkit_page::ToolPage;
    ///
    /// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
    /// let runs = LocalRuns::new(agent, Sessions::default());
    /// let page = ToolPage::new(Dispatcher::new(ToolRegistry::new())?).with_runs(runs);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "agent")]
    pub fn with_runs(mut self, runs: impl toolkit_agent::runs::Runs) -> Self {
        self.inbox = Some(Arc::new(runs));
        self
    }

    /// Sets how many of the latest calls are kept, and in about how many bytes.
    pub fn with_kept_calls(self, calls: usize, bytes: usize) -> Self {
        self.timeline.resize(calls, bytes);
        self
    }

    /// Sets the rights of readers who enter with a one-time address: all by default.
    pub fn with_rights(self, rights: PageRights) -> Self {
        Self { rights, ..self }
    }

    /// Sets the function that tells the rights of a request, in place of one-time addresses. `None` refuses
    /// the request.
    ///
    /// Headers are claims of the client. A program that looks a login up checks it in a layer before, and
    /// leaves the user in the extensions of the request.
    pub fn with_authoriser(
        mut self,
        authorise: impl Fn(&Parts) -> Option<PageRights> + Send + Sync + 'static,
    ) -> Self {
        self.authorise = Some(Arc::new(authorise));
        self
    }

    /// Sets the accepted values of the header `Host`, in place of the names of this machine. They need an
    /// [authoriser](Self::with_authoriser).
    pub fn with_allowed_hosts<T: Into<String>>(mut self, hosts: impl IntoIterator<Item = T>) -> Self {
        self.hosts = hosts.into_iter().map(Into::into).collect();
        self.guards.set_hosts(self.hosts.iter().map(String::as_str));
        self
    }

    /// Returns the maker of one-time addresses.
    #[must_use]
    pub fn logins(&self) -> PageLogins {
        self.logins.clone()
    }

    /// Returns a router for the page, to merge into the router of the program.
    ///
    /// # Errors
    /// Other machines can reach the page, by the [accepted hosts](Self::with_allowed_hosts), and there is
    /// no authoriser.
    pub fn into_router(self) -> Result<Router, BuildError> {
        if let (Some(host), None) = (self.hosts.first(), &self.authorise) {
            let message = "say who may read it with `with_authoriser`";
            return Err(BuildProblem::unguarded(host, message).into());
        }
        let path = self.path.clone();
        let served = Served(Arc::new(ServedState {
            dispatcher: self.dispatcher,
            timeline: self.timeline,
            logins: self.logins,
            authorise: self.authorise,
            rights: self.rights,
            guards: self.guards,
            path: self.path,
            title: self.title,
            contents: self.contents,
            #[cfg(feature = "agent")]
            inbox: self.inbox,
        }));
        let at = |below: &str| format!("{path}{below}");
        let mut router = Router::new();
        if !path.is_empty() {
            router = router.route(&path, get(root));
        }
        #[cfg(feature = "agent")]
        {
            router = router
                .route(&at("/api/approvals"), get(approvals::list))
                .route(&at("/api/approvals/decide"), post(approvals::decide));
        }
        Ok(router
            .route(&at("/"), get(root))
            .route(&at("/{file}"), get(asset))
            .route(&at("/api/session"), get(session))
            .route(&at("/api/tools"), get(tool_routes::list))
            .route(&at("/api/tools/{tool}"), get(tool_routes::show))
            .route(&at("/api/tools/{tool}/check"), post(tool_routes::check))
            .route(&at("/api/tools/{tool}/call"), post(tool_routes::call))
            .route(&at("/api/tools/{tool}/state"), post(tool_routes::set_state))
            .route(&at("/api/calls"), get(call_routes::list))
            .route(&at("/api/calls/{number}"), get(call_routes::show))
            .route(&at("/api/changes"), get(call_routes::changes))
            .layer(DefaultBodyLimit::max(LARGEST_BODY))
            .layer(from_fn_with_state(served.clone(), guard))
            .with_state(served))
    }

    /// Binds an address of this machine, such as `127.0.0.1:0`, and returns the page there with the address
    /// that it has.
    ///
    /// # Errors
    /// The address is not free, or other machines can reach it without accepted hosts or an authoriser.
    pub async fn bind(self, address: SocketAddr) -> io::Result<BoundPage> {
        let guards = self.guards.clone();
        let listener = guards.bind(address).await?;
        let address = listener.local_addr()?;
        let is_unguarded = !address.ip().is_loopback() && self.authorise.is_none();
        let unguarded =
            BuildProblem::unguarded(address.to_string(), "say who may read it with `with_authoriser`");
        if is_unguarded {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, BuildError::from(unguarded)));
        }
        let logins = self.logins();
        let invalid = |error: BuildError| io::Error::new(io::ErrorKind::InvalidInput, error);
        Ok(BoundPage { router: self.into_router().map_err(invalid)?, listener, guards, address, logins })
    }
}

impl fmt::Debug for ToolPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPage")
            .field("path", &self.path)
            .field("rights", &self.rights)
            .finish_non_exhaustive()
    }
}

fn watched(dispatcher: Dispatcher, timeline: &Arc<CallTimeline>) -> Dispatcher {
    let timeline = timeline.clone();
    dispatcher.with_listener(move |event| timeline.record(event))
}

/// A [page](ToolPage) at an address of its own.
#[must_use]
pub struct BoundPage {
    router: Router,
    listener: TcpListener,
    guards: HttpGuards,
    address: SocketAddr,
    logins: PageLogins,
}

impl BoundPage {
    /// Returns a new address of the page, which is valid once.
    #[must_use]
    pub fn new_address(&self) -> String {
        format!("http://{}{}", self.address, self.logins.new_path())
    }

    /// Serves the page until the future is dropped.
    pub async fn run(self) {
        let Self { router, listener, guards, .. } = self;
        let answer = move |request: http::Request<HttpBody>| {
            let router = router.clone();
            async move {
                match router.oneshot(request.map(Body::new)).await {
                    Ok(response) => response.map(HttpBody::new),
                    Err(never) => match never {},
                }
            }
        };
        guards.serve(listener, answer, pending()).await;
    }
}

impl fmt::Debug for BoundPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundPage").field("address", &self.address).finish_non_exhaustive()
    }
}
