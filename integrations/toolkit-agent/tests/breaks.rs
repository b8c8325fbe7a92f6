//! Streams that break after a call was started.

use crate::support::{BROKEN, OPEN, Script, agent, reloaded, transcript};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;
use toolkit_agent::{Agent, AgentError, Conversation, Limits};
use toolkit_core::ToolCall;
use toolkit_llm::ApiFormat;
use toolkit_llm::model::Effort;
use toolkit_llm::transport::WireModel;
use toolkit_llm::{ModelError, ModelErrorKind, ModelOptions, ModelRetry, ScriptedModel, StreamEvent};

fn broken(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "cut")
}

fn half(id: u32, kind: ModelErrorKind) -> [Result<StreamEvent, ModelError>; 2] {
    let call = ToolCall::new(format!("call_{id}"), "add", format!(r#"{{"a": {id}, "b": 2}}"#));
    [Ok(StreamEvent::Call(call)), Err(broken(kind))]
}

fn retry(attempts: u32) -> ModelRetry {
    ModelRetry::new(attempts).with_pauses(Duration::from_secs(4), Duration::from_secs(60))
}

#[tokio::test(start_paused = true)]
async fn an_endless_series_of_broken_answers_pauses_and_ends() {
    for (attempts, asked, least) in [(1, 2, 3), (2, 2, 3), (3, 3, 9), (5, 5, 45)] {
        for kind in [ModelErrorKind::Connection, ModelErrorKind::Other] {
            let model = (0..9).fold(ScriptedModel::new(), |model, id| model.deltas(half(id, kind)));
            let agent = agent(model.clone()).retry(retry(attempts)).build().unwrap();
            let mut conversation = Conversation::new("1");
            let begun = Instant::now();
            let failed = agent.run("go").on(&mut conversation).await.unwrap_err();
            assert_eq!(failed.error, AgentError::Model(broken(kind)));
            assert_eq!(
                (model.requests().len(), failed.output.tool_calls),
                (asked, asked as u32),
                "{attempts}"
            );
            assert!(begun.elapsed() >= Duration::from_secs(least), "{attempts}: {:?}", begun.elapsed());
            assert_eq!(conversation.messages().len(), 1 + 2 * asked);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_complete_answer_ends_the_series_of_broken_answers() {
    let call = |id: u32| ToolCall::new(format!("done_{id}"), "add", r#"{"a": 1, "b": 2}"#);
    let mut model = ScriptedModel::new();
    for id in 0..4 {
        let whole = toolkit_llm::ModelResponse::calls([call(id)]);
        model = model.deltas(half(id, ModelErrorKind::Connection)).response(whole);
    }
    let agent = agent(model.text("done")).retry(retry(2)).build().unwrap();
    let begun = Instant::now();
    let output = agent.run("go").await.unwrap();
    assert_eq!((output.text.as_str(), output.model_calls), ("done", 9));
    assert!(begun.elapsed() >= Duration::from_secs(12) && begun.elapsed() <= Duration::from_secs(16));
}

#[tokio::test(start_paused = true)]
async fn the_pause_after_a_broken_answer_is_the_one_of_the_provider_and_ends_with_the_run() {
    let late = broken(ModelErrorKind::RateLimited).with_retry_after(Duration::from_secs(50));
    let [call, _] = half(1, ModelErrorKind::Other);
    let model = ScriptedModel::new().deltas([call, Err(late)]).text("done");
    let begun = Instant::now();
    let build = |model: &ScriptedModel| agent(model.clone()).retry(retry(2)).build().unwrap();
    assert_eq!(build(&model).run("go").await.unwrap().text, "done");
    assert_eq!(begun.elapsed().as_secs(), 50);
    let model = ScriptedModel::new().deltas(half(1, ModelErrorKind::Other)).text("done");
    let failed = build(&model)
        .run("go")
        .on(&mut Conversation::new("1"))
        .limits(Limits::default().with_max_duration(Duration::from_secs(1)))
        .await
        .unwrap_err();
    assert!(matches!(failed.error, AgentError::Limit(_)), "{failed}");
}

fn thinking_and_call() -> Vec<Value> {
    let start = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    vec![
        json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 5}}}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "I add."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2lnbmVk"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "c2VjcmV0"})),
        stop(1),
        start(2, json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"a\": 1, \"b\": 2}"})),
        stop(2),
    ]
}

fn answer() -> Value {
    json!([
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "It is 3."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ])
}

#[derive(Debug, Clone, Copy)]
enum End {
    Broken,
    Reported,
    /// The connection breaks in a second call.
    InCall,
    /// No more events arrive, until the call's time limit.
    Silent,
    /// The program stops, and another resumes.
    Killed,
}

/// Runs the agent until its answer, or stops it after a second and resumes.
async fn ended(agent: &Agent, end: End) -> Conversation {
    let mut conversation = Conversation::new("1");
    let output = match end {
        End::Killed => {
            let run = agent.run("go").on(&mut conversation);
            assert!(tokio::time::timeout(Duration::from_secs(1), run).await.is_err());
            conversation = reloaded(&conversation);
            agent.resume(&mut conversation).await
        }
        _ => agent.run("go").on(&mut conversation).await,
    };
    assert_eq!(output.unwrap().text, "It is 3.", "{end:?}");
    conversation
}

#[tokio::test(start_paused = true)]
async fn signed_thinking_before_a_call_survives_the_end_of_its_stream() {
    for end in [End::Broken, End::Reported, End::InCall, End::Silent, End::Killed] {
        let mut events = thinking_and_call();
        match end {
            End::Broken => events.push(BROKEN.into()),
            End::Reported => events.push(
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            ),
            End::InCall => {
                let block = json!({"type": "tool_use", "id": "toolu_2", "name": "add", "input": {}});
                events.push(json!({"type": "content_block_start", "index": 3, "content_block": block}));
                let piece = json!({"type": "input_json_delta", "partial_json": "{\"a\": 1"});
                events.push(json!({"type": "content_block_delta", "index": 3, "delta": piece}));
                events.push(BROKEN.into());
            }
            End::Silent | End::Killed => events.push(OPEN.into()),
        }
        let server = Script::new([events.into(), answer()]);
        let options = ModelOptions::new().with_thinking(Effort::High);
        let model = WireModel::new(ApiFormat::Anthropic, "claude-opus-4-8", server.clone());
        let limits = Limits::default().with_model_timeout(Duration::from_secs(9));
        let agent = agent(model).options(options).limits(limits).build().unwrap();
        let conversation = ended(&agent, end).await;
        let sent = server.asked()[1].clone();
        let said = &sent["messages"][1]["content"];
        let expected = [
            json!({"type": "thinking", "thinking": "I add.", "signature": "c2lnbmVk"}),
            json!({"type": "redacted_thinking", "data": "c2VjcmV0"}),
            json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1, "b": 2}}),
        ];
        let said = said.as_array().unwrap();
        for (block, expected) in said.iter().zip(&expected) {
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(block.get(name), Some(value), "{end:?}: {sent:#}");
            }
        }
        // Every call has arguments as the API takes them, and a result.
        let calls: Vec<&Value> = said.iter().filter(|block| block["type"] == "tool_use").collect();
        let results = sent["messages"][2]["content"].as_array().unwrap();
        assert!(calls.iter().all(|call| call["input"].is_object()), "{end:?}: {sent:#}");
        let ids = |blocks: Vec<&Value>, name: &str| {
            blocks.iter().map(|block| block[name].clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(calls, "id"), ids(results.iter().collect(), "tool_use_id"), "{end:?}");
        assert_eq!(transcript(conversation.messages()).len(), 4, "{end:?}");
    }
}

