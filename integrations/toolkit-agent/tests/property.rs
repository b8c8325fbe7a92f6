//! Any run, with any model and tools, ends, and its conversation can continue.

mod script;
mod tools;
mod usage;

use crate::support::cancelled_after;
use crate::support::{Configured as _, Options};
use proptest::prelude::*;
use script::{Behaviour, Step};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use toolkit_agent::{Agent, AgentError, Conversation, Limits, RunEvent, Sessions};
use toolkit_core::ErrorKind;
use toolkit_llm::ApiFormat;
use toolkit_llm::{Message, ModelRequest, ModelRetry, ScriptedModel, transport};
use tools::Executions;

#[derive(Debug, Clone)]
enum Way {
    Whole,
    Watched,
    Dropped(u64),
    /// The stream is dropped after this many events.
    Unwatched(usize),
}

#[derive(Debug, Clone)]
struct Case {
    script: Vec<Step>,
    /// Whether the script repeats instead of ending.
    forever: bool,
    streaming: bool,
    limits: Limits,
    attempts: u32,
    /// Milliseconds until cancellation.
    cancel: Option<u64>,
    saved: bool,
    way: Way,
}

fn limits() -> impl Strategy<Value = Limits> {
    let counts = (0..6_u32, prop::option::of(0..5_u32), prop::option::of(0..60_u64), 1..4_u32);
    let times = (5..3_000_u64, prop::option::of(1..200_u64));
    (counts, times).prop_map(|((model_calls, tool_calls, tokens, failures), (duration, model_timeout))| {
        let mut limits = Limits::default()
            .with_max_model_calls(model_calls)
            .with_max_duration(Duration::from_millis(duration))
            .with_max_repeated_failures(failures);
        limits.max_tool_calls = tool_calls;
        limits.max_tokens = tokens;
        limits.model_timeout = model_timeout.map(Duration::from_millis);
        limits
    })
}

fn case() -> impl Strategy<Value = Case> {
    let way = prop_oneof![
        2 => Just(Way::Whole),
        2 => Just(Way::Watched),
        1 => (0..300_u64).prop_map(Way::Dropped),
        1 => (0..30_usize).prop_map(Way::Unwatched),
    ];
    let script = prop::collection::vec(script::step(), 0..6);
    let stop = prop::option::weighted(0.3, 0..400_u64);
    (script, any::<bool>(), any::<bool>(), limits(), 1..4_u32, stop, any::<bool>(), way).prop_map(
        |(script, forever, streaming, limits, attempts, cancel, saved, way)| Case {
            script,
            forever,
            streaming,
            limits,
            attempts,
            cancel,
            saved,
            way,
        },
    )
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn every_run_ends_and_answers_every_call(case in case()) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(check(&case))?;
    }
}

async fn check(case: &Case) -> Result<(), TestCaseError> {
    let model = Arc::new(Behaviour::new(case.script.clone(), case.forever));
    let executions = Arc::new(Executions::default());
    let pauses = (Duration::from_millis(20), Duration::from_secs(60));
    let agent = Agent::builder(model.clone())
        .tools(tools::registry(&executions))
        .retry(ModelRetry::new(case.attempts).with_pauses(pauses.0, pauses.1))
        .streaming(case.streaming)
        .build()
        .unwrap();
    let delay = case.cancel.map(Duration::from_millis);
    let options = delay.map_or_else(Options::new, cancelled_after).with_limits(case.limits.clone());
    let sessions = Sessions::default();
    let begun = Instant::now();
    let mut conversation = Conversation::new("1");
    if case.saved {
        sessions.save(&mut conversation).await.unwrap();
    }
    let ended = run(case, &agent, &mut conversation, options).await?;
    let took = begun.elapsed();
    is_in_log(&sessions, &mut conversation).await?;
    conversation.settle();
    is_in_log(&sessions, &mut conversation).await?;

    let most = case.limits.max_duration.unwrap();
    let most = case.cancel.map_or(most, |after| most.min(Duration::from_millis(after)));
    prop_assert!(took <= most + Duration::from_millis(5), "{took:?} of {most:?}");
    let asked = model.requests();
    prop_assert!(asked.len() as u32 <= case.limits.max_model_calls * case.attempts, "asked {}", asked.len());
    let ran = executions.0.load(Ordering::Relaxed);
    prop_assert!(case.limits.max_tool_calls.is_none_or(|most| ran <= most), "{ran} calls have run");

    let calls = answered(conversation.messages())?;
    prop_assert!(ran as usize <= calls, "{ran} calls have run, {calls} are in the conversation");
    for request in &asked {
        answered(&request.messages)?;
        sendable(request)?;
    }
    match ended {
        Some(Ok(())) => prop_assert!(!has_cancelled(conversation.messages()), "{:?}", conversation),
        Some(Err(AgentError::Cancelled)) => prop_assert!(case.cancel.is_some(), "there was no cancellation"),
        _ => {}
    }
    goes_on(conversation).await
}

/// Saves the conversation, and checks that its log gives the same.
async fn is_in_log(sessions: &Sessions, conversation: &mut Conversation) -> Result<(), TestCaseError> {
    sessions.save(conversation).await.unwrap();
    let loaded = sessions.user("").conversation("1").open().await.unwrap();
    let json = |conversation| serde_json::to_value(conversation).unwrap();
    prop_assert_eq!(json(&loaded), json(conversation));
    Ok(())
}

