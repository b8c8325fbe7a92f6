//! A layer of `tower` as middleware.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::ToolError;
use crate::output::{ToolOutput, failed};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A layer of `tower` as [`Middleware`].
///
/// The layer makes one service when this is made, and each call goes through a clone of it. So what the clones
/// share holds for all calls, such as the places of `ConcurrencyLimitLayer`; a service that cannot be cloned needs
/// `tower::buffer` around it. An error of a layer that is a [`ToolError`] stays what it is; of any other, the model
/// reads the text.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::tower::TowerMiddleware;
/// use tower::timeout::TimeoutLayer;
///
/// let patience = TowerMiddleware::new(TimeoutLayer::new(Duration::from_secs(60)));
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(patience);
/// # Ok::<(), toolkit::BuildError>(())
/// ```
pub struct TowerMiddleware<S>(Mutex<S>);

impl<S> TowerMiddleware<S> {
    /// The layer around whatever comes after it.
    #[must_use]
    pub fn new(layer: impl Layer<NextService, Service = S>) -> Self {
        Self(Mutex::new(layer.layer(NextService(()))))
    }
}

impl<S> Middleware for TowerMiddleware<S>
where
    S: Service<ServiceRequest, Response = ToolOutput> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
{
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let mut service = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        poll_fn(|waker| service.poll_ready(waker)).await.map_err(tool_error)?;
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

/// What goes through the layers: a call, and the way that is left to its tool.
#[derive(Debug, Clone)]
pub struct ServiceRequest {
    /// The call.
    pub request: ToolRequest,
    /// The way that is left.
    pub next: Next,
}

/// The innermost service: it goes on to the next middleware, or to the tool.
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
