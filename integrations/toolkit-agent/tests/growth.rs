//! Logs grow in proportion to their runs, also for `benches/growth.rs`.

mod messages;
mod runs;

use crate::support::{Script, says};
use messages::{Pieces, events, kinds};
use runs::{RUNS, agent, helper};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::team::SequentialAgent;
use toolkit_agent::{Agent, Sessions};
use toolkit_llm::transport::WireModel;
use toolkit_llm::{ModelResponse, Price, ScriptedModel, Usage};

/// Returns a log's number of entries and bytes.
async fn log_of(agent: &Agent) -> (usize, usize) {
    let store = MemoryStore::new();
    agent.run("Go.").on(Sessions::new(store.clone()).user("ada").conversation("1")).await.unwrap();
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
    (log.entries.len(), log.entries.iter().map(String::len).sum())
}

#[tokio::test]
async fn the_log_of_a_run_grows_with_its_calls_and_agents() {
    for (name, size, agent) in RUNS {
        let (_, short) = log_of(&agent(*size)).await;
        let (_, long) = log_of(&agent(4 * size)).await;
        assert!(long < 6 * short, "{name}: {short} bytes, and {long} for four times the size");
    }
}

#[tokio::test]
async fn the_log_of_a_conversation_grows_with_its_runs() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let runs = 100;
    for _ in 0..runs {
        helper().run("Go.").on(sessions.user("ada").conversation("1")).await.unwrap();
    }
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
    let size_of_run = log.entries.iter().map(String::len).sum::<usize>() / runs;
    assert!(size_of_run < 700, "{size_of_run} bytes");
}

/// Returns the bytes of the log of 20 runs of a question and an answer, and of their text.
async fn small_messages(usage: Usage) -> (usize, usize) {
    let model = ScriptedModel::new().fallback(move |request| {
        let hall = request.messages.len();
        let answer =
            format!("Hall {hall} is open from ten to six on Sundays, and until nine on most Fridays.");
        Ok(ModelResponse::text(answer).with_usage(usage))
    });
    let guide = Agent::builder(model).name("guide").price(Price::per_million(0.25, 2.0)).build().unwrap();
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    for number in 0..20 {
        let question =
            format!("When does hall {number} of the museum in the old town open on the next weekend?");
        guide.run(question).on(sessions.user("ada").conversation("1")).await.unwrap();
    }
    let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let text: usize = conversation.messages().iter().map(|message| message.to_text().len()).sum();
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
    (log.entries.iter().map(String::len).sum(), text)
}

#[tokio::test]
async fn a_log_of_small_messages_is_about_three_times_their_size() {
    // Token counts are in each message and in what its run has spent.
    for (usage, tenths) in [(Usage::default(), 30), (Usage::new(1_234, 19), 32)] {
        let (size, text) = small_messages(usage).await;
        assert!((2_800..3_000).contains(&text), "{text} bytes of text");
        assert!(10 * size <= tenths * text, "{size} bytes for {text} bytes of text");
    }
}

/// Later saves do not repeat it, although a step of the team has it as output.
#[tokio::test]
async fn the_log_of_a_sequence_contains_a_long_answer_a_few_times() {
    let log_of = async |turns: usize| {
        let model = (0..turns).fold(ScriptedModel::new(), |model, number| {
            model.call("add", format!(r#"{{"a": 1, "b": {number}}}"#)).then()
        });
        let second = agent(model.text("Done.")).name("second").build().unwrap();
        let team = SequentialAgent::new("team", [says("first", &"long ".repeat(20_000)), second]);
        let (entries, bytes) = log_of(&team.into()).await;
        assert!(entries > turns);
        bytes
    };
    let short = log_of(1).await;
    let long = log_of(30).await;
    assert!(short < 250_000 && long < short + 50_000, "{short} and {long} bytes");
}

#[tokio::test]
async fn the_log_of_a_stream_of_a_provider_grows_with_its_pieces() {
    for (format, pieces) in kinds() {
        let log_of = async |count| {
            let script = [events(format, pieces, count), events(format, Pieces::Text, 1)];
            log_of(&agent(WireModel::new(format, "m", Script::new(script))).build().unwrap()).await.1
        };
        let short = log_of(100).await;
        let long = log_of(400).await;
        assert!(10 * long <= 45 * short, "{format:?}, {pieces:?}: {short} bytes, and {long}");
    }
}
