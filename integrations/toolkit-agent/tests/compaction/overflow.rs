//! Requests that the model refuses as too long.

use super::{agent, call, changed_prefixes, compactions, too_long, watched};
use crate::support::kind;
use toolkit_agent::compaction::Compaction;
use toolkit_agent::{Agent, Conversation, RunEvent};
use toolkit_llm::ApiFormat;
use toolkit_llm::model::ServerState;
use toolkit_llm::{
    AssistantMessage, Message, ModelOptions, ModelResponse, NativeMessages, ScriptedModel, StreamEvent,
    transport,
};

/// Creates ten questions and answers, far below the settings' window.
fn talk() -> Conversation {
    let mut conversation = Conversation::new("1");
    for number in 0..10 {
        conversation.push(Message::user(format!("Question {number}? {}", "Please. ".repeat(20))));
        let mut answer = AssistantMessage::text(format!("Answer {number}. {}", "Indeed. ".repeat(20)));
        answer.agent = "agent".to_owned();
        conversation.push(answer);
    }
    conversation
}

/// The window is larger than the real one.
fn compacting(model: &ScriptedModel) -> Agent {
    agent(model, Compaction::new(100_000)).build().unwrap()
}

fn kinds(events: &[RunEvent]) -> Vec<String> {
    let kinds = events.iter().map(kind);
    kinds.filter(|kind| !kind.starts_with("agent_") && !kind.starts_with("message")).collect()
}

#[tokio::test]
async fn a_refused_request_is_shortened_and_sent_again() {
    let model = ScriptedModel::new().error(too_long()).text("Yes.");
    let mut conversation = talk();
    let (ended, events) = watched(&compacting(&model), &mut conversation, "And?").await;
    assert_eq!(ended.unwrap(), "Yes.");
    let expected =
        ["model_called agent", "compacted agent", "model_retried agent", "model_called agent", "text agent"];
    assert_eq!(kinds(&events), expected);
    let [first, second] = &model.requests()[..] else { panic!() };
    assert_eq!(first.messages.len(), 21);
    assert!(second.messages.len() < 13, "{}", second.messages.len());
    assert_eq!(second.messages.last().unwrap().to_text(), "And?");
    assert_eq!(conversation.messages().len(), 22);
}

#[tokio::test]
async fn a_request_refused_twice_is_an_error() {
    let model = ScriptedModel::new().error(too_long()).error(too_long()).text("never");
    let mut conversation = talk();
    let (ended, events) = watched(&compacting(&model), &mut conversation, "And?").await;
    assert_eq!(ended, Err(too_long().into()));
    assert_eq!((model.requests().len(), compactions(&events).len()), (2, 1));
    let model = ScriptedModel::new().text("Yes.");
    watched(&compacting(&model), &mut conversation, "Again?").await.0.unwrap();
    assert!(model.requests()[0].messages.len() < 15);
}

#[tokio::test]
async fn if_nothing_can_be_left_out_the_error_is_returned() {
    let model = ScriptedModel::new().error(too_long()).text("never");
    let (ended, events) = watched(&compacting(&model), &mut Conversation::new("1"), "And?").await;
    assert_eq!(ended, Err(too_long().into()));
    assert_eq!((model.requests().len(), compactions(&events).len()), (1, 0));
}

#[tokio::test]
async fn a_stream_that_breaks_off_begins_again() {
    let deltas = [Ok(StreamEvent::Text("I thi".to_owned())), Err(too_long())];
    let model = ScriptedModel::new().deltas(deltas).text("Yes.");
    let mut conversation = talk();
    let (ended, events) = watched(&compacting(&model), &mut conversation, "And?").await;
    assert_eq!(ended.unwrap(), "Yes.");
    assert!(kinds(&events).contains(&"model_retried agent".to_owned()));
    assert_eq!(conversation.messages().last().unwrap().to_text(), "Yes.");
}

