//! The open HTTP sessions of clients with earlier protocol versions.

use futures_util::Stream;
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
use toolkit_core::__private::lock;

/// The time for ending one idle session, which then ends in the background.
const ENDING: Duration = Duration::from_secs(1);

/// The time without use after which a session may end in favour of a new one.
const IDLE: Duration = Duration::from_secs(10);

tokio::task_local! {
    static SESSION_REQUEST: SessionRequest;
}

/// A request on its way through the SDK, which passes on only the id of a session.
pub(super) struct SessionRequest {
    identity: Option<String>,
    /// Too many sessions are open.
    is_refused: Cell<bool>,
}

impl SessionRequest {
    pub(super) fn new(identity: Option<String>) -> Self {
        Self { identity, is_refused: Cell::new(false) }
    }

    /// Handles the request; `None` if too many sessions are open.
    pub(super) async fn of<T>(self, request: impl Future<Output = T>) -> Option<T> {
        let handle = async {
            let response = request.await;
            let is_refused = SESSION_REQUEST.with(|current| current.is_refused.get());
            if is_refused { None } else { Some(response) }
        };
        SESSION_REQUEST.scope(self, handle).await
    }
}

pub(super) struct Sessions {
    /// The SDK's own time limit is turned off, because it also ends sessions with running calls.
    local: Arc<LocalSessionManager>,
    open: Arc<OpenSessions>,
    permits: Arc<Semaphore>,
}

/// Each session ends after the time `idle` without use.
struct OpenSessions {
    uses: Mutex<HashMap<SessionId, SessionUse>>,
    idle: Duration,
}

struct SessionUse {
    /// The number of open responses, including streams of events.
    responses: usize,
    /// The last request, or the end of the last response.
    last: Instant,
    identity: Option<String>,
    _watched: DropGuard,
    permit: OwnedSemaphorePermit,
}

impl Sessions {
    /// Creates sessions, of which at most `max` are open, each until the time `idle` without use.
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = None;
        let open = Arc::new(OpenSessions { uses: Mutex::default(), idle });
        let permits = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Self { local: Arc::new(local), open, permits }
    }

    async fn watch(local: Arc<LocalSessionManager>, open: Arc<OpenSessions>, id: SessionId) {
        while let Some(rest) = open.rest(&id) {
            sleep(rest).await;
        }
        let _ = timeout(ENDING, local.close_session(&id)).await;
        lock(&open.uses).remove(&id);
    }

    fn end_idle(&self) -> Option<OwnedSemaphorePermit> {
        let mut uses = lock(&self.open.uses);
        let idle = uses.iter().filter(|(_, using)| using.responses == 0 && using.last.elapsed() >= IDLE);
        let id = idle.min_by_key(|(_, using)| using.last)?.0.clone();
        let ended = uses.remove(&id)?;
        let local = self.local.clone();
        tokio::spawn(async move { drop(timeout(ENDING, local.close_session(&id)).await) });
        Some(ended.permit)
    }
}

impl OpenSessions {
    /// Returns whether a session is open for the current request. The SDK itself may end any session.
    fn has(&self, id: &SessionId) -> bool {
        let uses = lock(&self.uses);
        let Some(using) = uses.get(id) else { return false };
        SESSION_REQUEST.try_with(|current| current.identity == using.identity).unwrap_or(true)
    }

    /// Returns the time until the session is idle; `None` if it is.
    fn rest(&self, id: &SessionId) -> Option<Duration> {
        let uses = lock(&self.uses);
        let using = uses.get(id)?;
        let unused = if using.responses == 0 { using.last.elapsed() } else { Duration::ZERO };
        self.idle.checked_sub(unused).filter(|rest| !rest.is_zero())
    }

    fn touch(&self, id: &SessionId, change: isize) {
        if let Some(using) = lock(&self.uses).get_mut(id) {
            using.responses = using.responses.saturating_add_signed(change);
            using.last = Instant::now();
        }
    }

    /// Counts a response as open until it is dropped.
    fn keep(
        self: &Arc<Self>,
        id: &SessionId,
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> SessionResponse {
        self.touch(id, 1);
        SessionResponse { stream: Box::pin(stream), open: self.clone(), id: id.clone() }
    }
}

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
        let free = self.permits.clone().try_acquire_owned().ok();
        let Some(permit) = free.or_else(|| self.end_idle()) else {
            let _ = SESSION_REQUEST.try_with(|current| current.is_refused.set(true));
            return Err(io::Error::other("too many sessions are open"));
        };
        let identity = SESSION_REQUEST.try_with(|current| current.identity.clone()).unwrap_or_default();
        let (id, transport) = self.local.create_session().await.map_err(io::Error::other)?;
        let watched = CancellationToken::new();
        let watching = Self::watch(self.local.clone(), self.open.clone(), id.clone());
        let cancellable = watched.clone().run_until_cancelled_owned(watching);
        let last = Instant::now();
        let using = SessionUse { responses: 0, last, identity, _watched: watched.drop_guard(), permit };
        lock(&self.open.uses).insert(id.clone(), using);
        tokio::spawn(cancellable);
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
        Ok(self.open.has(id) && self.local.has_session(id).await.map_err(io::Error::other)?)
    }

    async fn close_session(&self, id: &SessionId) -> io::Result<()> {
        if !self.open.has(id) {
            return Err(io::Error::other("the session is not open"));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn a_new_session_ends_the_one_that_is_idle_for_the_longest_time() {
        let sessions = Sessions::new(3, Duration::from_secs(1_800));
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(sessions.create_session().await.expect("a place").0);
            advance(Duration::from_secs(1)).await;
        }
        assert!(sessions.create_session().await.is_err(), "no session is idle");
        advance(IDLE).await;
        // The first session has an open response, and the second has just been used.
        sessions.open.touch(&open[0], 1);
        sessions.open.touch(&open[1], 0);
        sessions.create_session().await.expect("the place of the third");
        for (id, is_open) in open.iter().zip([true, true, false]) {
            assert_eq!(sessions.has_session(id).await.expect("an answer"), is_open, "{id}");
        }
        assert!(sessions.create_session().await.is_err(), "no session is idle");
    }
}
