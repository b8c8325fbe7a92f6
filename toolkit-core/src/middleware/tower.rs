//! `tower` layers as middleware.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::ToolError;
use crate::guard::lock;
use crate::output::{ToolOutput, failed};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A [`Middleware`] made from a `tower` layer.
///
/// The layer creates one service, and each call goes through a clone of it. State shared by the clones
/// applies to all calls, such as the permits of `ConcurrencyLimitLayer`. A service without `Clone` needs
/// `tower::buffer`. The model reads the message of a [`ToolError`], or the text of any other error.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::tower::TowerMiddleware;
/// use tower::timeout::TimeoutLayer;
///
/// let patience = TowerMiddleware::new(TimeoutLayer::new(Duration::from_secs(60)));
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(patience);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[must_use]
pub struct TowerMiddleware<S>(Mutex<S>);

impl<S> TowerMiddleware<S> {
    /// Creates the middleware from a `tower` layer.
    pub fn new(layer: impl Layer<NextService, Service = S>) -> Self {
        Self(Mutex::new(layer.layer(NextService(()))))
    }
}

impl<S: Clone> Clone for TowerMiddleware<S> {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.service()))
    }
}

impl<S: Clone> TowerMiddleware<S> {
    fn service(&self) -> S {
        lock(&self.0).clone()
    }
}

impl<S> Middleware for TowerMiddleware<S>
where
    S: Service<ServiceRequest, Response = ToolOutput> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
{
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let mut service = self.service();
        poll_fn(|cx| service.poll_ready(cx)).await.map_err(tool_error)?;
        service.call(ServiceRequest { request, next }).await.map_err(tool_error)
    }
}

fn tool_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> ToolError {
    match error.into().downcast() {
        Ok(own) => *own,
        Err(foreign) => failed(&*foreign),
    }
}

impl<S> fmt::Debug for TowerMiddleware<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerMiddleware").field("service", &std::any::type_name::<S>()).finish()
    }
}

/// The request of the layers: a call and the remaining middleware.
#[derive(Debug, Clone)]
pub struct ServiceRequest {
    /// The call to run.
    pub request: ToolRequest,
    /// The remaining middleware and the tool.
    pub next: Next,
}

/// The innermost service, which calls the next middleware or tool.
#[derive(Debug, Clone)]
pub struct NextService(());

impl Service<ServiceRequest> for NextService {
    type Response = ToolOutput;
    type Error = ToolError;
    type Future = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ToolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, ServiceRequest { request, next }: ServiceRequest) -> Self::Future {
        Box::pin(next.run(request))
    }
}