/// Gemini's two APIs: events of a signed call, of an answer, and the signature's place in the next request.
fn signed_calls() -> [(ApiFormat, Vec<Value>, Vec<Value>, &'static str); 2] {
    let arguments = json!({"a": 1, "b": 2});
    let call = json!({"functionCall": {"name": "add", "args": arguments}, "thoughtSignature": "c2lnbmVk"});
    let chunk = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
    let mut answer = chunk(json!({"text": "It is 3."}));
    answer["candidates"][0]["finishReason"] = "STOP".into();

    let event =
        |kind: &str, at: u8, name: &str, value: Value| json!({"event_type": kind, "index": at, name: value});
    let signature = json!({"type": "thought_signature", "signature": "c2lnbmVk"});
    let step = json!({"type": "function_call", "id": "c1", "name": "add", "arguments": arguments});
    let signed = vec![
        event("step.start", 0, "step", json!({"type": "thought"})),
        event("step.delta", 0, "delta", signature),
        event("step.stop", 0, "usage", json!({})),
        event("step.start", 1, "step", step),
        event(
            "step.delta",
            1,
            "delta",
            json!({"type": "arguments_delta", "arguments": arguments.to_string()}),
        ),
        event("step.stop", 1, "usage", json!({})),
    ];
    let said = json!({"type": "model_output", "content": [{"type": "text", "text": "It is 3."}]});
    let interaction = json!({"id": "i", "status": "completed", "steps": [said]});
    let completed = json!({"event_type": "interaction.completed", "interaction": interaction});
    [
        (ApiFormat::Gemini, vec![chunk(call)], vec![answer], "/contents/1/parts/0/thoughtSignature"),
        (ApiFormat::GeminiInteractions, signed, vec![completed], "/input/1/signature"),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_signature_of_a_gemini_call_survives_the_end_of_its_stream() {
    let ends = [End::Broken, End::Silent, End::Killed];
    for (end, (format, call, answer, path)) in
        ends.into_iter().flat_map(|end| signed_calls().into_iter().map(move |case| (end, case)))
    {
        let last = if let End::Broken = end { BROKEN } else { OPEN };
        let events = call.into_iter().chain([last.into()]).collect();
        let server = Script::new([events, answer.into()]);
        let model = WireModel::new(format, "gemini-3-flash", server.clone());
        let limits = Limits::default().with_model_timeout(Duration::from_secs(9));
        let options = ModelOptions::new().with_thinking(Effort::High);
        let agent = agent(model).options(options).limits(limits).build().unwrap();
        ended(&agent, end).await;
        let sent = server.asked()[1].clone();
        assert_eq!(sent.pointer(path), Some(&json!("c2lnbmVk")), "{format} {end:?}: {sent:#}");
        assert!(sent.to_string().contains(r#"{"a":1,"b":2}"#), "{format} {end:?}: {sent:#}");
    }
}
