//! Compactions are saved with the conversation.

use super::{agent, body, changed_prefixes, windowed};
use crate::support::{Configured as _, Options, store_of};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use toolkit_agent::compaction::{Compaction, SummaryRequest};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, Conversation, Sessions};
use toolkit_llm::{Message, ModelRequest, ModelResponse, ScriptedModel};

async fn summarize(request: SummaryRequest) -> Result<String, String> {
    Ok(format!("{} And then {} messages.", request.previous, request.messages.len()))
}

/// Creates a model that reads twelve pages for each question, and depends only on the request.
fn reader() -> ScriptedModel {
    ScriptedModel::new().fallback(|request| {
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::Tool(given) => given.results[0].call_id.as_str().strip_prefix("call_")?.parse().ok(),
            Message::User(said) => said.to_text().ends_with('.').then_some(0),
            _ => None,
        });
        Ok(match last.unwrap_or(0_usize) {
            number if number < 12 => ModelResponse::calls([super::call(number + 1)]),
            _ => ModelResponse::text("Read."),
        })
    })
}

fn reading(model: &ScriptedModel) -> Agent {
    agent(model, Compaction::new(2_000).with_summary(summarize)).build().unwrap()
}

fn bodies(requests: &[ModelRequest]) -> Vec<Value> {
    requests.iter().map(body).collect()
}

/// Creates a single agent or a parallel group, and the models.
fn team(size: usize) -> (Agent, Vec<ScriptedModel>) {
    let models: Vec<ScriptedModel> = (0..size).map(|_| reader()).collect();
    let compaction = || Compaction::new(2_000).with_summary(summarize);
    let named =
        |(number, model)| agent(model, compaction()).name(format!("reader_{number}")).build().unwrap();
    let mut agents: Vec<Agent> = models.iter().enumerate().map(named).collect();
    match size {
        1 => (agents.remove(0), models),
        _ => (ParallelAgent::new("team", agents).into(), models),
    }
}

async fn continues_from_each_save(size: usize) {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let (agent, models) = team(size);
    let output = agent.run("Read the book.").on(sessions.user("ada").conversation("1")).await.unwrap();
    for model in &models {
        assert!(changed_prefixes(&model.requests()).unwrap() >= 2);
    }
    let expected: Vec<Vec<Value>> = models.iter().map(|model| bodies(&model.requests())).collect();
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
    let compactions = log.entries.iter().filter(|entry| entry.contains("made_at")).count();
    assert!(compactions >= 2, "{compactions}");
    for saves in 1..=log.entries.len() {
        let store = store_of(&log.entries[..saves]).await;
        let (agent, models) = team(size);
        let resumed = agent.resume(Sessions::new(store).user("ada").conversation("1")).await.unwrap();
        assert_eq!(resumed.text, output.text);
        for (model, expected) in models.iter().zip(&expected) {
            assert!(expected.ends_with(&bodies(&model.requests())), "after {saves} saves");
        }
    }
}

#[tokio::test]
async fn a_run_continues_with_the_same_requests_from_each_save() {
    continues_from_each_save(1).await;
}

#[tokio::test]
async fn parallel_agents_continue_with_the_same_requests_from_each_save() {
    continues_from_each_save(2).await;
}

#[tokio::test]
async fn removed_messages_shift_a_compaction() {
    let model = reader();
    let agent = reading(&model);
    let mut conversation = Conversation::new("1");
    agent.run("Read the book.").on(&mut conversation).await.unwrap();
    let summary = conversation.summary_of("agent").unwrap().to_owned();
    for number in 0..4 {
        agent.run(format!("Question {number}?")).on(&mut conversation).await.unwrap();
    }
    for max in [8, 3, 0] {
        let sessions = Sessions::default();
        conversation.keep_latest(max);
        // The same after JSON and log.
        let json = serde_json::to_string(&conversation).unwrap();
        let mut from_json: Conversation = serde_json::from_str(&json).unwrap();
        let mut stored = sessions.user("ada").conversation("1").open().await.unwrap();
        conversation.messages().iter().cloned().for_each(|message| stored.push(message));
        let mut requests = Vec::new();
        for conversation in [&mut conversation.clone(), &mut from_json] {
            agent.run("Are you there?").on(&mut *conversation).await.unwrap();
            requests.push(body(model.requests().last().unwrap()));
        }
        assert_eq!(requests[0], requests[1]);
        let text = requests[0].to_string();
        assert!(text.contains(summary.trim()) && text.contains("Are you there?"), "{text}");
    }
}

/// Other agents, and one without settings, read all messages.
#[tokio::test]
async fn a_compaction_is_for_one_agent_with_settings() {
    let model = reader();
    let mut conversation = Conversation::new("1");
    reading(&model).run("Read the book.").on(&mut conversation).await.unwrap();
    assert!(conversation.summary_of("agent").is_some() && conversation.summary_of("other").is_none());
    let count = conversation.messages().len();
    let model = ScriptedModel::new().text("Yes.").text("Yes.");
    let plain = Agent::builder(model.clone()).build().unwrap();
    plain.run("All there?").on(&mut conversation).await.unwrap();
    let other = agent(&model, Compaction::new(1_000_000)).name("other").build().unwrap();
    other.run("All there?").on(&mut conversation).await.unwrap();
    let requests = model.requests();
    assert_eq!(requests[0].messages.len(), count + 1);
    assert!(body(&requests[1]).to_string().contains("[agent] called tool `read` with"));
}

/// Each run begins with the last one's compactions.
#[tokio::test]
async fn parallel_agents_keep_their_compactions() {
    let names = ["first", "second"];
    let seen = names.map(|_| Arc::new(Mutex::new(Vec::<SummaryRequest>::new())));
    let agents = names.iter().zip(&seen).map(|(name, seen)| {
        let log = seen.clone();
        let compaction = Compaction::new(4_000).with_summary(move |request: SummaryRequest| {
            log.lock().unwrap().push(request.clone());
            summarize(request)
        });
        agent(&windowed(3_500, 40, true), compaction).name(*name).build().unwrap()
    });
    let team = Agent::from(ParallelAgent::new("team", agents.collect::<Vec<_>>()));
    let sessions = Sessions::default();
    for number in 0..5 {
        let options =
            Options::new().with_limits(toolkit_agent::Limits::default().with_max_model_calls(1_000));
        let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        team.run(format!("Question {number}?")).on(&mut conversation).options(options).await.unwrap();
        for name in names {
            assert!(conversation.summary_of(name).is_some(), "{name} in run {number}");
        }
        sessions.save(&mut conversation).await.unwrap();
    }
    for seen in seen {
        let seen = seen.lock().unwrap();
        let has_first = |request: &&SummaryRequest| {
            request.messages.iter().any(|message| message.to_text() == "Question 0?")
        };
        let first = seen.iter().filter(has_first).count();
        // Once as the question, and once as an old message.
        assert!(first <= 2, "the first message was summarized {first} times");
        let previous = seen.iter().filter(|request| request.previous.is_empty()).count();
        assert_eq!(previous, 1, "all later summaries include the one before");
    }
}
