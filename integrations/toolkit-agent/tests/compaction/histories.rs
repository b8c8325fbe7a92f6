//! Properties of compacted requests.

use super::{agent, body, call, changed_prefixes};
use crate::property::sendable;
use proptest::prelude::*;
use serde_json::json;
use toolkit_agent::compaction::{Compaction, CountTokens, TokenEstimate};
use toolkit_agent::{Agent, Conversation, Sessions};
use toolkit_core::{Media, ToolCall, ToolError, ToolOutput, ToolResult};
use toolkit_llm::{
    AssistantMessage, Message, ModelRequest, ModelResponse, NativeMessages, ScriptedModel, ToolMessage,
};

#[derive(Debug, Clone)]
enum Part {
    User(usize),
    /// A text of the agent (`true`) or of another one.
    Text(bool, usize),
    /// Calls with the lengths of results; a native form has signatures.
    Calls(bool, Vec<usize>, Native),
    /// A paused message and its continuation.
    Paused(usize),
    Picture,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Native {
    None,
    Anthropic,
    Responses,
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..200_usize, 3 => 200..3_000_usize, 1 => 3_000..30_000_usize]
}

fn part() -> impl Strategy<Value = Part> {
    let native = prop_oneof![Just(Native::None), Just(Native::Anthropic), Just(Native::Responses)];
    let own = prop::bool::weighted(0.7);
    prop_oneof![
        3 => length().prop_map(Part::User),
        2 => (own, length()).prop_map(|(own, length)| Part::Text(own, length)),
        6 => (own, prop::collection::vec(length(), 1..4), native)
            .prop_map(|(own, lengths, native)| Part::Calls(own, lengths, native)),
        1 => length().prop_map(Part::Paused),
        1 => Just(Part::Picture),
    ]
}

fn text(length: usize) -> String {
    "Some words and a number, 42. ".chars().cycle().take(length).collect()
}

fn author(own: bool) -> String {
    if own { "agent" } else { "other" }.to_owned()
}

fn native(kind: Native, number: usize, calls: &[ToolCall]) -> Option<NativeMessages> {
    match kind {
        Native::None => None,
        Native::Anthropic => {
            let mut content = vec![json!({"type": "thinking", "thinking": "hm", "signature": "signed"})];
            content.extend(calls.iter().map(
                |call| json!({"type": "tool_use", "id": call.id.as_str(), "name": call.name, "input": {}}),
            ));
            Some(NativeMessages::new("anthropic", vec![json!({"role": "assistant", "content": content})]))
        }
        Native::Responses => {
            let mut items = vec![json!({"type": "reasoning", "summary": [], "encrypted_content": "secret"})];
            items.extend(calls.iter().map(|call| {
                json!({"type": "function_call", "call_id": call.id.as_str(), "name": call.name, "arguments": "{}"})
            }));
            let mut native = NativeMessages::new("openai_responses", items);
            native.response_id = Some(format!("resp_{number}"));
            Some(native)
        }
    }
}

fn add(conversation: &mut Conversation, number: usize, part: &Part) {
    match part {
        Part::User(length) => conversation.push(Message::user(format!("{number}: {}", text(*length)))),
        Part::Text(own, length) => conversation.push(Message::Assistant({
            let mut message = AssistantMessage::text(format!("{number}: {}", text(*length)));
            message.agent = author(*own);
            message
        })),
        Part::Calls(own, lengths, kind) => {
            let calls: Vec<ToolCall> = (0..lengths.len()).map(|index| call(number * 10 + index)).collect();
            let results = calls.iter().zip(lengths).enumerate().map(|(position, (call, length))| {
                let outcome = match length % 5 {
                    0 => Err(ToolError::failed(text(*length))),
                    _ => Ok(ToolOutput::text(text(*length))),
                };
                ToolResult::of(call, outcome).with_position(position)
            });
            let mut results = ToolMessage::new(results.collect());
            results.agent = author(*own);
            let mut message = AssistantMessage::default().with_calls(calls);
            message.native = native(*kind, number, &message.calls);
            message.agent = author(*own);
            conversation.push(message);
            conversation.push(Message::Tool(results));
        }
        Part::Paused(length) => {
            let mut message = AssistantMessage::text(format!("{number}: searching"));
            message.agent = author(true);
            message.paused = true;
            conversation.push(message.clone());
            message.text = text(*length) + "found";
            message.paused = false;
            conversation.push(message);
        }
        Part::Picture => {
            let call = call(number * 10);
            let mut message = AssistantMessage::default().with_calls([call.clone()]);
            message.agent = author(true);
            let output = ToolOutput::from(Media::new("image/png", b"\x89PNG"));
            let mut results = ToolMessage::new(vec![ToolResult::of(&call, Ok(output))]);
            results.agent = author(true);
            conversation.push(message);
            conversation.push(Message::Tool(results));
        }
    }
}

