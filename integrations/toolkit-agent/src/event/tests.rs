//! Tests that every event equals the event deserialized from its JSON.

use super::*;
use crate::event::GuardAction;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit_core::schema::SchemaLoss;
use toolkit_core::{Content, Media, ToolCall, ToolError, ToolOutput};
use toolkit_llm::{FinishReason, Usage};
use toolkit_llm::{Message, NativeMessages, UserMessage};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[ -~ü\n\"\\\\]{0,9}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        text().prop_map(Content::Text),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| Media::new("image/png", bytes).into()),
        text().prop_map(|url| Media::from_url("audio/wav", url).with_name("a").into()),
    ]
}

fn pending() -> impl Strategy<Value = ToolError> {
    prop_oneof![text().prop_map(ToolError::question), text().prop_map(ToolError::deferred)]
}

fn result() -> impl Strategy<Value = ToolResult> {
    let outcome = prop_oneof![
        (prop::collection::vec(content(), 0..4), prop::option::of(value())).prop_map(
            |(contents, structured)| {
                let output = ToolOutput::new(contents);
                Ok(structured.into_iter().fold(output, ToolOutput::with_structured))
            }
        ),
        value().prop_map(|value| Ok(ToolOutput::json(&value).unwrap())),
        (text(), any::<bool>()).prop_map(|(text, stored)| {
            let error = ToolError::failed(text).with_retryable(stored);
            Err(if stored { error.with_details("why").with_stored_details(true) } else { error })
        }),
        pending().prop_map(Err),
    ];
    (text(), text(), outcome, 0..9_usize, any::<u32>(), value()).prop_map(
        |(id, name, outcome, position, nanos, value)| {
            let mut result = ToolResult::new(id.into(), name, outcome).with_position(position);
            result.duration = Duration::from_nanos(nanos.into());
            // In JSON, `null` marks a removed value.
            let set = Some(value).filter(|value| !value.is_null());
            result.actions.state_delta = [("a".to_owned(), set), ("b".to_owned(), None)].into();
            result
        },
    )
}

fn message() -> impl Strategy<Value = AssistantMessage> {
    let native = prop::option::of(value().prop_map(|value| NativeMessages::new("anthropic", vec![value])));
    (text(), text(), text(), native, any::<bool>()).prop_map(|(agent, text, reasoning, native, paused)| {
        let call = ToolCall::new(agent.as_str(), text.as_str(), reasoning.as_str());
        let mut message = AssistantMessage::text(text).by(agent);
        message.reasoning = reasoning;
        message.native = native;
        message.paused = paused;
        if paused { message } else { message.with_calls([call]) }
    })
}

fn output() -> impl Strategy<Value = RunOutput> {
    let messages = prop_oneof![
        prop::collection::vec(content(), 0..3).prop_map(|content| Message::User(UserMessage::new(content))),
        message().prop_map(Message::Assistant),
        prop::collection::vec(result(), 0..3)
            .prop_map(|results| Message::Tool(toolkit_llm::ToolMessage::new(results))),
    ];
    (prop::collection::vec(messages, 0..4), text(), 0.0..1e9, any::<u32>()).prop_map(
        |(messages, text, cost, count)| RunOutput {
            agent: text.clone(),
            finish: if count % 2 == 0 { FinishReason::Stop } else { FinishReason::Other(text.clone()) },
            text,
            usage: Usage::new(count.into(), 7),
            cost,
            model_calls: count,
            messages: messages.into(),
            ..RunOutput::default()
        },
    )
}

fn tool_event() -> impl Strategy<Value = ToolEvent> {
    (text(), any::<u32>(), prop::option::of(text())).prop_map(|(tool, attempt, reason)| {
        let kind = ["tool.call", "tool.start", "tool.error"][attempt as usize % 3];
        let event = json!({
            "type": kind, "timestamp_ms": attempt, "batch": 1, "position": 2, "call_id": tool, "tool": tool,
            "call_reason": reason, "arguments_bytes": 3, "attempt": attempt, "error": "failed",
            "message": tool, "duration_ms": 1.5, "total_ms": 2.25, "attempts": 1, "output_bytes": 7,
        });
        serde_json::from_value(event).unwrap()
    })
}

fn within() -> impl Strategy<Value = Vec<RunScope>> {
    let scope = prop_oneof![
        text().prop_map(|id| RunScope::Call(id.into())),
        any::<usize>().prop_map(RunScope::Branch),
    ];
    prop::collection::vec(scope, 0..4)
}

