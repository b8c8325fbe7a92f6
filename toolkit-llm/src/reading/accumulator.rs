//! Streamed responses. Each call is available as soon as it is complete.

use crate::codec::Codec;
use crate::json::WireError;
use crate::json::fields::Fields;
use crate::response::{FinishReason, Response, Usage};
use crate::stream::StreamEvent;
use crate::stream::assembly::Assembly;
use crate::stream::event_stream::EventDecoder;
use serde_json::Value;
use std::fmt;

/// The last events of a stream, with the complete response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StreamEnd {
    /// The last events, including cut-off calls, calls without arguments, and calls whose end was
    /// uncertain.
    pub events: Vec<StreamEvent>,
    /// The response, with the calls and ids of the events.
    ///
    /// # Errors
    /// [`WireError`] if the stream contained no response, or an error of the provider instead.
    pub response: Result<Response, WireError>,
    /// The provider's error in an incomplete last event. [`push`](StreamAccumulator::push) returns
    /// all other errors.
    pub failure: Option<WireError>,
    /// The complete body, as without streaming. It also has the fields that
    /// [`response`](Self::response) lacks.
    pub body: Value,
    /// Whether the provider announced the end of the response. If not, the connection broke.
    pub is_complete: bool,
}

/// Assembles a streamed response, and returns each call as soon as it is complete.
///
/// Pass the JSON of each event to [`push`](Self::push), or the bytes of the response body to
/// [`push_bytes`](Self::push_bytes). Calls may be interleaved, and their arguments may be split
/// anywhere. Each call is returned exactly once. If the stream ends in the middle of a call,
/// [`finish`](Self::finish) returns the incomplete call. Dispatching it gives a result that
/// explains the problem to the model.
///
/// A call without arguments is returned last, because some servers send its arguments under another
/// index or id, or without the name. Arguments that match no call belong to the only call without
/// arguments. If there are several such calls, they count as cut off. Gemini and Ollama match
/// results to calls without ids by position; there, the calls after a call without arguments wait
/// for it.
///
/// ```
/// use serde_json::json;
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::llm::StreamEvent;
///
/// let mut stream = ApiFormat::OpenAiChat.accumulator();
/// for fragment in ["{\"a\"", ": 1}"] {
///     stream.push(&json!({"choices": [{"delta": {"tool_calls": [
///         {"index": 0, "id": "call_a1", "function": {"name": "add", "arguments": fragment}},
///     ]}}]}))?;
/// }
/// let end = stream.finish();
/// let [StreamEvent::Call(call)] = end.events.as_slice() else { panic!("one call") };
/// assert_eq!(call.arguments.as_str(), r#"{"a": 1}"#);
/// # Ok::<(), toolkit_ai::llm::WireError>(())
/// ```
pub struct StreamAccumulator {
    codec: &'static dyn Codec,
    stream: Assembly,
    bytes: EventDecoder,
    is_over: bool,
}

impl StreamAccumulator {
    pub(crate) fn new(codec: &'static dyn Codec) -> Self {
        Self { codec, stream: Assembly::new(codec), bytes: EventDecoder::default(), is_over: false }
    }

    /// Enables events with the pieces of a call's arguments, while the model writes them.
    ///
    /// The pieces come between [`CallStarted`](StreamEvent::CallStarted) and
    /// [`Call`](StreamEvent::Call). Together, they are the JSON of the arguments; spaces and
    /// escapes may differ from [`ToolCall::arguments`](toolkit_core::ToolCall::arguments). For a
    /// custom tool, they are the free text. A call has no pieces if it has no arguments, or if the
    /// provider sends them at once.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::llm::StreamEvent;
    ///
    /// let mut stream = ApiFormat::OpenAiChat.accumulator().with_argument_events();
    /// let events = stream.push(&json!({"choices": [{"delta": {"tool_calls": [
    ///     {"index": 0, "id": "call_a1", "function": {"name": "add", "arguments": "{\"a\""}},
    /// ]}}]}))?;
    /// let piece = StreamEvent::arguments("call_a1", "{\"a\"");
    /// assert_eq!(events[1], piece);
    /// # Ok::<(), toolkit_ai::llm::WireError>(())
    /// ```
    #[must_use]
    pub fn with_argument_events(mut self) -> Self {
        self.stream.has_argument_events = true;
        self
    }

    /// Processes the JSON of one event, or of several events sent as a list.
    ///
    /// # Errors
    /// [`WireError`] if the event is not of the format, or reports a failure. Earlier events are
    /// kept: push further events, or finish the stream.
    pub fn push(&mut self, event: &Value) -> Result<Vec<StreamEvent>, WireError> {
        let events = event.as_array().map_or(std::slice::from_ref(event), Vec::as_slice);
        for event in events {
            if let Err(error) = self.codec.push(&mut self.stream, event) {
                // A blocked answer is complete.
                self.stream.is_broken |= error.report().is_some() && !error.is_blocked();
                return Err(error);
            }
        }
        Ok(self.stream.take_events())
    }