#[tokio::test]
async fn after_started_calls_the_next_request_is_shorter() {
    let deltas = [Ok(StreamEvent::Call(call(3))), Err(too_long())];
    let model = ScriptedModel::new().deltas(deltas).text("Yes.");
    let mut conversation = talk();
    let (ended, events) = watched(&compacting(&model), &mut conversation, "Read page 3.").await;
    assert_eq!(ended.unwrap(), "Yes.");
    assert_eq!(compactions(&events).len(), 1);
    let [first, second] = &model.requests()[..] else { panic!() };
    assert!(second.messages.len() < first.messages.len());
    let has_call = |message: &Message| matches!(message, Message::Assistant(said) if said.calls == [call(3)]);
    assert!(second.messages.iter().any(has_call));
    assert_eq!(changed_prefixes(&model.requests()).unwrap(), 1);
}

#[tokio::test]
async fn a_huge_result_in_the_latest_turn_is_shortened() {
    let model = ScriptedModel::new().fallback(|request| match request.messages.last() {
        Some(Message::Tool(given)) if given.results[0].to_text().len() > 1_000 => Err(too_long()),
        Some(Message::Tool(_)) => Ok(ModelResponse::text("Yes.")),
        _ => Ok(ModelResponse::calls([call(48)])),
    });
    let agent = agent(&model, Compaction::new(500)).build().unwrap();
    let (ended, events) = watched(&agent, &mut Conversation::new("1"), "Read page 48.").await;
    assert_eq!(ended.unwrap(), "Yes.");
    assert_eq!((model.requests().len(), compactions(&events).len()), (2, 1));
}

/// The provider has the original messages, so the next request must not continue from its responses.
#[tokio::test]
async fn server_state_begins_anew_after_a_compaction() {
    let stored = |number: usize, conversation: Option<&str>| {
        let item = serde_json::json!({"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Indeed. ".repeat(100)},
        ]});
        let mut response = ModelResponse::text("Indeed. ".repeat(100));
        let mut native = NativeMessages::new("openai_responses", vec![item]);
        native.response_id = Some(format!("resp_{number}"));
        native.conversation = conversation.map(str::to_owned);
        response.message.native = Some(native);
        response
    };
    for state in [ServerState::Responses, ServerState::Conversation("conv_1".to_owned())] {
        let id = matches!(state, ServerState::Conversation(_)).then_some("conv_1");
        let mut model = ScriptedModel::new();
        for number in 0..3 {
            model = model.response(stored(number, id));
        }
        let model = model.error(too_long()).response(stored(3, None)).response(stored(4, None));
        let agent = agent(&model, Compaction::new(100_000).with_keep_latest(2))
            .options(ModelOptions::new().with_server_state(state))
            .build()
            .unwrap();
        let mut conversation = Conversation::new("1");
        for number in 0..5 {
            agent.run(format!("Question {number}?")).on(&mut conversation).await.unwrap();
        }
        let bodies: Vec<_> = model
            .requests()
            .iter()
            .map(|request| transport::encode_request(ApiFormat::OpenAiResponses, "m", request, false).body)
            .collect();
        let facts = |index: usize| {
            let body: &serde_json::Map<_, _> = &bodies[index];
            let text = |name: &str| body.get(name).and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            let count = body["input"].as_array().unwrap().len();
            (text("previous_response_id"), text("conversation"), count)
        };
        let of = |previous: &str, count| match id {
            Some(id) => (String::new(), id.to_owned(), count),
            None => (previous.to_owned(), String::new(), count),
        };
        assert_eq!([facts(0), facts(2), facts(3)], [of("", 1), of("resp_1", 1), of("resp_2", 1)]);
        // The whole compacted history, then only the new question.
        let (previous, conversation, count) = facts(4);
        assert_eq!((previous.as_str(), conversation.as_str()), ("", ""));
        assert!(count > 1, "{:?}", bodies[4]);
        assert_eq!(facts(5), ("resp_3".to_owned(), String::new(), 1));
    }
}
