//! Recorded responses and requests, read by this library's codecs.
//!
//! Input and output have a JSON object a line, with characters as a stream's bytes.

use crate::round_trip;
use std::error::Error;
use std::fs;
use toolkit_ai::ToolCall;
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::llm::{FinishReason, StreamEnd, StreamEvent};
use toolkit_ai::name::WireNames;
use toolkit_ai::serde_json::{self, Map, Value, json};

/// Prints the calls of recorded exchanges, and the requests that this library writes for them. Streams are
/// also cut at `cuts` positions.
pub(crate) fn print(file: &str, cuts: usize) -> Result<(), Box<dyn Error>> {
    for line in fs::read_to_string(file)?.lines() {
        let exchange: Value = serde_json::from_str(line)?;
        println!("{}", replay(&exchange, cuts)?);
    }
    Ok(())
}

fn replay(exchange: &Value, cuts: usize) -> Result<Value, Box<dyn Error>> {
    let format: ApiFormat = exchange["format"].as_str().unwrap_or_default().parse()?;
    let mut replayed = match exchange["stream"].as_str() {
        Some(text) => {
            let bytes = text.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<Vec<u8>, _>>()?;
            stream(format, &bytes, cuts)
        }
        None => body(format, &exchange["body"]),
    };
    if let Some(request) = exchange["request"].as_object() {
        replayed.insert("written".to_owned(), round_trip::write(format, request));
    }
    Ok(replayed.into())
}

fn body(format: ApiFormat, body: &Value) -> Map<String, Value> {
    match format.parse_response(body) {
        Ok(response) => {
            let names = WireNames::default();
            let other = if format == ApiFormat::Ollama { ApiFormat::OpenAiChat } else { ApiFormat::Ollama };
            let lost = other.history(&names).native_losses(format, &response.native);
            let lost: Vec<&str> = lost.iter().map(|loss| loss.keyword.as_str()).collect();
            let text = response.text.as_str();
            let calls = calls(&response.calls);
            map(
                json!({"calls": calls, "text": text, "finish": response.finish, "native": response.native, "lost": lost}),
            )
        }
        Err(error) => map(json!({"error": error.to_string()})),
    }
}

/// Reads a stream whole, byte by byte, and cut.
fn stream(format: ApiFormat, bytes: &[u8], cuts: usize) -> Map<String, Value> {
    let (events, end) = read(format, [bytes]);
    let mut replayed = match &end.response {
        Ok(response) => map(json!({
            "calls": calls(&response.calls),
            "text": response.text,
            "finish": response.finish,
            "is_complete": end.is_complete,
            "native": response.native,
        })),
        Err(error) => map(json!({"error": error.to_string()})),
    };
    let mut faults = Vec::new();
    let mut yielded = called(&events);
    // A call without arguments comes last.
    let whole = end.response.as_ref().map_or(&[][..], |response| &response.calls);
    yielded.sort_by_key(|call| whole.iter().position(|other| other.id == call.id));
    let yielded = calls(&yielded);
    if replayed.get("calls").is_some_and(|calls| *calls != yielded) {
        faults.push(format!("the events have the calls {yielded}"));
    }
    let (pieces, pieces_end) = read(format, bytes.chunks(1));
    if pieces != events || pieces_end != end {
        faults.push("read byte by byte, the response differs".to_owned());
    }
    let step = (bytes.len() / cuts.max(1)).max(1);
    faults.extend((0..bytes.len()).step_by(step).filter_map(|at| cut_off(format, bytes, at, &end)));
    replayed.insert("faults".to_owned(), json!(faults));
    replayed
}

/// Returns a stream's events and end.
fn read<'a>(format: ApiFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<StreamEvent>, StreamEnd) {
    let mut stream = format.accumulator();
    let events = pieces.into_iter().flat_map(|piece| stream.push_bytes(piece)).flatten();
    let mut events: Vec<StreamEvent> = events.collect();
    let end = stream.finish();
    events.extend(end.events.iter().cloned());
    (events, end)
}

/// Reads the first `at` bytes, and returns the fault if a call looks complete but differs.
fn cut_off(format: ApiFormat, bytes: &[u8], at: usize, whole: &StreamEnd) -> Option<String> {
    let (events, end) = read(format, [bytes.get(..at)?]);
    let whole = whole.response.as_ref().ok()?;
    let Ok(response) = end.response else { return None };
    if !end.is_complete && response.finish != FinishReason::Interrupted {
        return Some(format!("cut off at byte {at}, the finish reason is {:?}", response.finish));
    }
    if !whole.text.starts_with(&response.text) {
        return Some(format!("cut off at byte {at}, the text differs"));
    }
    for call in &called(&events) {
        let is_runnable = serde_json::from_str::<Map<String, Value>>(call.arguments.as_str()).is_ok();
        let is_same = whole.calls.iter().any(|expected| {
            (&expected.id, &expected.name, expected.arguments.as_str())
                == (&call.id, &call.name, call.arguments.as_str())
        });
        if is_runnable && !is_same {
            return Some(format!("cut off at byte {at}, there is the call {call:?}"));
        }
    }
    None
}

fn called(events: &[StreamEvent]) -> Vec<ToolCall> {
    let calls = events.iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// Returns calls as JSON, with arguments as a string.
pub(crate) fn calls(calls: &[ToolCall]) -> Value {
    let call = |call: &ToolCall| json!({"id": call.id.as_str(), "name": call.name, "arguments": call.arguments.as_str()});
    calls.iter().map(call).collect()
}

pub(crate) fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
