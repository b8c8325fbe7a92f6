//! The connections of a server, from the address to the graceful end.

use super::guards::HttpGuards;
use super::peer_limits::ConnectionCounts;
use super::write_timeout::WriteTimeout;
use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::pending;
use std::io;
use std::pin::pin;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

impl HttpGuards {
    /// Binds an address, such as `127.0.0.1:8000`. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The address is not free. Also if other machines can reach it, and no hosts are named or a required token is
    /// missing.
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

    /// Accepts connections until `stop` is ready, and then waits for the responses that are not complete. Connections
    /// that are open when the future is dropped are closed.
    ///
    /// A connection is closed if the headers of its next request do not arrive within the read timeout, or if its client
    /// takes nothing of a waiting response within the write timeout. Connections of an address beyond its
    /// [limit](super::PeerLimits::max_connections_per_address) are closed at once.
    pub async fn accept(&self, mut listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.read_timeout);
        let write_timeout = self.peers.write_timeout.unwrap_or(self.read_timeout);
        let shutdown = GracefulShutdown::new();
        let counts = ConnectionCounts::default();
        let mut open = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = Listener::accept(&mut listener), if open.len() < self.max_connections => accepted,
                Some(_) = open.join_next() => continue,
                () = &mut stop => break,
            };
            let Some(counted) = counts.admit(peer.ip(), &self.peers) else { continue };
            let _ = stream.set_nodelay(true);
            let stream = TokioIo::new(WriteTimeout::new(stream, write_timeout));
            let service = TowerToHyperService::new(router.clone());
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

    /// Does the same as [`accept`](Self::accept), and waits for the responses no longer than the grace time.
    pub async fn serve(&self, listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
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
            () = self.accept(listener, router, stop) => {}
            () = late => {}
        }
    }
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