const WINDOW: u64 = 4_000;

fn compacting(model: &ScriptedModel, with_summary: bool) -> Agent {
    let compaction = if with_summary {
        Compaction::new(WINDOW).with_summary(|request| async move {
            Ok::<_, String>(format!("{} messages: {}", request.messages.len(), text(600)))
        })
    } else {
        Compaction::new(WINDOW)
    };
    agent(model, compaction).build().unwrap()
}

/// Returns whether earlier messages could be left out.
fn is_boundary(messages: &[Message], index: usize) -> bool {
    !matches!(&messages[index], Message::Tool(_))
        && !matches!(&messages[index - 1], Message::Assistant(before) if before.paused)
}

/// Checks that a request fits, or nothing more could be left out.
fn fits(request: &ModelRequest, input: &str) -> Result<(), TestCaseError> {
    sendable(request)?;
    let messages = &request.messages;
    prop_assert!(matches!(messages.first(), Some(Message::User(_))), "{messages:?}");
    let has_input = messages.iter().any(|message| message.to_text().ends_with(input));
    prop_assert!(has_input, "the unanswered message is missing: {messages:?}");
    let has_first = messages.iter().any(|message| message.to_text().contains("Begin."));
    prop_assert!(has_first, "the first message is missing: {messages:?}");
    for (index, message) in messages.iter().enumerate() {
        if let Message::Assistant(said) = message
            && said.paused
        {
            let next = messages.get(index + 1);
            prop_assert!(matches!(next, Some(Message::Assistant(next)) if next.text.ends_with("found")));
        }
    }
    if TokenEstimate.count_request(request) > WINDOW - WINDOW / 8 {
        let boundaries = (2..messages.len()).filter(|index| is_boundary(messages, *index)).count();
        prop_assert_eq!(boundaries, 0, "{:?}", messages);
    }
    Ok(())
}

async fn check(parts: &[Part], with_summary: bool) -> Result<(), TestCaseError> {
    let answers = || ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("Yes.")));
    let mut conversation = Conversation::new("1");
    conversation.push(Message::user("Begin."));
    parts.iter().enumerate().for_each(|(number, part)| add(&mut conversation, number, part));
    let before = conversation.messages().to_vec();

    // The same conversation leads to the same request.
    let saved = serde_json::to_string(&conversation).unwrap();
    let mut again: Conversation = serde_json::from_str(&saved).unwrap();
    let model = answers();
    let other = answers();
    let one = compacting(&model, with_summary);
    let two = compacting(&other, with_summary);
    let input = "And what now?";
    one.run(input).on(&mut conversation).await.unwrap();
    two.run(input).on(&mut again).await.unwrap();
    let request = &model.requests()[0];
    let repeated = &other.requests()[0];
    fits(request, input)?;
    prop_assert_eq!(&request.messages, &repeated.messages);

    // The conversation keeps all its messages, and native forms stay as received.
    prop_assert_eq!(&conversation.messages()[..before.len()], &before[..]);
    for message in &request.messages {
        let Message::Assistant(said) = message else { continue };
        let native = said.native.as_ref().map(|native| &native.messages);
        let received = before.iter().any(|message| match message {
            Message::Assistant(before) => {
                before.calls == said.calls && before.native.as_ref().map(|native| &native.messages) == native
            }
            _ => false,
        });
        prop_assert!(received, "{said:?}");
    }

    // The next request continues the prompt, also after saving and loading.
    let sessions = Sessions::default();
    let mut stored = sessions.user("ada").conversation("1").open().await.unwrap();
    before.iter().cloned().for_each(|message| stored.push(message));
    sessions.save(&mut stored).await.unwrap();
    let third = answers();
    let three = compacting(&third, with_summary);
    for (run, input) in [input, "And then?", "Go on.", "More."].into_iter().enumerate() {
        if run > 0 {
            one.run(input).on(&mut conversation).await.unwrap();
        }
        three.run(input).on(sessions.user("ada").conversation("1")).await.unwrap();
        let request = &model.requests()[run];
        let loaded = &third.requests()[run];
        fits(request, input)?;
        prop_assert_eq!(body(request), body(loaded));
    }
    // Compaction without the latest messages may be needed again when they are old. Four short questions need
    // no more.
    prop_assert!(changed_prefixes(&model.requests())? <= 2);
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(64))]

    #[test]
    fn a_compacted_request_is_valid_small_and_stable(
        parts in prop::collection::vec(part(), 0..40),
        with_summary in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(check(&parts, with_summary))?;
    }
}
