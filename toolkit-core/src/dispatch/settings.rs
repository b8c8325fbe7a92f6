//! The settings of a dispatcher: limits, policies, and the treatment of outcomes.

use super::gates::Gates;
use super::span::Warned;
use crate::context::ToolContext;
use crate::definition::{GuardedFuture, ToolMetadata};
use crate::error::ToolError;
use crate::events::EventBus;
use crate::guard::guarded;
use crate::middleware::{BoxMiddleware, Middleware, Retry};
use crate::output::{Outcome, Truncation};
use std::sync::Arc;
use std::time::Duration;

/// Writes the error message for the model, from the name of the called tool and the error.
pub(super) type FailureText = dyn Fn(&str, &ToolError) -> String + Send + Sync;

#[derive(Clone, Default)]
pub(super) struct Settings {
    pub(super) timeout: Option<Duration>,
    pub(super) hard_limit: Option<Duration>,
    pub(super) max_concurrency: Option<usize>,
    /// The middleware, outermost first.
    pub(super) middleware: Arc<Vec<BoxMiddleware>>,
    pub(super) bus: Arc<EventBus>,
    pub(super) truncation: Truncation,
    pub(super) failure_text: Option<Arc<FailureText>>,
    pub(super) stored_details: bool,
    /// Shared by all clones of the dispatcher.
    pub(super) gates: Arc<Gates>,
    /// Whether the tools come and go, so that rules may select none for now.
    pub(super) is_live: bool,
    /// The tools with logged warnings, shared by all clones.
    pub(super) warned: Warned,
}

impl Settings {
    /// Returns whether calls need a queue, a permit, a thread, middleware or retries.
    #[inline]
    pub(super) fn needs_schedule(&self, metadata: &ToolMetadata) -> bool {
        self.max_concurrency.is_some()
            || !self.middleware.is_empty()
            || metadata.exclusive
            || metadata.blocking
            || metadata.lane.is_some()
            || metadata.max_concurrency.is_some()
            || metadata.retries > 0
    }

    /// Returns the middleware for a tool, with [`Retry`] as the innermost if needed.
    pub(super) fn middleware_for(&self, metadata: &ToolMetadata) -> Arc<Vec<BoxMiddleware>> {
        if metadata.retries == 0 || self.middleware.iter().any(Middleware::retries) {
            return self.middleware.clone();
        }
        let retry = Retry::default().boxed();
        Arc::new(self.middleware.iter().cloned().chain([retry]).collect())
    }

    /// Returns the time limit of a call, where `registry` is the registry's.
    #[inline]
    pub(super) fn limit(&self, metadata: &ToolMetadata, registry: Option<Duration>) -> Option<Duration> {
        let limit = metadata.timeout.or(self.timeout).or(registry);
        match (limit, self.hard_limit) {
            (Some(limit), Some(hard)) => Some(limit.min(hard)),
            (limit, hard) => limit.or(hard),
        }
    }

    /// Replaces the message of `error` by the program's own text, if there is one.
    ///
    /// `called` is the tool name as the model spells it.
    pub(super) fn failure(&self, called: &str, error: ToolError) -> ToolError {
        let error = if self.stored_details { error.with_stored_details(true) } else { error };
        let Some(text) = &self.failure_text else { return error };
        match guarded(|| text(called, &error)) {
            Ok(message) => error.with_message(message),
            Err(_) => error,
        }
    }

    #[inline]
    pub(super) fn max_result_size(&self, metadata: &ToolMetadata) -> Option<usize> {
        self.truncation.limit_of(metadata.max_result_size)
    }

    /// Truncates an outcome.
    ///
    /// Cancellation ends the wait for a slow sink, but the outcome stays: its actions are already decided.
    pub(super) fn truncated<'a>(
        &'a self,
        limit: usize,
        context: &'a ToolContext,
        outcome: Outcome,
    ) -> GuardedFuture<'a> {
        let name = context.tool_name().as_str();
        let id = context.call_id();
        let truncate = async move {
            match outcome {
                Ok(output) => Ok(self.truncation.shorten(limit, name, id, output, context.cancelled()).await),
                Err(error) => {
                    Err(self.truncation.shorten_error(limit, name, id, error, context.cancelled()).await)
                }
            }
        };
        GuardedFuture::new(Box::pin(truncate), context, None)
    }
}

impl_debug!(Settings, |this|
    timeout: this.timeout,
    hard_limit: this.hard_limit,
    max_concurrency: this.max_concurrency,
    middleware: this.middleware,
    bus: this.bus,
    truncation: this.truncation,
);
