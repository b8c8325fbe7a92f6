//! Servers with habits: streams that deviate from the reference of their API, break off, or report an error.

use super::bodies::{Body, body};
use super::{Answer, End, answer, hear};
use crate::{ApiFormat, FinishReason};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;

/// What a server does differently.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Habit {
    /// Each piece of arguments has the next index.
    GrowingIndex,
    /// The pieces of arguments have the index of the next call.
    NextIndex,
    /// The events that begin calls have no index.
    HeaderWithoutIndex,
    /// All events have the index 0.
    SameIndex,
    /// No event has an index.
    NoIndex,
    /// The pieces of arguments have no index, and name their item by the id of its call.
    CallIds,
    /// The pieces of arguments have no index and an unknown id.
    UnknownIds,
    /// The events that end a call have no arguments.
    EmptyEnds,
    /// The events that end a call have an empty object as arguments.
    ObjectEnds,
    /// The final response gives the calls other ids.
    FinalIds,
    /// The final response lists no items.
    EmptyFinal,
    /// A complete call or the end of a call is sent twice.
    Twice,
    /// A call is sent with an empty object, and then its arguments without the name.
    SplitCalls,
    /// Each piece of arguments is followed by an empty one.
    EmptyPieces,
    /// The end of a call comes before its arguments.
    LateArguments,
    /// The ends of calls are not sent.
    NoEnds,
    /// The reason at the end is a word that no API has.
    UnknownWord,
}

const HABITS: [Habit; 17] = [
    Habit::GrowingIndex,
    Habit::NextIndex,
    Habit::HeaderWithoutIndex,
    Habit::SameIndex,
    Habit::NoIndex,
    Habit::CallIds,
    Habit::UnknownIds,
    Habit::EmptyEnds,
    Habit::ObjectEnds,
    Habit::FinalIds,
    Habit::EmptyFinal,
    Habit::Twice,
    Habit::SplitCalls,
    Habit::EmptyPieces,
    Habit::LateArguments,
    Habit::NoEnds,
    Habit::UnknownWord,
];

/// How the stream ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Complete,
    /// The connection breaks after so many events, modulo their number.
    Broken(usize),
    /// An error comes after so many events, modulo their number.
    Failed(usize),
}

const INDICES: [&str; 6] = [
    "/index",
    "/output_index",
    "/choices/0/delta/tool_calls/0/index",
    "/contentBlockStart/contentBlockIndex",
    "/contentBlockDelta/contentBlockIndex",
    "/contentBlockStop/contentBlockIndex",
];

/// The arguments in an event that begins a call.
const ARGUMENTS: [&str; 8] = [
    "/choices/0/delta/tool_calls/0/function/arguments",
    "/item/arguments",
    "/content_block/input",
    "/candidates/0/content/parts/0/functionCall/args",
    "/step/arguments",
    "/message/tool_calls/0/function/arguments",
    "/contentBlockStart/start/toolUse/input",
    "/delta/message/tool_calls/function/arguments",
];

/// A piece of arguments in an event of its own.
const PIECES: [&str; 6] = [
    "/choices/0/delta/tool_calls/0/function/arguments",
    "/delta/partial_json",
    "/delta/arguments",
    "/delta/message/tool_calls/function/arguments",
    "/contentBlockDelta/delta/toolUse/input",
    "/delta",
];

const WORDS: [&str; 6] = [
    "/choices/0/finish_reason",
    "/delta/stop_reason",
    "/candidates/0/finishReason",
    "/interaction/status",
    "/done_reason",
    "/messageStop/stopReason",
];

fn at<'a>(event: &'a mut Value, places: &[&str]) -> Option<&'a mut Value> {
    let place = places.iter().find(|place| event.pointer(place).is_some_and(|value| !value.is_null()))?;
    event.pointer_mut(place)
}

/// Returns the object with the name and the arguments of a call, if the event has both.
fn call(event: &mut Value) -> Option<&mut Value> {
    let place = ARGUMENTS.iter().map(|place| place.rsplit_once('/').map_or("", |(place, _)| place));
    let places: Vec<&str> =
        place.filter(|place| event.pointer(place).is_some_and(|call| call.get("name").is_some())).collect();
    at(event, &places)
}

fn is_piece(event: &mut Value) -> bool {
    call(event).is_none()
        && at(event, &PIECES).is_some_and(|piece| piece.is_string())
        && !event["type"].as_str().is_some_and(|kind| kind.contains("text"))
}

fn is_end(event: &mut Value) -> bool {
    let kind =
        ["type", "event_type"].iter().find_map(|name| event[*name].as_str()).unwrap_or_default().to_owned();
    let is_item = event["item"]["type"] == "function_call" || event.get("item").is_none();
    event.get("contentBlockStop").is_some()
        || matches!(kind.as_str(), "content_block_stop" | "tool-call-end" | "step.stop")
        || kind == "response.output_item.done" && is_item
}