async fn run(
    case: &Case,
    agent: &Agent,
    conversation: &mut Conversation,
    options: Options,
) -> Result<Option<Result<(), AgentError>>, TestCaseError> {
    match case.way {
        Way::Whole => Ok(Some(
            agent
                .run("Go.")
                .on(&mut *conversation)
                .options(options)
                .await
                .map(drop)
                .map_err(AgentError::from),
        )),
        Way::Dropped(after) => {
            let run = agent.run("Go.").on(&mut *conversation).options(options);
            Ok(timeout(Duration::from_millis(after), run)
                .await
                .ok()
                .map(|ended| ended.map(drop).map_err(AgentError::from)))
        }
        Way::Unwatched(most) => {
            let mut events = agent.run("Go.").on(&mut *conversation).options(options).stream();
            for _ in 0..most {
                if events.next().await.is_none() {
                    break;
                }
            }
            Ok(None)
        }
        Way::Watched => {
            let mut results = 0;
            let mut ended = None;
            let mut events = agent.run("Go.").on(&mut *conversation).options(options).stream();
            while let Some(event) = events.next().await {
                prop_assert!(ended.is_none(), "{event:?} after the end");
                match event {
                    Ok(RunEvent::Result { .. }) => results += 1,
                    Ok(RunEvent::Finished { .. }) => ended = Some(Ok(())),
                    Ok(_) => {}
                    Err(failed) => ended = Some(Err(failed.error)),
                }
            }
            drop(events);
            let calls = answered(conversation.messages())?;
            prop_assert!(ended.is_some());
            prop_assert!(results <= calls, "{results} results of {calls} calls");
            prop_assert!(ended != Some(Ok(())) || results == calls, "{results} results of {calls} calls");
            Ok(ended)
        }
    }
}

/// Checks that each call has one result, in order, in the next message, and counts the calls.
pub(crate) fn answered(messages: &[Message]) -> Result<usize, TestCaseError> {
    let mut count = 0;
    let mut rest = messages.iter().peekable();
    while let Some(message) = rest.next() {
        match message {
            Message::Assistant(said) if !said.calls.is_empty() => {
                let Some(Message::Tool(given)) = rest.next() else {
                    return Err(TestCaseError::fail(format!("{said:?} is not answered")));
                };
                let calls: Vec<_> = said.calls.iter().map(|call| (&call.id, call.name.as_str())).collect();
                let results: Vec<_> =
                    given.results.iter().map(|result| (&result.call_id, result.name.as_str())).collect();
                prop_assert_eq!(&calls, &results);
                let positions: Vec<usize> = given.results.iter().map(|result| result.position).collect();
                prop_assert_eq!(positions, (0..calls.len()).collect::<Vec<_>>());
                count += calls.len();
            }
            Message::Tool(_) => return Err(TestCaseError::fail("results without calls")),
            _ => {}
        }
    }
    Ok(count)
}

fn has_cancelled(messages: &[Message]) -> bool {
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool(given) => Some(&given.results),
        _ => None,
    });
    results
        .flatten()
        .any(|result| result.outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Cancelled))
}

/// Checks that any provider takes the history, with all results.
pub(crate) fn sendable(request: &ModelRequest) -> Result<(), TestCaseError> {
    let calls = answered(&request.messages)?;
    for (format, field, of_result) in [
        (ApiFormat::OpenAiChat, "messages", r#""role":"tool""#),
        (ApiFormat::OpenAiResponses, "input", r#""type":"function_call_output""#),
        (ApiFormat::Anthropic, "messages", r#""type":"tool_result""#),
        (ApiFormat::Gemini, "contents", r#"{"functionResponse":"#),
        (ApiFormat::Ollama, "messages", r#""role":"tool""#),
        (ApiFormat::GeminiInteractions, "input", r#"{"type":"function_result""#),
        (ApiFormat::Cohere, "messages", r#""role":"tool""#),
        (ApiFormat::Bedrock, "messages", r#"{"toolResult":"#),
    ] {
        let body = transport::encode_request(format, "m", request, false).body;
        let history = body[field].as_array().unwrap().clone();
        prop_assert_eq!(&format.repair_history(history.clone()), &history, "{:?}", format);
        let text = serde_json::to_string(&history).unwrap();
        prop_assert_eq!(text.matches(of_result).count(), calls, "{:?}: {}", format, text);
    }
    Ok(())
}

/// Checks that another model can answer in the saved conversation.
async fn goes_on(conversation: Conversation) -> Result<(), TestCaseError> {
    let saved = serde_json::to_string(&conversation).unwrap();
    let mut again: Conversation = serde_json::from_str(&saved).unwrap();
    // All but error details comes back.
    prop_assert_eq!(serde_json::to_string(&again).unwrap(), saved);
    prop_assert_eq!(again.messages().len(), conversation.messages().len());
    let model = ScriptedModel::new().text("Done.");
    let agent = Agent::builder(model.clone()).build().unwrap();
    let output = agent.run("And now?").on(&mut again).await;
    prop_assert_eq!(output.map(|output| output.text), Ok("Done.".to_owned()));
    sendable(&model.requests()[0])
}
