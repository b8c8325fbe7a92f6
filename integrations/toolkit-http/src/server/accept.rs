//! The connections of a server, from the address to the graceful end.

use super::guards::HttpGuards;
use super::http_body::HttpBody;
use super::peer_limits::ConnectionCounts;
use super::write_timeout::WriteTimeout;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The pause after a failed accept, for instance because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

impl HttpGuards {
    /// Binds an address, such as `127.0.0.1:8000`. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is not free, or other machines can reach it although no hosts are named or a required
    /// token is missing.
    pub async fn bind(&self, address: impl ToSocketAddrs) -> io::Result<TcpListener> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let missing = if self.hosts.is_empty() {
            "name the accepted hosts with `with_allowed_hosts`"
        } else if self.requires_token && !self.has_token() {
            "require a token with `with_bearer_token`"
        } else {
            return Ok(listener);
        };
        if address.ip().is_loopback() {
            return Ok(listener);
        }
        let message = format!("`{address}` is reachable from other machines; {missing}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    /// Accepts connections until `stop` is ready, and then waits for the incomplete responses. Dropping the
    /// future closes open connections.
    ///
    /// A connection is closed if the headers of its next request miss the read timeout, or if its client
    /// takes nothing of a waiting response within the write timeout. Connections beyond the
    /// [limit](super::PeerLimits::max_connections_per_address) of an address are closed at once.
    pub async fn accept<F>(
        &self,
        listener: TcpListener,
        answer: impl Fn(Request<HttpBody>) -> F + Clone + Send + 'static,
        stop: impl Future<Output = ()>,
    ) where
        F: Future<Output = Response<HttpBody>> + Send + 'static,
    {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.read_timeout);
        let write_timeout = self.peers.write_timeout.unwrap_or(self.read_timeout);
        let shutdown = GracefulShutdown::new();
        let counts = ConnectionCounts::default();
        let mut open = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = accepted(&listener), if open.len() < self.max_connections => accepted,
                Some(_) = open.join_next() => continue,
                () = &mut stop => break,
            };
            let Some(counted) = counts.admit(peer.ip(), &self.peers) else { continue };
            let _ = stream.set_nodelay(true);
            let stream = TokioIo::new(WriteTimeout::new(stream, write_timeout));
            let answer = answer.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let response = answer(request.map(HttpBody::new));
                async move { Ok::<_, Infallible>(response.await) }
            });
            let connection = shutdown.watch(http.serve_connection(stream, service));
            open.spawn(async move {
                let _counted = counted;
                // A connection that failed needs no answer.
                let _ = connection.await;
            });
        }
        drop(listener);
        shutdown.shutdown().await;
    }

    /// Does the same as [`accept`](Self::accept), but waits for responses only for the grace time.
    pub async fn serve<F>(
        &self,
        listener: TcpListener,
        answer: impl Fn(Request<HttpBody>) -> F + Clone + Send + 'static,
        stop: impl Future<Output = ()>,
    ) where
        F: Future<Output = Response<HttpBody>> + Send + 'static,
    {
        let (stopped, is_stopped) = oneshot::channel();
        let stop = async {
            stop.await;
            let _ = stopped.send(());
        };
        let late = async {
            if is_stopped.await.is_err() {
                pending::<()>().await;
            }
            sleep(self.grace).await;
        };
        tokio::select! {
            () = self.accept(listener, answer, stop) => {}
            () = late => {}
        }
    }
}

/// Passes over a client that has already left.
async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_client(&error) => {}
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Returns whether a connection failed by its client, and not for want of files or memory.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Waits for an interrupt or a request to terminate.
pub async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
