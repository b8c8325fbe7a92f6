//! The HTTP connections of a server.

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;

/// Accepts connections until `stop` is ready, and then waits for the responses that are not complete. A connection is
/// closed if the headers of its next request do not arrive within `read_timeout`.
pub(super) async fn accept(
    mut listener: TcpListener,
    router: Router,
    read_timeout: Duration,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(read_timeout);
    let open = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let (stream, _) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stop => break,
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(open.watch(connection));
    }
    drop(listener);
    open.shutdown().await;
}
