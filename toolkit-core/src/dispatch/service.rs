//! A dispatcher as a `tower` service.

use super::Dispatcher;
use crate::call::ToolCall;
use crate::result::ToolResult;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

/// A [`Dispatcher`] as a `tower` service from [`ToolCall`] to [`ToolResult`].
///
/// The service is always ready, because each call waits for its own permits. It never fails, because a
/// failed call has a result too. Each call is a separate batch, so calls have no order. Dropping the
/// future stops the call.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
/// use tower::{Service, ServiceExt};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let mut service = Dispatcher::new(ToolRegistry::new())?.into_service();
/// let Ok(result) = service.ready().await?.call(ToolCall::new("1", "add", "{}")).await;
/// assert_eq!(result.to_text(), "Tool `add` not found; there are no tools");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct DispatchService(Dispatcher);

impl Service<ToolCall> for DispatchService {
    type Response = ToolResult;
    type Error = Infallible;
    type Future = DispatchFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> DispatchFuture {
        let dispatcher = self.0.clone();
        let run = async move {
            dispatcher
                .run_one(&dispatcher.snapshot(), call, None, dispatcher.run.as_ref(), None, |_| ())
                .await
                .0
        };
        DispatchFuture(Box::pin(run))
    }
}

/// The future of a [`DispatchService`].
pub struct DispatchFuture(Pin<Box<dyn Future<Output = ToolResult> + Send>>);

impl Future for DispatchFuture {
    type Output = Result<ToolResult, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl_debug!(DispatchFuture);

impl Dispatcher {
    /// Converts the dispatcher into a `tower` service.
    #[must_use]
    pub fn into_service(self) -> DispatchService {
        DispatchService(self)
    }
}
