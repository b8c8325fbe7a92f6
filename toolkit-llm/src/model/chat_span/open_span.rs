//! An open `chat` span, and the measurements at its end.

use super::ChatCaller;
use super::attributes::{content_of_request, content_of_response, finish_reason, list};
use crate::message::ModelResponse;
use crate::model::{ChatModel, ModelError, ModelRequest, ModelStream};
use crate::stream::StreamEvent;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit_core::__private::trace::{Empty, OpenSpan, Timer, measure, present, span};

/// An open span, with the names for its measurements.
pub(super) struct OpenRequest {
    pub(super) span: OpenSpan,
    provider: String,
    model: String,
    shows_response: bool,
    is_streamed: bool,
    started: Timer,
    first_piece: OnceLock<Duration>,
    has_ended: AtomicBool,
}

impl OpenRequest {
    pub(super) fn new(
        model: &impl ChatModel,
        request: &ModelRequest,
        is_streamed: bool,
        caller: ChatCaller<'_>,
    ) -> Self {
        let provider = model.provider();
        let model = model.name();
        let options = &request.options;
        let span = span!(
            "chat",
            "otel.name" = format_args!("chat {model}"),
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "chat",
            "gen_ai.provider.name" = present(provider),
            "gen_ai.request.model" = model,
            "gen_ai.agent.name" = present(caller.agent),
            "gen_ai.conversation.id" = present(caller.conversation),
            "gen_ai.output.type" = options.output.as_ref().map(|_| "json"),
            "gen_ai.request.temperature" = options.temperature,
            "gen_ai.request.top_p" = options.top_p,
            "gen_ai.request.max_tokens" = options.max_output_tokens,
            "gen_ai.request.seed" = options.seed,
            "gen_ai.request.stop_sequences" = list(&options.stop),
            "gen_ai.request.stream" = is_streamed.then_some(true),
            "gen_ai.system_instructions" = Empty,
            "gen_ai.input.messages" = Empty,
            "gen_ai.tool.definitions" = Empty,
            "gen_ai.output.messages" = Empty,
            "gen_ai.response.id" = Empty,
            "gen_ai.response.model" = Empty,
            "gen_ai.response.finish_reasons" = Empty,
            "gen_ai.response.time_to_first_chunk" = Empty,
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
            "gen_ai.usage.cache_read.input_tokens" = Empty,
            "gen_ai.usage.cache_write.input_tokens" = Empty,
            "gen_ai.usage.reasoning.output_tokens" = Empty,
            "server.address" = Empty,
            "server.port" = Empty,
            "error.type" = Empty,
        );
        if caller.shows_request && !span.is_disabled() {
            content_of_request(&span, request);
        }
        Self {
            span,
            provider: provider.to_owned(),
            model: model.to_owned(),
            shows_response: caller.shows_response,
            is_streamed,
            started: Timer::start(),
            first_piece: OnceLock::new(),
            has_ended: AtomicBool::new(false),
        }
    }

    pub(super) fn poll_next(
        &self,
        stream: &mut ModelStream,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<StreamEvent, ModelError>>> {
        let piece = self.span.within(|| Pin::new(stream).poll_next(context));
        if self.is_streamed && matches!(piece, Poll::Ready(Some(Ok(_)))) {
            self.first_piece.get_or_init(|| self.started.elapsed());
        }
        piece
    }

    /// Records the end and measures the request. Only the first end counts.
    pub(super) fn end(&self, response: Option<&ModelResponse>, error: Option<&str>) {
        if self.has_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let first_piece = self.first_piece.get().map(Duration::as_secs_f64);
        self.span.record("gen_ai.response.time_to_first_chunk", first_piece);
        if let Some(response) = response {
            self.record_response(response);
        }
        if let Some(error) = error {
            self.span.fail(error);
        }
        self.measure(response, error);
    }

    fn record_response(&self, response: &ModelResponse) {
        let ModelResponse { finish, usage, model, id, .. } = response;
        let span = &self.span;
        span.record("gen_ai.response.id", present(id));
        span.record("gen_ai.response.model", present(model));
        span.record("gen_ai.response.finish_reasons", list(&[finish_reason(finish)]));
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        let parts = [
            ("gen_ai.usage.cache_read.input_tokens", usage.cached_input_tokens),
            ("gen_ai.usage.cache_write.input_tokens", usage.cache_write_tokens),
            ("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens),
        ];
        for (name, tokens) in parts {
            if tokens > 0 {
                span.record(name, tokens);
            }
        }
        if self.shows_response && !span.is_disabled() {
            content_of_response(span, response);
        }
    }

    /// Emits the measurements as events, which belong to no span.
    fn measure(&self, response: Option<&ModelResponse>, error: Option<&str>) {
        let provider = present(&self.provider);
        let model = self.model.as_str();
        let answered_by = response.and_then(|response| present(&response.model));
        let usage = response.map(|response| response.usage).unwrap_or_default();
        measure!(
            "histogram.gen_ai.client.inference.duration" = self.started.elapsed().as_secs_f64(),
            "histogram.gen_ai.client.inference.time_to_first_chunk" =
                self.first_piece.get().map(Duration::as_secs_f64),
            "histogram.gen_ai.client.inference.operation.input_tokens" = response.map(|_| usage.input_tokens),
            "histogram.gen_ai.client.inference.operation.output_tokens" =
                response.map(|_| usage.output_tokens),
            "gen_ai.operation.name" = "chat",
            "gen_ai.provider.name" = provider,
            "gen_ai.request.model" = model,
            "gen_ai.response.model" = answered_by,
            "error.type" = error,
        );
        // The provider bills failed attempts, too.
        let mut billed = usage;
        billed += response.map(|response| response.failed_usage).unwrap_or_default();
        measure!(
            "monotonic_counter.gen_ai.client.inference.usage.input_tokens" = billed.input_tokens,
            "monotonic_counter.gen_ai.client.inference.usage.output_tokens" = billed.output_tokens,
            "monotonic_counter.gen_ai.client.inference.usage.cache_read.input_tokens" =
                billed.cached_input_tokens,
            "monotonic_counter.gen_ai.client.inference.usage.cache_write.input_tokens" =
                billed.cache_write_tokens,
            "monotonic_counter.gen_ai.client.inference.usage.reasoning.output_tokens" =
                billed.reasoning_tokens,
            "gen_ai.operation.name" = "chat",
            "gen_ai.provider.name" = provider,
            "gen_ai.request.model" = model,
            "gen_ai.response.model" = answered_by,
            "gen_ai.token.modality" = "unknown",
        );
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.end(None, Some("cancelled"));
    }
}
