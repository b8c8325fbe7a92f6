//! Logs grow in proportion to their runs, also for `benches/growth.rs`.

mod messages;
mod runs;

use crate::support::{Script, says};
use messages::{Pieces, events, kinds};
use runs::{RUNS, agent, helper};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::team::SequentialAgent;
use toolkit_agent::{Agent, Sessions};
use toolkit_llm::ScriptedModel;
use toolkit_llm::transport::WireModel;

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
