//! The open HTTP sessions of clients with earlier protocol versions: their maximum number, and their end.

use crate::locks::lock;
use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionWorker};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The time for ending one idle session. After this time, the session ends in the background.
const ENDING: Duration = Duration::from_secs(1);

tokio::task_local! {
    /// Whether the current request was refused because too many sessions are open.
    static IS_REFUSED: Cell<bool>;
}

/// Handles an HTTP request. Returns `None` if the request was refused because too many sessions are open.
pub(super) async fn unless_refused<T>(request: impl Future<Output = T>) -> Option<T> {
    let handle = async {
        let response = request.await;
        (!IS_REFUSED.with(Cell::get)).then_some(response)
    };
    IS_REFUSED.scope(Cell::new(false), handle).await
}

/// The open sessions of one server.
pub(super) struct Sessions {
    /// The sessions of the SDK. The SDK's own time limit is turned off, because it also ends sessions with
    /// running calls.
    local: Arc<LocalSessionManager>,
    open: Arc<OpenSessions>,
    permits: Arc<Semaphore>,
}

/// The open sessions with their current use. Each ends after the time `idle` without use.
struct OpenSessions {
    uses: Mutex<HashMap<SessionId, Use>>,
    idle: Duration,
}

/// The current use of one session.
struct Use {
    /// The number of open responses of the session, including streams of events.
    responses: usize,
    /// The time of the last request, or of the end of the last response.
    last: Instant,
    /// Ends the task that waits for the end of an idle session.
    _watched: DropGuard,
    _permit: OwnedSemaphorePermit,
}

impl Sessions {
    /// Creates the sessions of a server. At most `max` sessions can be open, and each session ends after the time
    /// `idle` without use.
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = None;
        let open = Arc::new(OpenSessions { uses: Mutex::default(), idle });
        let permits = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Self { local: Arc::new(local), open, permits }
    }

    /// Ends a session once it is idle.
    async fn watch(local: Arc<LocalSessionManager>, open: Arc<OpenSessions>, id: SessionId) {
        while let Some(rest) = open.rest(&id) {
            sleep(rest).await;
        }
        let _ = timeout(ENDING, local.close_session(&id)).await;
        lock(&open.uses).remove(&id);
    }
}

impl OpenSessions {
    /// Returns the time after which a session may be idle. Returns `None` if the session is idle.
    fn rest(&self, id: &SessionId) -> Option<Duration> {
        let uses = lock(&self.uses);
        let using = uses.get(id)?;
        let unused = if using.responses == 0 { using.last.elapsed() } else { Duration::ZERO };
        self.idle.checked_sub(unused).filter(|rest| !rest.is_zero())
    }

    /// Updates the time of the last use, and adds `change` to the number of open responses.
    fn touch(&self, id: &SessionId, change: isize) {
        if let Some(using) = lock(&self.uses).get_mut(id) {
            using.responses = using.responses.saturating_add_signed(change);
            using.last = Instant::now();
        }
    }

    /// Counts a response as open until the response is dropped.
    fn keep(
        self: &Arc<Self>,
        id: &SessionId,
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> SessionResponse {
        self.touch(id, 1);
        SessionResponse { stream: Box::pin(stream), open: self.clone(), id: id.clone() }
    }
}

/// A response that keeps its session open.
struct SessionResponse {
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    open: Arc<OpenSessions>,
    id: SessionId,
}

impl Stream for SessionResponse {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.as_mut().poll_next(cx)
    }
}

impl Drop for SessionResponse {
    fn drop(&mut self) {
        self.open.touch(&self.id, -1);
    }
}

impl SessionManager for Sessions {
    type Error = io::Error;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> io::Result<(SessionId, Self::Transport)> {
        let Ok(permit) = self.permits.clone().try_acquire_owned() else {
            let _ = IS_REFUSED.try_with(|refused| refused.set(true));
            return Err(io::Error::other("too many sessions are open"));
        };
        let (id, transport) = self.local.create_session().await.map_err(io::Error::other)?;
        let watched = CancellationToken::new();
        let watch = Self::watch(self.local.clone(), self.open.clone(), id.clone());
        let watch = watched.clone().run_until_cancelled_owned(watch);
        let last = Instant::now();
        let using = Use { responses: 0, last, _watched: watched.drop_guard(), _permit: permit };
        lock(&self.open.uses).insert(id.clone(), using);
        tokio::spawn(watch);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> io::Result<ServerJsonRpcMessage> {
        self.local.initialize_session(id, message).await.map_err(io::Error::other)
    }

    async fn has_session(&self, id: &SessionId) -> io::Result<bool> {
        self.local.has_session(id).await.map_err(io::Error::other)
    }

    async fn close_session(&self, id: &SessionId) -> io::Result<()> {
        lock(&self.open.uses).remove(id);
        self.local.close_session(id).await.map_err(io::Error::other)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> io::Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.open.touch(id, 0);
        let stream = self.local.create_stream(id, message).await.map_err(io::Error::other)?;
        Ok(self.open.keep(id, stream))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> io::Result<()> {
        self.open.touch(id, 0);
        self.local.accept_message(id, message).await.map_err(io::Error::other)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> io::Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let stream = self.local.create_standalone_stream(id).await.map_err(io::Error::other)?;
        Ok(self.open.keep(id, stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> io::Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let stream = self.local.resume(id, last_event_id).await.map_err(io::Error::other)?;
        Ok(self.open.keep(id, stream))
    }
}