/// Events that have only texts.
fn text_event() -> impl Strategy<Value = RunEvent> {
    (text(), text(), text(), within()).prop_flat_map(|(agent, text, call_id, within)| {
        let message_id: Arc<str> = call_id.as_str().into();
        let key: Arc<str> = format!("{call_id}.0").into();
        let call_id = CallId::from(call_id);
        prop::sample::select(vec![
            RunEvent::AgentStarted { agent: agent.clone(), within: within.clone() },
            RunEvent::ModelCalled { agent: agent.clone(), model: text.clone(), within: within.clone() },
            RunEvent::Text {
                agent: agent.clone(),
                message_id: message_id.clone(),
                text: text.clone(),
                within: within.clone(),
            },
            RunEvent::Reasoning {
                agent: agent.clone(),
                message_id: message_id.clone(),
                text: text.clone(),
                within: within.clone(),
            },
            RunEvent::CallStarted {
                agent: agent.clone(),
                message_id: message_id.clone(),
                key: key.clone(),
                call_id: call_id.clone(),
                tool: text.clone(),
                within: within.clone(),
            },
            RunEvent::CallArguments {
                agent: agent.clone(),
                message_id,
                key,
                call_id,
                piece: text.clone(),
                within: within.clone(),
            },
            RunEvent::RequestLosses {
                agent: agent.clone(),
                losses: vec![SchemaLoss::new(agent.as_str(), text.as_str(), text.as_str()).into()],
                within: within.clone(),
            },
            RunEvent::ModelRetried {
                agent: agent.clone(),
                error: text.clone(),
                pause: Duration::new(text.len() as u64, 3),
                within: within.clone(),
            },
            RunEvent::Compacted {
                agent: agent.clone(),
                tokens_before: text.len() as u64,
                tokens_after: 7,
                messages_left_out: 3,
                summary_error: (text.len() % 2 == 0).then(|| text.clone()),
                within: within.clone(),
            },
            RunEvent::AnswerBroken {
                agent: agent.clone(),
                error: text.clone(),
                pause: Duration::new(text.len() as u64, 3),
                within: within.clone(),
            },
            RunEvent::Guardrail {
                agent: agent.clone(),
                guardrail: text.clone(),
                action: GuardAction::Blocked,
                reason: text.clone(),
                within: within.clone(),
            },
            RunEvent::Transferred { from: agent.clone(), to: text.clone(), within: within.clone() },
            RunEvent::BranchFailed { agent: agent.clone(), error: text, within: within.clone() },
            RunEvent::AgentEnded { agent, within },
        ])
    })
}

fn event() -> impl Strategy<Value = RunEvent> {
    prop_oneof![
        4 => text_event(),
        1 => (text(), prop::option::of(text()), tool_event(), within()).prop_map(|(agent, key, event, within)| {
            RunEvent::Tool { agent, key, event: Box::new(event), within }
        }),
        1 => (text(), value(), prop::option::of(value()), within()).prop_map(|(agent, arguments, output, within)| {
            let mut call = HostedCall::default();
            agent.clone_into(&mut call.id);
            call.arguments = arguments;
            call.output = output.filter(|output| !output.is_null());
            let message_id = agent.as_str().into();
            RunEvent::HostedCall { agent, message_id, call: Box::new(call), within }
        }),
        1 => (text(), text(), result(), within()).prop_map(|(agent, key, result, within)| {
            RunEvent::Result { agent, key: key.into(), result: Box::new(result), within }
        }),
        1 => (text(), pending(), within()).prop_map(|(agent, error, within)| RunEvent::CallPending {
            key: format!("{agent}.2").into(),
            call_id: agent.as_str().into(),
            agent,
            reason: error.pending().unwrap().clone(),
            within,
        }),
        1 => (text(), message(), within()).prop_map(|(id, message, within)| RunEvent::Message {
            message_id: id.into(),
            message: Box::new(message),
            within,
        }),
        1 => (text(), value(), within())
            .prop_map(|(name, data, within)| RunEvent::Custom { name, data, within }),
        1 => output().prop_map(|output| RunEvent::Finished { output: Box::new(output) }),
        1 => (output(), pending()).prop_map(|(output, error)| {
            let call = ToolCall::new("c", "pay", "{}");
            let reason = error.pending().unwrap().clone();
            let pending = vec![PendingCall { id: "1.1.0".to_owned(), agent: output.agent.clone(), call, reason }];
            RunEvent::Waiting { pending, output: Box::new(output) }
        }),
    ]
}

proptest! {
    #[test]
    fn an_event_is_read_as_it_was_written(event in event()) {
        let written = serde_json::to_string(&event).unwrap();
        let read: RunEvent = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&read, &event, "{}", written);
        let value = serde_json::to_value(&event).unwrap();
        prop_assert_eq!(serde_json::from_value::<RunEvent>(value).unwrap(), event);
    }
}

#[test]
fn events_are_written_as_before() {
    let agent = || "a".to_owned();
    let cases = [
        (
            RunEvent::Text {
                agent: agent(),
                message_id: "1.2".into(),
                text: "hi".to_owned(),
                within: Vec::new(),
            },
            json!({"type": "text", "agent": "a", "message_id": "1.2", "text": "hi"}),
        ),
        (
            RunEvent::CallArguments {
                agent: agent(),
                message_id: "b1/1.2".into(),
                key: "b1/1.2.0".into(),
                call_id: "c".into(),
                piece: "{".to_owned(),
                within: vec![RunScope::Branch(1), RunScope::Call("x".into())],
            },
            json!({"type": "call_arguments", "agent": "a", "message_id": "b1/1.2", "key": "b1/1.2.0",
                "call_id": "c", "piece": "{",
                "within": [{"branch": 1}, {"call": "x"}]}),
        ),
    ];
    for (event, expected) in cases {
        assert_eq!(serde_json::to_value(&event).unwrap(), expected);
    }
}
