//! Conversations that outgrow the context window.

mod checks;
mod histories;
mod limits;
mod overflow;
mod storage;
mod summaries;

use crate::property::{answered, sendable};
use crate::support::kind;
use proptest::prelude::TestCaseError;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use toolkit_agent::compaction::{Compaction, CountTokens, TokenEstimate};
use toolkit_agent::{Agent, AgentBuilder, Conversation, Limits, RunEvent, Sessions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::{
    Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelRetry, ScriptedModel, Usage,
    transport,
};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Read {
    page: u32,
}

/// Creates `read`, with pages of 0 to 1,800 characters, harmless to repeat.
fn tools() -> ToolRegistry {
    let read = ClosureTool::new("read", "Reads a page.", |Read { page }: Read| {
        format!("Page {page}. {}", "Lorem ipsum. ".repeat((page as usize * 37) % 138))
    });
    let read = read.unwrap().map_metadata(|metadata| metadata.with_read_only(true));
    ToolRegistry::from_tools([read]).unwrap()
}

fn call(page: usize) -> ToolCall {
    ToolCall::new(format!("call_{page}"), "read", format!(r#"{{"page": {page}}}"#))
}

fn too_long() -> ModelError {
    ModelError::new(ModelErrorKind::ContextTooLong, "maximum context length exceeded")
}

/// Creates a model with a window, which calls `read` until it has had `turns` turns since the question.
fn windowed(window: u64, turns: usize, reports_usage: bool) -> ScriptedModel {
    let calls = AtomicUsize::new(0);
    ScriptedModel::new().fallback(move |request| {
        let tokens = TokenEstimate.count_request(request);
        if tokens > window {
            return Err(too_long());
        }
        let number = calls.fetch_add(1, Ordering::Relaxed);
        let response = match (number + 1) % (turns + 1) {
            0 => ModelResponse::text(format!("Done after {number} turns. {}", "So it is. ".repeat(5))),
            _ => ModelResponse::calls([call(number)]),
        };
        let usage = if reports_usage { Usage::new(tokens, 20) } else { Usage::default() };
        Ok(response.with_usage(usage))
    })
}

fn agent(model: &ScriptedModel, compaction: Compaction) -> AgentBuilder {
    Agent::builder(model.clone())
        .tools(tools())
        .retry(ModelRetry::never())
        .limits(Limits::default().with_max_model_calls(10_000).with_max_repeated_calls(1_000))
        .compaction(compaction)
}

#[tokio::test]
async fn each_message_is_counted_once() {
    let counted = Arc::new(AtomicU64::new(0));
    let sum = counted.clone();
    let counter = move |text: &str| {
        sum.fetch_add(text.len() as u64, Ordering::Relaxed);
        TokenEstimate.count_text(text)
    };
    let model = windowed(10_000_000, 100, false);
    let agent = agent(&model, Compaction::new(10_000_000).with_counter(counter)).build().unwrap();
    let mut conversation = Conversation::new("1");
    agent.run("Read.").on(&mut conversation).await.unwrap();
    let messages: u64 = conversation.messages().iter().map(|message| message.to_text().len() as u64).sum();
    // Calls and the definition are counted, too.
    let counted = counted.load(Ordering::Relaxed);
    assert!(counted < messages + 101 * 400, "{counted} of {messages}");
}

async fn watched(
    agent: &Agent,
    conversation: &mut Conversation,
    input: &str,
) -> (Result<String, toolkit_agent::AgentError>, Vec<RunEvent>) {
    let mut stream = agent.run(input).on(&mut *conversation).stream();
    let mut events = Vec::new();
    let mut ended = Ok(String::new());
    while let Some(event) = stream.next().await {
        match event {
            Ok(RunEvent::Finished { output, .. }) => ended = Ok(output.text),
            Ok(event) => events.push(event),
            Err(error) => ended = Err(error.error),
        }
    }
    (ended, events)
}

fn compactions(events: &[RunEvent]) -> Vec<&RunEvent> {
    events.iter().filter(|event| matches!(event, RunEvent::Compacted { .. })).collect()
}

/// Returns a request's JSON without running times.
fn body(request: &ModelRequest) -> Value {
    transport::encode_request(ApiFormat::OpenAiChat, "m", request, false).body.into()
}

/// Checks that every provider takes the requests, and counts those that do not begin with the whole previous
/// one.
fn changed_prefixes(requests: &[ModelRequest]) -> Result<usize, TestCaseError> {
    let mut changes = 0;
    for (index, request) in requests.iter().enumerate() {
        assert!(matches!(request.messages.first(), Some(Message::User(_))), "{:?}", request.messages);
        let before = index.checked_sub(1).map_or(&[][..], |before| &requests[before].messages);
        let is_changed = !request.messages.starts_with(before);
        changes += usize::from(is_changed);
        if is_changed || index % 16 == 0 {
            sendable(request)?;
        }
    }
    Ok(changes)
}

#[tokio::test]
async fn two_hundred_turns_fit_into_a_small_window() {
    for reports_usage in [true, false] {
        for with_summary in [true, false] {
            let model = windowed(3_500, 200, reports_usage);
            let mut compaction = Compaction::new(4_000);
            if with_summary {
                let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("Pages were read.")));
                compaction = compaction.with_summary_model(summary);
            }
            let agent = agent(&model, compaction).build().unwrap();
            let mut conversation = Conversation::new("1");
            let (ended, events) = watched(&agent, &mut conversation, "Read all pages, and count them.").await;
            assert!(ended.unwrap().starts_with("Done after 200 turns."));
            assert_eq!(answered(conversation.messages()).unwrap(), 200);
            let requests = model.requests();
            assert_eq!(requests.len(), 201, "no request was refused");
            let changes = changed_prefixes(&requests).unwrap();
            assert_eq!(changes, compactions(&events).len());
            assert!((5..60).contains(&changes), "{changes} compactions");
            for request in &requests {
                assert!(request.messages[0].to_text().ends_with("Read all pages, and count them."));
            }
            assert_eq!(conversation.summary_of("agent").is_some(), with_summary);
        }
    }
}

#[tokio::test]
async fn thirty_runs_fit_into_a_small_window() {
    let model = windowed(1_750, 2, true);
    let sessions = Sessions::default();
    let agent = agent(&model, Compaction::new(2_000)).build().unwrap();
    for number in 0..30 {
        let input = format!("Read page {number}, please. {}", "It matters to me. ".repeat(number % 7));
        let output = agent.run(input.clone()).on(sessions.user("ada").conversation("1")).await.unwrap();
        assert!(output.text.starts_with("Done"));
        let requests = model.requests();
        let last = requests.last().unwrap();
        assert!(
            last.messages.iter().any(|message| message.to_text().ends_with(input.trim_end())
                || message.to_text().ends_with(&input))
        );
    }
    let requests = model.requests();
    assert_eq!(requests.len(), 90, "no request was refused");
    let changes = changed_prefixes(&requests).unwrap();
    assert!((3..30).contains(&changes), "{changes} compactions");
    let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    assert_eq!(conversation.messages().len(), 30 * 6);
}

#[tokio::test]
async fn without_settings_all_messages_are_sent() {
    let model = windowed(3_500, 200, true);
    let ended = Agent::builder(model.clone()).tools(tools()).build().unwrap().run("Read.").await;
    assert_eq!(ended.map(drop).map_err(|error| error.error), Err(too_long().into()));
    assert_eq!(changed_prefixes(&model.requests()).unwrap(), 0);
}

#[tokio::test]
async fn an_event_reports_each_compaction() {
    let model = windowed(3_500, 20, true);
    let agent = agent(&model, Compaction::new(4_000)).build().unwrap();
    let (_, events) = watched(&agent, &mut Conversation::new("1"), "Read.").await;
    let found = compactions(&events);
    assert_eq!(kind(found[0]), "compacted agent");
    let mut left_out = 0;
    for event in found {
        let RunEvent::Compacted { tokens_before, tokens_after, messages_left_out, summary_error, .. } = event
        else {
            unreachable!()
        };
        // 3,500 tokens are for the request: 80 % and 50 %.
        assert!(*tokens_before > 2_800 && *tokens_after <= 1_750, "{tokens_before} {tokens_after}");
        assert_eq!(*summary_error, None);
        left_out += messages_left_out;
    }
    let last = model.requests().pop().unwrap();
    if left_out > 0 {
        let note = format!("[{} earlier messages of this conversation were left out.]", left_out - 1);
        assert!(last.messages[0].to_text().starts_with(&note), "{}", last.messages[0].to_text());
    }
}

#[tokio::test]
async fn results_are_shortened_before_messages_are_left_out() {
    let model = windowed(3_500, 13, true);
    let compaction = Compaction::new(4_000).with_result_chars(300);
    let agent = agent(&model, compaction).build().unwrap();
    let mut conversation = Conversation::new("1");
    let (_, events) = watched(&agent, &mut conversation, "Read.").await;
    assert_eq!(compactions(&events).len(), 1);
    let request = model.requests().pop().unwrap();
    assert_eq!(request.messages.len(), conversation.messages().len() - 1);
    let texts: Vec<String> = request.messages.iter().map(Message::to_text).collect();
    assert!(texts.iter().any(|text| text.contains("... (truncated ") && text.starts_with("Page ")));
    // The latest six messages before compaction, and later ones, stay.
    let full = conversation.messages().iter().map(Message::to_text);
    let same = full.zip(&texts).skip(texts.len() - 6).all(|(full, text)| full == *text);
    assert!(same, "{texts:?}");
    assert_eq!(body(&request)["messages"].as_array().unwrap().len(), texts.len());
}
