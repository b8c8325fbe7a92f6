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

/// The time for ending one idle session. After this time, the session ends in the background.
const ENDING: Duration = Duration::from_secs(1);

/// The shortest and the longest time between two searches for idle sessions.
const SEARCHES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(60));

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
}

/// The open sessions with their last use.
struct OpenSessions {
    uses: Mutex<Uses>,
    permits: Arc<Semaphore>,
    idle: Duration,
}

#[derive(Default)]
struct Uses {
    sessions: HashMap<SessionId, Use>,
    /// Whether the task that ends idle sessions runs.
    is_watched: bool,
}

/// The current use of one session.
struct Use {
    /// The number of open responses of the session, including streams of events.
    responses: usize,
    /// The time of the last request, or of the end of the last response.
    last: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Sessions {
    /// Creates the sessions of a server. At most `max` sessions can be open, and each session ends after the time
    /// `idle` without use.
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = None;
        let permits = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Self {
            local: Arc::new(local),
            open: Arc::new(OpenSessions { uses: Mutex::default(), permits, idle }),
        }
    }

    /// Ends idle sessions until no session is open.
    async fn watch(local: Arc<LocalSessionManager>, open: Arc<OpenSessions>) {
        loop {
            sleep((open.idle / 4).clamp(SEARCHES.0, SEARCHES.1)).await;
            end_idle(&local, &open).await;
            let mut uses = lock(&open.uses);
            if uses.sessions.is_empty() {
                uses.is_watched = false;
                return;
            }
        }
    }

    /// Returns the permit for one more session. If no permit is left, ends idle sessions first.
    async fn permit(&self) -> io::Result<OwnedSemaphorePermit> {
        if self.open.permits.available_permits() == 0 {
            end_idle(&self.local, &self.open).await;
        }
        self.open.permits.clone().try_acquire_owned().map_err(|_| {
            let _ = IS_REFUSED.try_with(|refused| refused.set(true));
            io::Error::other("too many sessions are open")
        })
    }
}

async fn end_idle(local: &LocalSessionManager, open: &OpenSessions) {
    for id in open.take_idle() {
        let _ = timeout(ENDING, local.close_session(&id)).await;
    }
}

impl OpenSessions {
    /// Removes and returns the sessions that were not used for too long.
    fn take_idle(&self) -> Vec<SessionId> {
        let is_idle = |using: &Use| using.responses == 0 && using.last.elapsed() >= self.idle;
        lock(&self.uses).sessions.extract_if(|_, using| is_idle(using)).map(|(id, _)| id).collect()
    }

    /// Updates the time of the last use, and adds `change` to the number of open responses.
    fn touch(&self, id: &SessionId, change: isize) {
        if let Some(using) = lock(&self.uses).sessions.get_mut(id) {
            using.responses = using.responses.saturating_add_signed(change);
            using.last = Instant::now();
        }
    }

    /// Counts a response as open until the response is dropped.
    fn keep(self: &Arc<Self>, id: &SessionId, stream: impl EventStream) -> SessionResponse {
        self.touch(id, 1);
        SessionResponse { stream: Box::pin(stream), open: self.clone(), id: id.clone() }
    }
}

/// A stream of the events of one response.
trait EventStream: Stream<Item = ServerSseMessage> + Send + Sync + 'static {}

impl<T: Stream<Item = ServerSseMessage> + Send + Sync + 'static> EventStream for T {}

/// A response that keeps its session open.
struct SessionResponse {
    stream: Pin<Box<dyn EventStream>>,
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
        let permit = self.permit().await?;
        let (id, transport) = self.local.create_session().await.map_err(io::Error::other)?;
        let mut uses = lock(&self.open.uses);
        uses.sessions.insert(id.clone(), Use { responses: 0, last: Instant::now(), _permit: permit });
        if !std::mem::replace(&mut uses.is_watched, true) {
            tokio::spawn(Self::watch(self.local.clone(), self.open.clone()));
        }
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
        lock(&self.open.uses).sessions.remove(id);
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