fn is_begin(event: &mut Value) -> bool {
    call(event).is_some() && !is_end(event)
}

/// Changes the events of a stream. The habit changes nothing in APIs without the field.
fn apply(habit: Habit, events: &mut Vec<Value>) {
    let mut count = 0;
    match habit {
        Habit::GrowingIndex | Habit::NextIndex => {
            for event in events.iter_mut() {
                let is_piece = is_piece(event);
                count += u64::from(is_piece && (habit == Habit::GrowingIndex || count == 0));
                if let Some(index) = at(event, &INDICES).filter(|_| habit == Habit::GrowingIndex || is_piece)
                {
                    *index = json!(index.as_u64().unwrap_or_default() + count);
                }
            }
        }
        Habit::HeaderWithoutIndex | Habit::SameIndex | Habit::NoIndex => {
            for event in events
                .iter_mut()
                .filter_map(|event| (habit != Habit::HeaderWithoutIndex || is_begin(event)).then_some(event))
            {
                if let Some(index) = at(event, &INDICES) {
                    *index = if habit == Habit::SameIndex { json!(0) } else { Value::Null };
                }
            }
        }
        Habit::CallIds | Habit::UnknownIds => {
            let mut id = Value::Null;
            for event in events.iter_mut().filter(|event| event.get("output_index").is_some()) {
                if is_begin(event) {
                    id = event["item"]["call_id"].clone();
                } else if event.get("item").is_none()
                    && event["type"].as_str().is_some_and(|kind| kind.contains("arguments"))
                {
                    event["item_id"] = if habit == Habit::CallIds { id.clone() } else { json!("unknown") };
                    event["output_index"] = Value::Null;
                }
            }
        }
        Habit::EmptyEnds | Habit::ObjectEnds => {
            let text = if habit == Habit::EmptyEnds { "" } else { "{}" };
            for event in events
                .iter_mut()
                .filter(|event| event["type"].as_str().is_some_and(|kind| kind.ends_with(".done")))
            {
                if let Some(arguments) = at(event, &["/arguments", "/item/arguments"]) {
                    *arguments = text.into();
                }
            }
        }
        Habit::FinalIds | Habit::EmptyFinal => {
            let Some(output) = events.last_mut().and_then(|event| event.pointer_mut("/response/output"))
            else {
                return;
            };
            if habit == Habit::EmptyFinal {
                *output = json!([]);
            }
            for item in
                output.as_array_mut().into_iter().flatten().filter(|item| item["type"] == "function_call")
            {
                (item["id"], item["call_id"]) =
                    (json!(format!("other_{count}")), json!(format!("other_call_{count}")));
                count += 1;
            }
        }
        Habit::Twice => {
            let copies = |mut event: Value| {
                let is_whole = call(&mut event).is_some_and(|call| {
                    call.get("args").or(call.get("arguments")).is_some_and(Value::is_object)
                });
                vec![
                    event.clone();
                    if is_whole && event.get("step").is_none() || is_end(&mut event) { 2 } else { 1 }
                ]
            };
            *events = std::mem::take(events).into_iter().flat_map(copies).collect();
        }
        Habit::SplitCalls => {
            let split = |mut event: Value| {
                let mut first = event.clone();
                let Some(arguments) = at(&mut first, &ARGUMENTS)
                    .filter(|arguments| arguments.is_object() && **arguments != json!({}))
                else {
                    return vec![event];
                };
                *arguments = json!({});
                if let Some(call) = call(&mut event).and_then(Value::as_object_mut) {
                    call.shift_remove("name");
                    call.shift_remove("id");
                }
                if let Some(call) = event.pointer_mut("/message/tool_calls/0").and_then(Value::as_object_mut)
                {
                    call.shift_remove("id");
                }
                vec![first, event]
            };
            *events = std::mem::take(events).into_iter().flat_map(split).collect();
        }
        Habit::EmptyPieces => {
            let more = |mut event: Value| {
                let mut empty = event.clone();
                match at(&mut empty, &PIECES).filter(|_| is_piece(&mut event)) {
                    Some(piece) => {
                        *piece = "".into();
                        vec![event, empty]
                    }
                    None => vec![event],
                }
            };
            *events = std::mem::take(events).into_iter().flat_map(more).collect();
        }
        Habit::LateArguments => {
            for end in 1..events.len() {
                let mut at = end;
                while is_end(&mut events[at]) && at > 0 && is_piece(&mut events[at - 1]) {
                    events.swap(at, at - 1);
                    at -= 1;
                }
            }
        }
        Habit::NoEnds => events.retain_mut(|event| !is_end(event)),
        Habit::UnknownWord => {
            for event in events.iter_mut() {
                if let Some(word) = at(event, &WORDS).filter(|word| **word != "in_progress") {
                    *word = "a_word_of_next_year".into();
                }
            }
        }
    }
}

