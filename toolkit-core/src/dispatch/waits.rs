//! The waits of calls, as their listeners hear of them.

use super::gates::LimitedResource;
use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::events::{EventEmitter, ToolEventKind, WaitResource};
use std::time::Instant;

/// Waits, and emits the beginning and the end of the wait if there are listeners.
pub(super) async fn wait<T>(
    context: &ToolContext,
    resource: impl FnOnce(bool) -> WaitResource,
    waiting: impl Future<Output = T> + Send,
) -> T {
    match context.emitter() {
        None => waiting.await,
        // Boxed, because most calls have no listeners.
        Some(emitter) => Box::pin(observed(emitter, resource(emitter.includes_contents()), waiting)).await,
    }
}

async fn observed<T>(
    emitter: &EventEmitter,
    resource: WaitResource,
    waiting: impl Future<Output = T> + Send,
) -> T {
    emitter.emit(ToolEventKind::Waiting { resource: resource.clone() });
    let since = Instant::now();
    let came = waiting.await;
    emitter.emit(ToolEventKind::Admitted { resource, waited: since.elapsed() });
    came
}

impl LimitedResource {
    /// Returns the resource for listeners, where `limit` calls may hold it at once.
    pub(super) fn shown(
        &self,
        definition: &ToolDefinition,
        limit: usize,
        with_contents: bool,
    ) -> WaitResource {
        match self {
            Self::Dispatcher => WaitResource::DispatcherPermit { limit },
            Self::Tool(_) if definition.metadata.exclusive => WaitResource::Exclusive,
            Self::Tool(_) => WaitResource::ToolPermit { limit },
            Self::Lane { parameter, value } => {
                let value = if with_contents { Some(value.to_string()) } else { None };
                WaitResource::Lane { parameter: parameter.to_string(), value }
            }
        }
    }
}
