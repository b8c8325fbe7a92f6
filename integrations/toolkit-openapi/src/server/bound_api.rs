//! A server bound to an address.

use super::http_service::HttpService;
use super::published::Api;
use crate::error::{OpenApiError, OpenApiErrorKind};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, ToSocketAddrs};
use toolkit_http::server::terminated;

/// A server bound to an address.
#[must_use]
pub struct BoundApi {
    listener: TcpListener,
    address: SocketAddr,
    api: Arc<Api>,
}

impl BoundApi {
    pub(super) async fn new(api: Api, address: impl ToSocketAddrs) -> Result<Self, OpenApiError> {
        // A server whose rules select no tool would refuse all calls.
        api.dispatcher.check()?;
        let unbound = |error: io::Error| OpenApiError::new(OpenApiErrorKind::Bind, error.to_string());
        let listener = api.guards.bind(address).await.map_err(unbound)?;
        let address = listener.local_addr().map_err(unbound)?;
        Ok(Self { listener, address, api: Arc::new(api) })
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the documentation page's URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}/", self.address, self.api.path)
    }

    /// Serves clients until the process is interrupted or told to terminate.
    pub async fn run(self) {
        self.run_until(terminated()).await;
    }

    /// Serves clients until `stop` is ready, then only running calls within the
    /// [grace](super::OpenApiServer::with_grace) time.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let service = HttpService::new(self.api.clone());
        self.api.guards.serve(self.listener, move |request| service.clone().handle(request), stop).await;
    }
}

impl fmt::Debug for BoundApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundApi").field("url", &self.url()).finish_non_exhaustive()
    }
}