fn error(format: ApiFormat) -> Value {
    let error = json!({"message": "The server died."});
    match format {
        ApiFormat::OpenAiResponses => json!({"type": "error", "message": "The server died."}),
        ApiFormat::Anthropic => json!({"type": "error", "error": error}),
        ApiFormat::GeminiInteractions => json!({"event_type": "error", "error": error}),
        ApiFormat::Bedrock => json!({"internalServerException": error}),
        _ => json!({"error": error}),
    }
}

/// Returns the number of events after the event that announces the end.
fn after_end(format: ApiFormat) -> usize {
    usize::from(matches!(format, ApiFormat::OpenAiChat | ApiFormat::Anthropic | ApiFormat::Bedrock))
}

/// Returns the id, the name and the arguments of a call. The arguments are `None` if the call is refused.
fn written(call: &ToolCall) -> (String, String, Option<Value>) {
    let text = if call.arguments.as_str().is_empty() { "{}" } else { call.arguments.as_str() };
    let arguments = serde_json::from_str(text).ok().filter(Value::is_object);
    (call.id.as_str().to_owned(), call.name.clone(), arguments)
}

fn check(
    format: ApiFormat,
    answer: &Answer,
    cuts: &[usize],
    habits: &[Habit],
    fate: Fate,
) -> Result<(), TestCaseError> {
    let Body { whole, mut events } = body(format, answer, cuts);
    habits.iter().for_each(|habit| apply(*habit, &mut events));
    let end = events.len() - after_end(format);
    let is_broken = match fate {
        Fate::Complete => false,
        Fate::Broken(count) => {
            events.truncate(count % (events.len() + 1));
            events.len() < end
        }
        Fate::Failed(count) => {
            events.insert(count % end, error(format));
            true
        }
    };
    let mut stream = format.accumulator();
    let mut found = Vec::new();
    for event in &events {
        found.extend(stream.push(event).unwrap_or_default());
    }
    let end = stream.finish();
    found.extend(end.events);
    let calls = hear(found).calls;
    // Each call is a call of the answer, and is yielded once, with its arguments or refused.
    let mut rest: Vec<_> = format.parse_calls(&whole).unwrap_or_default().iter().map(written).collect();
    for call in &calls {
        let (id, name, arguments) = written(call);
        let place = rest.iter().position(|(other, ..)| *other == id);
        prop_assert!(place.is_some(), "{format}: {calls:?} of {events:#?}");
        let expected = rest.remove(place.unwrap_or_default());
        prop_assert_eq!(name, expected.1, "{}", format);
        prop_assert!(arguments.is_none() || arguments == expected.2, "{format}: {calls:?} of {events:#?}");
    }
    prop_assert!(
        is_broken || rest.is_empty() || fate != Fate::Complete,
        "{format}: {calls:?} of {events:#?}"
    );
    prop_assert!(!(is_broken && end.is_complete), "{format}: {events:#?}");
    let Ok(response) = end.response else { return Ok(()) };
    prop_assert!(
        !is_broken || response.finish == FinishReason::Interrupted,
        "{format}: {:?}",
        response.finish
    );
    let sorted = |calls: &[ToolCall]| {
        let mut calls: Vec<_> = calls.iter().map(written).collect();
        calls.sort_by(|one, other| one.0.cmp(&other.0));
        calls
    };
    prop_assert_eq!(sorted(&calls), sorted(&response.calls), "{}", format);
    // The body and the history have the same calls. Refused calls cannot run there either.
    prop_assert_eq!(
        sorted(&format.parse_calls(&end.body).unwrap_or_default()),
        sorted(&response.calls),
        "{}: {}",
        format,
        end.body
    );
    let refused = calls.iter().filter(|call| written(call).2.is_none()).count();
    let history = Value::from(response.native).to_string();
    prop_assert_eq!(history.matches("invalid_arguments").count(), refused, "{}: {}", format, history);
    Ok(())
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        2 => Just(Fate::Complete),
        1 => any::<usize>().prop_map(Fate::Broken),
        1 => any::<usize>().prop_map(Fate::Failed),
    ]
}

proptest! {
    /// A call of the response is yielded once, with its arguments, or is refused. Nothing else is yielded. A stream that
    /// breaks off or contains an error is not complete.
    #[test]
    fn servers_with_habits_run_no_wrong_call(
        answer in answer(),
        cuts in vec(0..16_usize, 0..4),
        habits in vec(select(HABITS.to_vec()), 0..3),
        fate in fate(),
    ) {
        for format in ApiFormat::ALL {
            let answer = Answer { end: if answer.end == End::Blocked { End::Complete } else { answer.end }, ..answer.clone() };
            check(format, &answer, &cuts, &habits, fate)?;
        }
    }
}
