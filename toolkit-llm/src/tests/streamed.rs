//! Answers of every format, read from one body and from a stream.

mod bodies;
mod habits;
mod order;

use crate::{ApiFormat, Response, StreamEvent, WireError};
use bodies::{Body, body};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use toolkit_core::call::ToolCall;

/// A part of an answer, independent of the provider.
#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Reasoning(String),
    Refusal(String),
    Call { name: &'static str, arguments: Value },
}

impl Part {
    /// Returns the text of a part, and its kind as in the events.
    fn text(&mut self) -> Option<(u8, &mut String)> {
        match self {
            Self::Text(text) => Some((0, text)),
            Self::Reasoning(text) => Some((1, text)),
            Self::Refusal(text) => Some((2, text)),
            Self::Call { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Complete,
    Limit,
    Blocked,
}

#[derive(Debug, Clone)]
struct Answer {
    parts: Vec<Part>,
    end: End,
    /// The tokens of the input, the output, the cache and the reasoning.
    tokens: [u64; 4],
}

impl Answer {
    /// Creates an answer.
    ///
    /// Adjacent texts of the same kind are joined, as providers write them.
    fn new(parts: Vec<Part>, end: End, tokens: [u64; 4]) -> Self {
        let mut joined: Vec<Part> = Vec::new();
        for mut part in parts {
            match (joined.last_mut().and_then(Part::text), part.text()) {
                (Some((known, text)), Some((kind, more))) if known == kind => text.push_str(more),
                _ => joined.push(part),
            }
        }
        // A body does not state whether the arguments of its last call were cut off.
        let ends_with_call = matches!(joined.last(), Some(Part::Call { .. }));
        Self { parts: joined, end: if ends_with_call { End::Complete } else { end }, tokens }
    }

    fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }

    fn without_refusals(&self) -> Self {
        let parts = self.parts.iter().cloned().map(|part| match part {
            Part::Refusal(text) => Part::Text(text),
            part => part,
        });
        Self::new(parts.collect(), self.end, self.tokens)
    }

    fn without_empty_texts(&self) -> Self {
        let mut parts = self.parts.clone();
        parts.retain_mut(|part| part.text().is_none_or(|(_, text)| !text.is_empty()));
        Self::new(parts, self.end, self.tokens)
    }

    fn all<'a>(&'a self, pick: impl Fn(&'a Part) -> Option<&'a String>) -> String {
        self.parts.iter().filter_map(pick).map(String::as_str).collect()
    }
}

fn part() -> impl Strategy<Value = Part> {
    let text = || prop_oneof![4 => "[ab1 \n\"\\\\{é€😀]{0,9}", 1 => select(vec!["true", "[1]", "{\"a\":1}"]).prop_map(str::to_owned)];
    let value = prop_oneof![any::<i32>().prop_map(Value::from), text().prop_map(Value::from)];
    let arguments = btree_map("[a-cé]{1,2}", value, 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    prop_oneof![
        3 => text().prop_map(Part::Text),
        2 => text().prop_map(Part::Reasoning),
        1 => text().prop_map(Part::Refusal),
        3 => (select(vec!["f", "g"]), arguments).prop_map(|(name, arguments)| Part::Call { name, arguments }),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    let end = prop_oneof![3 => Just(End::Complete), 1 => Just(End::Limit), 1 => Just(End::Blocked)];
    let parts = (vec(part(), 0..6), 0..6_usize, 0..3_usize).prop_map(|(mut parts, at, count)| {
        if let Some(call @ Part::Call { .. }) = parts.get(at).cloned() {
            parts.splice(at..at, vec![call; count]);
        }
        parts
    });
    (parts, end, any::<[u16; 4]>())
        .prop_map(|(parts, end, tokens)| Answer::new(parts, end, tokens.map(u64::from)))
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Heard {
    text: String,
    reasoning: String,
    refusal: String,
    pub(super) calls: Vec<ToolCall>,
    /// The id, the name and the pieces of the arguments of each announced call.
    begun: Vec<(String, String, String)>,
}

pub(super) fn hear(events: Vec<StreamEvent>) -> Heard {
    let mut heard = Heard::default();
    for event in events {
        match event {
            StreamEvent::Text(piece) => heard.text.push_str(&piece),
            StreamEvent::Reasoning(piece) => heard.reasoning.push_str(&piece),
            StreamEvent::Refusal(piece) => heard.refusal.push_str(&piece),
            StreamEvent::Call(call) => heard.calls.push(call),
            StreamEvent::CallStarted { id, name } => {
                heard.begun.push((id.as_str().to_owned(), name, String::new()));
            }
            StreamEvent::Arguments { id, piece } => {
                let begun = heard.begun.iter_mut().find(|begun| begun.0 == id.as_str());
                begun.expect("a call that was announced").2.push_str(&piece);
            }
            _ => {}
        }
    }
    heard
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

/// Returns the parts of messages in the JSON of an API, if each part stands for itself.
fn native_parts(format: ApiFormat, messages: &[Value]) -> Vec<Value> {
    match format {
        ApiFormat::Anthropic | ApiFormat::Bedrock => {
            messages.iter().filter_map(|message| message["content"].as_array()).flatten().cloned().collect()
        }
        ApiFormat::OpenAiResponses | ApiFormat::GeminiInteractions => messages.to_vec(),
        _ => Vec::new(),
    }
}

fn is_native_call(part: &Value) -> bool {
    part.get("toolUse").is_some() || matches!(part["type"].as_str(), Some("tool_use" | "function_call"))
}

/// Writes pieces of texts as JSON, as a server does that parses each of them: `"1"` becomes `1`.
fn parse_pieces(event: &mut Value) {
    const PIECES: [&str; 7] =
        ["content", "text", "thinking", "reasoning_content", "refusal", "tool_plan", "delta"];
    const OTHERS: [&str; 5] = ["item", "response", "tool_calls", "toolUse", "functionCall"];
    match event {
        Value::Array(list) => list.iter_mut().for_each(parse_pieces),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match value {
            Value::String(text) if PIECES.contains(&name.as_str()) => {
                let parsed = serde_json::from_str::<Value>(text).unwrap_or_default();
                let written = parsed.to_string();
                if !parsed.is_null() && !parsed.is_string() && written == *text {
                    *value = parsed;
                }
            }
            value if !OTHERS.contains(&name.as_str()) => parse_pieces(value),
            _ => {}
        }),
        _ => {}
    }
}

fn check(format: ApiFormat, answer: &Answer, cuts: &[usize], is_parsed: bool) -> Result<(), TestCaseError> {
    let Body { whole, mut events } = body(format, answer, cuts);
    if is_parsed {
        events.iter_mut().for_each(parse_pieces);
    }
    let mut stream = format.accumulator().with_argument_events();
    let mut brought = Vec::new();
    let mut taken = Vec::new();
    let pushed: Result<(), WireError> = events.iter().try_for_each(|event| {
        brought.extend(stream.push(event)?);
        taken.extend(native_parts(format, &stream.take_native()));
        Ok(())
    });
    let yielded = brought.iter().filter(|event| matches!(event, StreamEvent::Call(_))).count();
    let end = stream.finish();
    prop_assert!(end.is_complete, "{format}");
    brought.extend(end.events);
    let read = format.parse_response(&whole);
    match (&read, &end.response, pushed) {
        (Ok(read), Ok(streamed), Ok(())) => {
            prop_assert_eq!(streamed, read, "{}", format);
            let native = native_parts(format, &read.native);
            let mut rest = native.clone();
            for part in &taken {
                let place = rest.iter().position(|other| other == part);
                prop_assert!(place.is_some(), "{format}: {taken:?} of {native:?}");
                rest.remove(place.unwrap_or_default());
            }
            let calls = taken.iter().filter(|part| is_native_call(part)).count();
            prop_assert!(native.is_empty() || calls == yielded, "{format}: {taken:?}");
            let Response { text, reasoning, refusal, calls, .. } = read.clone();
            let mut heard = hear(brought);
            if answer.end == End::Blocked {
                heard.refusal.clone_from(&refusal);
            }
            // A call without arguments is returned last.
            let place = |id: &str| calls.iter().position(|call| call.id == id);
            heard.calls.sort_by_key(|call| place(call.id.as_str()));
            heard.begun.sort_by_key(|(id, ..)| place(id));
            let begun = std::mem::take(&mut heard.begun);
            prop_assert_eq!(begun.len(), calls.len(), "{}", format);
            // Two APIs send the arguments of a call at once.
            let sends_pieces = !matches!(format, ApiFormat::Gemini | ApiFormat::Ollama);
            for ((id, name, pieces), call) in begun.iter().zip(&calls) {
                prop_assert_eq!((id.as_str(), name), (call.id.as_str(), &call.name), "{}", format);
                let is_same = || json(pieces) == json(call.arguments.as_str());
                prop_assert!(!sends_pieces || is_same(), "{format}: {pieces}");
            }
            prop_assert_eq!(
                heard,
                Heard { text, reasoning, refusal, calls, begun: Vec::new() },
                "{}",
                format
            );
        }
        (Err(read), Err(streamed), pushed) => {
            prop_assert_eq!(streamed, read, "{}", format);
            prop_assert_eq!(&pushed.unwrap_err(), read, "{}", format);
        }
        (read, streamed, pushed) => prop_assert!(false, "{format}: {read:?}\n{streamed:?}\n{pushed:?}"),
    }
    Ok(())
}

proptest! {
    /// The events have the texts and calls of the response, which is the same as in one body.
    #[test]
    fn a_stream_says_what_one_body_says(answer in answer(), cuts in vec(0..16_usize, 0..4), is_parsed in any::<bool>()) {
        for &format in ApiFormat::ALL {
            check(format, &answer, &cuts, is_parsed)?;
        }
    }

    /// Without `alt=sse`, Gemini sends a list of events.
    ///
    /// If it breaks off, the response is not complete.
    #[test]
    fn a_list_of_events_is_a_stream(answer in answer(), cuts in vec(1..40_usize, 1..9), end in any::<Index>()) {
        let events = body(ApiFormat::Gemini, &answer, &[3]).events;
        let list = serde_json::to_vec_pretty(&events).expect("JSON");
        let mut pushed = ApiFormat::Gemini.accumulator();
        let expected: Vec<_> = events.iter().flat_map(|event| match pushed.push(event) {
            Ok(events) => events.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }).collect();
        let mut rest = &list[..];
        let mut stream = ApiFormat::Gemini.accumulator();
        let mut read = Vec::new();
        for size in cuts.iter().cycle() {
            let (piece, after) = rest.split_at(rest.len().min(*size));
            read.extend(stream.push_bytes(piece));
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(&read, &expected);
        prop_assert_eq!(stream.finish(), pushed.finish());
        let mut broken = ApiFormat::Gemini.accumulator();
        let read = broken.push_bytes(&list[..end.index(list.len() - 2)]);
        prop_assert_eq!(&read, &expected[..read.len()]);
        prop_assert!(!broken.finish().is_complete);
    }
}

#[test]
fn a_list_with_other_values_is_refused() {
    for list in ["[1]", "[null, {}]", "[\"a\"]"] {
        let mut stream = ApiFormat::Gemini.accumulator();
        let read = stream.push_bytes(list.as_bytes());
        assert!(matches!(&read[..], [Err(_), ..]), "{list}: {read:?}");
    }
}
