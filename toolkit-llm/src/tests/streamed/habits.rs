//! Servers with habits: streams that deviate from the reference of their API, break off, or report an error.

mod server;

use super::bodies::{Body, body};
use super::{Answer, End, Part, answer, hear};
use crate::{ApiFormat, FinishReason};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use server::{HABITS, Habit, apply};
use toolkit_core::call::ToolCall;
use toolkit_schema::__private::extract_object;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Complete,
    /// The connection breaks after so many events, modulo their number.
    Broken(usize),
    /// An error comes after so many events, modulo their number.
    Failed(usize),
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

/// Returns the number of events after the one that announces the end.
fn after_end(format: ApiFormat) -> usize {
    usize::from(matches!(format, ApiFormat::OpenAiChat | ApiFormat::Anthropic | ApiFormat::Bedrock))
}

/// Returns the id, the name and the arguments of a call, or no arguments if the dispatcher refuses them.
fn written(call: &ToolCall) -> (String, String, Option<Value>) {
    let arguments = extract_object(call.arguments.as_str()).and_then(|text| serde_json::from_str(&text).ok());
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
    let mut habits = habits.to_vec();
    // Calls are repeated and renamed before their events lose fields.
    habits.sort();
    // A server repeats a call in one way. Otherwise, the repetition itself would be repeated.
    habits.dedup_by(|one, other| one.is_repetition() && other.is_repetition());
    if habits.contains(&Habit::OtherCallId) {
        // Another index, no item and another id would be another call.
        habits.retain(|habit| *habit != Habit::GrowingIndex);
    }
    if habits.contains(&Habit::PartAndWhole) {
        let has_index =
            |habit: &Habit| !matches!(habit, Habit::HeaderWithoutIndex | Habit::SameIndex | Habit::NoIndex);
        habits.retain(has_index);
    }
    habits.into_iter().for_each(|habit| apply(habit, &mut events));
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
    // Each call of the answer is yielded once, with its arguments or refused.
    let mut rest: Vec<_> = format.parse_calls(&whole).unwrap_or_default().iter().map(written).collect();
    let meant = answer.parts.iter().filter(|part| matches!(part, Part::Call { .. })).count();
    prop_assert_eq!(rest.len(), meant, "{}", format);
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
    /// A call is yielded once, with its arguments, or is refused.
    ///
    /// A broken stream is not complete.
    #[test]
    fn servers_with_habits_run_no_wrong_call(
        answer in answer(),
        cuts in vec(0..16_usize, 0..4),
        habits in vec(select(HABITS.to_vec()), 0..3),
        fate in fate(),
    ) {
        for &format in ApiFormat::ALL {
            let answer = Answer { end: if answer.end == End::Blocked { End::Complete } else { answer.end }, ..answer.clone() };
            check(format, &answer, &cuts, &habits, fate)?;
        }
    }
}