    /// Processes the next bytes of a response body, split anywhere, even within a character.
    ///
    /// The body contains server-sent events, JSON objects on lines of their own, a list of JSON
    /// objects, or the binary event stream of Amazon Web Services. The first byte decides which.
    ///
    /// The errors are those of [`push`](Self::push), invalid JSON, and events with too much data.
    /// The events before and after an error are returned as well.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::llm::StreamEvent;
    ///
    /// let mut stream = ApiFormat::OpenAiChat.accumulator();
    /// let body = "data: {\"choices\": [{\"delta\": {\"content\": \"Grüße\"}}]}\n\ndata: [DONE]\n\n";
    /// let (first, rest) = body.as_bytes().split_at(45);
    /// assert!(stream.push_bytes(first).is_empty());
    /// assert_eq!(stream.push_bytes(rest), [Ok(StreamEvent::Text("Grüße".to_owned()))]);
    /// ```
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Vec<Result<StreamEvent, WireError>> {
        match self.bytes.push(bytes) {
            Ok(completed) => {
                let mut events = Vec::new();
                for data in &completed {
                    events.append(&mut self.take_data(data));
                }
                events
            }
            Err(expected) => vec![Err(WireError::new("data", expected))],
        }
    }

    fn take_data(&mut self, data: &str) -> Vec<Result<StreamEvent, WireError>> {
        // OpenAI and compatible servers end a stream with `[DONE]`.
        if data == "[DONE]" {
            self.codec.done(&mut self.stream);
            self.is_over = true;
        }
        if data.is_empty() || data == "[DONE]" {
            return Vec::new();
        }
        let event = match serde_json::from_str::<Value>(data) {
            Ok(event) => event,
            Err(error) => {
                return vec![Err(WireError::new("data", format!("the JSON of an event ({error})")))];
            }
        };
        match self.push(&event) {
            Ok(events) => events.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    }

    /// Returns the message so far, like [`Response::native`].
    ///
    /// It contains the complete parts, such as text, signed thinking and the calls already returned. It is
    /// empty while there is neither text nor a call.
    #[must_use]
    pub fn native(&self) -> Vec<Value> {
        let mut stream = self.stream.clone();
        for message in stream.messages.values_mut() {
            message.parts.keep_complete();
        }
        self.written(stream)
    }

    /// Returns the new parts of [`native`](Self::native) up to the last complete call. It is empty
    /// without a new call.
    ///
    /// A program that saves these parts with each call can send them back after a broken stream or
    /// a restart. Providers of signed thinking refuse a call without the thinking before it. The
    /// new parts are in messages of their own, for example a further message with the role
    /// `assistant` and a list `content`. A call without arguments comes after later calls. In APIs
    /// whose messages have other fields than parts, such as Chat Completions, each message repeats
    /// these fields.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let mut stream = ApiFormat::Anthropic.accumulator();
    /// for (index, id) in ["toolu_1", "toolu_2"].into_iter().enumerate() {
    ///     let block = json!({"type": "tool_use", "id": id, "name": "add", "input": {"a": 1}});
    ///     stream.push(&json!({"type": "content_block_start", "index": index, "content_block": block}))?;
    ///     stream.push(&json!({"type": "content_block_stop", "index": index}))?;
    ///     assert_eq!(stream.take_native(), [json!({"role": "assistant", "content": [block]})]);
    /// }
    /// assert!(stream.take_native().is_empty());
    /// # Ok::<(), toolkit_ai::llm::WireError>(())
    /// ```
    pub fn take_native(&mut self) -> Vec<Value> {
        let new = self.stream.take_complete();
        if new.messages.values().all(|message| message.parts.is_empty()) {
            Vec::new()
        } else {
            self.written(new)
        }
    }

    fn written(&self, mut stream: Assembly) -> Vec<Value> {
        let body = self.codec.finish(&mut stream);
        match super::response(self.codec, &body, Some(stream.take_calls())) {
            Ok(response) => response.native,
            Err(_) => Vec::new(),
        }
    }

    /// Returns the token counts so far, like [`Response::usage`].
    ///
    /// Most providers report them only at the end; Anthropic reports the input tokens at the beginning.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut reported = Fields::new();
        for pointer in self.codec.facts().usage.pointers() {
            let name = pointer.split('/').nth(1).unwrap_or_default();
            if let Some(value) = self.stream.body.get(name)
                && !reported.contains_key(name)
            {
                reported.insert(name.to_owned(), value.clone());
            }
        }
        if reported.is_empty() { Usage::default() } else { super::usage(self.codec, &reported.into()) }
    }

