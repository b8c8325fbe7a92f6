//! What servers do differently, as changes of the events of a stream.

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Habit {
    /// After its arguments, a call is sent once more, with the arguments in a string.
    InString,
    /// A call is sent once more at the next index, with other white space.
    AtNextIndex,
    /// A call breaks off and is sent once more, whole, at the next index.
    PartAndWhole,
    /// Calls begin twice, the second time with another id.
    BegunTwice,
    /// The event that ends a call gives it another id, and does not name its item.
    OtherCallId,
    /// The event that ends a call gives it another id.
    OtherCallIdOfItem,
    /// Each piece of arguments has an id of its own, and the name.
    IdPerPiece,
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
    /// The pieces of arguments have no index, and name their item by its call id.
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

impl Habit {
    pub(super) fn is_repetition(self) -> bool {
        matches!(self, Self::InString | Self::AtNextIndex | Self::PartAndWhole)
    }
}

pub(super) const HABITS: [Habit; 24] = [
    Habit::InString,
    Habit::AtNextIndex,
    Habit::PartAndWhole,
    Habit::BegunTwice,
    Habit::OtherCallId,
    Habit::OtherCallIdOfItem,
    Habit::IdPerPiece,
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

const INDICES: [&str; 6] = [
    "/index",
    "/output_index",
    "/choices/0/delta/tool_calls/0/index",
    "/contentBlockStart/contentBlockIndex",
    "/contentBlockDelta/contentBlockIndex",
    "/contentBlockStop/contentBlockIndex",
];

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

/// Returns the object with the name and the arguments of a call.
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

/// Changes the events of a stream.
///
/// The habit changes nothing in APIs without the field.
pub(super) fn apply(habit: Habit, events: &mut Vec<Value>) {
    let mut count = 0;
    match habit {
        Habit::InString | Habit::AtNextIndex | Habit::PartAndWhole => repeat(habit, events),
        Habit::BegunTwice => begin_twice(events),
        Habit::OtherCallId | Habit::OtherCallIdOfItem => rename_ends(habit, events),
        Habit::IdPerPiece => name_pieces(events),
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

const CHAT_CALL: &str = "/choices/0/delta/tool_calls/0";

fn repeat(habit: Habit, events: &mut Vec<Value>) {
    let mut at = 0;
    while at < events.len() {
        let first = at;
        at += 1;
        if events[first].pointer(CHAT_CALL).is_none() || !is_begin(&mut events[first]) {
            continue;
        }
        let mut text = String::new();
        while at < events.len() && is_piece(&mut events[at]) {
            text += events[at].pointer(PIECES[0]).and_then(Value::as_str).unwrap_or_default();
            at += 1;
        }
        let mut again = events[first].clone();
        let call = again.pointer_mut(CHAT_CALL).expect("a call");
        if habit != Habit::InString {
            call["index"] = json!(call["index"].as_u64().unwrap_or_default() + 1);
        }
        call["function"]["arguments"] = match habit {
            Habit::InString => json!(json!(text).to_string()),
            Habit::AtNextIndex => json!(format!(" {text}\n")),
            _ => json!(text),
        };
        let dropped = if habit == Habit::PartAndWhole { at.min(first + 2)..at } else { at..at };
        at = dropped.start + 1;
        events.splice(dropped, [again]);
    }
}

fn begin_twice(events: &mut Vec<Value>) {
    for at in (1..events.len()).rev() {
        if !is_piece(&mut events[at]) || !is_begin(&mut events[at - 1]) {
            continue;
        }
        let mut again = events[at - 1].clone();
        let ids =
            ["/item/call_id", "/content_block/id", "/step/id", "/contentBlockStart/start/toolUse/toolUseId"];
        let chat = ["/choices/0/delta/tool_calls/0/id", "/delta/message/tool_calls/id"];
        let id = self::at(&mut again, &[&ids[..], &chat[..]].concat()).expect("an id");
        *id = json!(format!("again_{}", id.as_str().unwrap_or_default()));
        events.insert(at, again);
    }
}

fn rename_ends(habit: Habit, events: &mut [Value]) {
    for event in events.iter_mut().filter(|event| event["type"] == "response.output_item.done") {
        let Some(id) = event.pointer_mut("/item/call_id") else { continue };
        *id = json!(format!("other_{}", id.as_str().unwrap_or_default()));
        if habit == Habit::OtherCallId {
            event["item"]["id"] = Value::Null;
        }
    }
}

/// Gives each piece of arguments of Chat Completions its tool name and a new id.
fn name_pieces(events: &mut [Value]) {
    let mut name = Value::Null;
    for (at, event) in events.iter_mut().enumerate() {
        let (is_piece, is_begin) = (is_piece(event), is_begin(event));
        let Some(call) = event.pointer_mut(CHAT_CALL) else { continue };
        if is_begin {
            name = call["function"]["name"].clone();
        } else if is_piece {
            call["function"]["name"] = name.clone();
            call["id"] = json!(format!("piece_{at}"));
        }
    }
}