    /// Returns whether `[DONE]` has arrived. No events follow it, but the server may keep the
    /// connection open.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Ends the stream, complete or not, and returns the response.
    #[must_use]
    pub fn finish(mut self) -> StreamEnd {
        // An incomplete event is ignored at the end of a broken response, but reported in a
        // complete one.
        let mut events = Vec::new();
        let mut failure = None;
        if let Some(data) = self.bytes.finish() {
            for last in self.take_data(&data) {
                match last {
                    Ok(event) => events.push(event),
                    Err(error) if failure.is_none() && error.report().is_some() => failure = Some(error),
                    Err(_) => {}
                }
            }
        }
        let is_complete = !self.stream.is_broken && self.codec.is_complete(&self.stream);
        let body = self.codec.finish(&mut self.stream);
        events.append(&mut self.stream.take_events());
        let mut response = super::response(self.codec, &body, Some(self.stream.take_calls()));
        if let (Ok(response), false) = (&mut response, is_complete) {
            response.finish = FinishReason::Interrupted;
        }
        if response.is_ok() && is_complete {
            failure = None;
        }
        StreamEnd { events, response, failure, body, is_complete }
    }
}

impl fmt::Debug for StreamAccumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamAccumulator").field("codec", &self.codec).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::ApiFormat;

    /// For each API, an event with the text `a`, and the last event.
    const SAID: [(ApiFormat, &str, &str); 4] = [
        (
            ApiFormat::OpenAiChat,
            r#"{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": null}]}"#,
            r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#,
        ),
        (
            ApiFormat::OpenAiResponses,
            r#"{"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "a"}"#,
            r#"{"type": "response.completed", "response": {"id": "r", "status": "completed"}}"#,
        ),
        (
            ApiFormat::Anthropic,
            r#"{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}}"#,
            r#"{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}"#,
        ),
        (
            ApiFormat::Gemini,
            r#"{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}"#,
            r#"{"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}"#,
        ),
    ];

    fn is_complete(format: ApiFormat, events: &[&str]) -> bool {
        let mut stream = format.accumulator();
        for event in events {
            for said in stream.push_bytes(format!("data: {event}\n\n").as_bytes()) {
                assert!(said.is_ok(), "{format:?}: {said:?}");
            }
        }
        stream.finish().is_complete
    }

    #[test]
    fn an_end_that_was_not_announced_is_no_end() {
        for (format, piece, end) in SAID {
            assert!(!is_complete(format, &[]), "{format:?}");
            assert!(!is_complete(format, &[piece]), "{format:?}");
            assert!(is_complete(format, &[piece, end]), "{format:?}");
        }
        let (chat, piece, _) = SAID[0];
        assert!(is_complete(chat, &[piece, "[DONE]"]));
        let refused = r#"{"promptFeedback": {"blockReason": "SAFETY"}}"#;
        let mut stream = ApiFormat::Gemini.accumulator();
        let _ = stream.push_bytes(format!("data: {refused}\n\n").as_bytes());
        assert!(stream.finish().is_complete);
    }

    #[test]
    fn the_native_form_so_far_has_the_complete_parts() {
        let events = [
            r#"{"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}"#,
            r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}"#,
            r#"{"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}}"#,
            r#"{"type": "content_block_stop", "index": 0}"#,
            r#"{"type": "content_block_start", "index": 1,
                "content_block": {"type": "tool_use", "id": "a", "name": "add", "input": {}}}"#,
            r#"{"type": "content_block_delta", "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": "{\"n\": 1}"}}"#,
            r#"{"type": "content_block_stop", "index": 1}"#,
            r#"{"type": "message_delta", "delta": {"stop_reason": "tool_use"}}"#,
        ];
        // The number of blocks after each event. Thinking alone is no message yet.
        let expected = [0, 0, 0, 0, 0, 0, 2, 2];
        let mut taken = Vec::new();
        let mut taken_at = Vec::new();
        let mut stream = ApiFormat::Anthropic.accumulator();
        let mut plain = ApiFormat::Anthropic.accumulator();
        for (event, blocks) in events.into_iter().zip(expected) {
            let event = serde_json::from_str(event).expect("an event");
            assert_eq!(stream.push(&event), plain.push(&event));
            let native = stream.native();
            let found = native.first().and_then(|message| message["content"].as_array()).map_or(0, Vec::len);
            assert_eq!(found, blocks, "{native:?}");
            let new = stream.take_native();
            taken_at.push(new.len());
            taken.extend(new);
        }
        let native = stream.native();
        assert_eq!((taken_at, &taken), (vec![0, 0, 0, 0, 0, 0, 1, 0], &native));
        let end = stream.finish();
        assert_eq!(end, plain.finish());
        assert_eq!(native, end.response.expect("a response").native);
    }
}
