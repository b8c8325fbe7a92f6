//! Summaries of old messages: cost, limits and failures.

use super::{agent, compactions, watched, windowed};
use crate::support::Configured as _;
use crate::support::cancelled_after;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_agent::compaction::{Compaction, CountTokens, SummaryRequest, TokenEstimate};
use toolkit_agent::{Agent, AgentError, Conversation, Limits, RunEvent};
use toolkit_llm::model::Priced;
use toolkit_llm::{
    Message, ModelError, ModelErrorKind, ModelOptions, ModelResponse, ModelRetry, Price, ScriptedModel, Usage,
};

const WINDOW: u64 = 4_000;

/// Creates an agent with answers of about 200 tokens.
fn talker(compaction: Compaction) -> (ScriptedModel, Agent) {
    let model = ScriptedModel::new().fallback(|_| {
        let usage = Usage::default();
        Ok(ModelResponse::text("This is an answer. ".repeat(35)).with_usage(usage))
    });
    let agent = agent(&model, compaction).price(Price::per_million(1.0, 1.0)).build().unwrap();
    (model, agent)
}

/// Asks until the first compaction, and returns its event.
async fn until_compacted(agent: &Agent, conversation: &mut Conversation) -> RunEvent {
    for number in 0..100 {
        let (ended, events) = watched(agent, conversation, &format!("Question {number}?")).await;
        ended.unwrap();
        if let [event] = compactions(&events)[..] {
            return event.clone();
        }
    }
    panic!("there was no compaction");
}

fn error_of(event: &RunEvent) -> Option<&str> {
    let RunEvent::Compacted { summary_error, .. } = event else { panic!("{event:?}") };
    summary_error.as_deref()
}

#[tokio::test]
async fn a_model_summarizes_and_its_tokens_are_paid() {
    let summary = ScriptedModel::new().fallback(|_| {
        Ok(ModelResponse::text("Ada asked questions.").with_usage(Usage::new(1_000_000, 100_000)))
    });
    let compaction = Compaction::new(WINDOW)
        .with_summary_model(Priced::new(summary.clone(), Price::per_million(2.0, 10.0)));
    let (model, agent) = talker(compaction);
    let mut conversation = Conversation::new("1");
    let mut last = None;
    for number in 0..40 {
        let output = agent.run(format!("Question {number}?")).on(&mut conversation).await.unwrap();
        if output.model_calls == 2 {
            last = Some(output);
            break;
        }
    }
    let output = last.unwrap();
    assert_eq!((output.usage.input_tokens, output.cost), (1_000_000, 3.0));
    assert_eq!(conversation.summary_of("agent"), Some("Ada asked questions."));
    let asked = &summary.requests()[0];
    assert!(
        asked.messages[0].to_text().starts_with("The conversation:\n\nUser: Question 0?\n\nAssistant: This")
    );
    assert!(asked.instructions.contains("Write at most 125 words"), "{}", asked.instructions);
    assert_eq!(asked.options.max_output_tokens, Some(1_000));
    let sent = model.requests().pop().unwrap();
    let text = sent.messages[0].to_text();
    assert!(text.contains("Summary of the messages that were left out:\nAda asked questions."), "{text}");
}

#[tokio::test]
async fn the_next_summary_includes_the_one_before() {
    let seen = Arc::new(Mutex::new(Vec::<SummaryRequest>::new()));
    let log = seen.clone();
    let compaction = Compaction::new(WINDOW).with_summary(move |request: SummaryRequest| {
        let mut log = log.lock().unwrap();
        log.push(request);
        let number = log.len();
        async move { Ok::<_, String>(format!("Summary {number}.")) }
    });
    let (_, agent) = talker(compaction);
    let mut conversation = Conversation::new("1");
    for _ in 0..3 {
        until_compacted(&agent, &mut conversation).await;
    }
    let seen = seen.lock().unwrap();
    let previous: Vec<&str> = seen.iter().map(|request| request.previous.as_str()).collect();
    assert_eq!(previous, ["", "Summary 1.", "Summary 2."]);
    assert_eq!((seen[0].agent.as_str(), seen[0].max_tokens), ("agent", 250));
    let summarized: Vec<&Message> = seen.iter().flat_map(|request| &request.messages).collect();
    let original: Vec<&Message> = conversation.messages().iter().take(summarized.len()).collect();
    assert_eq!(summarized, original);
    assert!(seen[0].transcript().starts_with("User: Question 0?\n\nAssistant: This is an answer."));
}

/// It usually states the task, and a summary may lose parts of it.
#[tokio::test]
async fn a_short_first_message_of_the_user_stays() {
    let long = "Please. ".repeat(300);
    for (first, is_kept) in [("The code of the door is 4711.", true), (long.as_str(), false)] {
        let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("They talked.")));
        let (model, agent) = talker(Compaction::new(WINDOW).with_summary_model(summary));
        let mut conversation = Conversation::new("1");
        agent.run(first).on(&mut conversation).await.unwrap();
        for _ in 0..3 {
            until_compacted(&agent, &mut conversation).await;
            let text = model.requests().pop().unwrap().messages[0].to_text();
            assert_eq!(text.contains(first), is_kept, "{text}");
            let messages = "The user's messages among them";
            let message = "The user's message among them";
            assert!(!text.contains(messages) && text.contains(message) == is_kept, "{text}");
        }
    }
}

#[tokio::test]
async fn a_failed_summary_leaves_a_note() {
    let failing =
        || ScriptedModel::new().fallback(|_| Err(ModelError::new(ModelErrorKind::InvalidRequest, "no luck")));
    let empty = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text(" ")));
    let function = |_: SummaryRequest| async { Err::<String, _>("no luck") };
    for (compaction, reason) in [
        (Compaction::new(WINDOW).with_summary_model(failing()), "no luck"),
        (Compaction::new(WINDOW).with_summary_model(empty), "the summary is empty"),
        (Compaction::new(WINDOW).with_summary(function), "no luck"),
    ] {
        let (model, agent) = talker(compaction);
        let mut conversation = Conversation::new("1");
        let event = until_compacted(&agent, &mut conversation).await;
        assert_eq!(error_of(&event), Some(reason));
        assert_eq!(conversation.summary_of("agent"), None);
        let text = model.requests().pop().unwrap().messages[0].to_text();
        assert!(text.contains(" earlier messages of this conversation were left out.]"), "{text}");
    }
}

#[tokio::test]
async fn a_temporary_failure_is_retried() {
    let summary = ScriptedModel::new().error(ModelError::from_status(503, "busy")).text("We talked.");
    let model = windowed(3_500, 60, true);
    let retry = ModelRetry::new(2).with_pauses(Duration::ZERO, Duration::ZERO);
    let compaction = Compaction::new(WINDOW).with_summary_model(summary).with_result_chars(2_000);
    let agent = agent(&model, compaction).retry(retry).build().unwrap();
    let mut conversation = Conversation::new("1");
    watched(&agent, &mut conversation, "Read.").await.0.unwrap();
    assert_eq!(conversation.summary_of("agent"), Some("We talked."));
}

#[tokio::test]
async fn a_summary_counts_as_a_model_call_of_the_limits() {
    let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("We talked.")));
    let (model, agent) = talker(Compaction::new(WINDOW).with_summary_model(summary.clone()));
    let mut conversation = Conversation::new("1");
    for number in 0..40 {
        // Only the call of the agent's own model is left.
        agent
            .run(format!("Question {number}?"))
            .on(&mut conversation)
            .limits(Limits::default().with_max_model_calls(1))
            .await
            .unwrap();
    }
    assert_eq!((model.requests().len(), summary.requests().len()), (40, 0));
    assert_eq!(conversation.summary_of("agent"), None);
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_a_summary_and_changes_nothing() {
    let slow = |_: SummaryRequest| async {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        Ok::<_, String>("late".to_owned())
    };
    let (model, agent) = talker(Compaction::new(WINDOW).with_summary(slow));
    let mut conversation = Conversation::new("1");
    let ended = loop {
        let options = cancelled_after(Duration::from_secs(1));
        if let Err(error) = agent.run("Question?").on(&mut conversation).options(options).await {
            break error;
        }
    };
    assert_eq!(ended.error, AgentError::Cancelled);
    assert!(!serde_json::to_string(&conversation).unwrap().contains("compactions"));
    assert!(model.requests().len() > 5);
}

/// A long conversation precedes the settings, and the summaries' model has a smaller window.
#[tokio::test]
async fn a_long_history_is_summarized_in_parts() {
    let summary = ScriptedModel::new().fallback(|request| {
        if TokenEstimate.count_request(request) > 1_000 {
            Err(ModelError::new(ModelErrorKind::ContextTooLong, "too long"))
        } else {
            Ok(ModelResponse::text("We talked."))
        }
    });
    let compaction = Compaction::new(WINDOW)
        .with_summary_model(summary.clone())
        .with_summary_instructions("Summarize.")
        .with_summary_options(ModelOptions::new().with_temperature(0.0));
    let (model, agent) = talker(compaction);
    let mut conversation = Conversation::new("1");
    for number in 0..40 {
        conversation.push(Message::user(format!("Question {number}? {}", "Please. ".repeat(100))));
        conversation.push(Message::assistant(format!("Answer {number}.")));
    }
    let event = until_compacted(&agent, &mut conversation).await;
    assert_eq!((error_of(&event), conversation.summary_of("agent")), (None, Some("We talked.")));
    let asked = summary.requests();
    assert!(asked.len() > 5, "{}", asked.len());
    let texts: Vec<String> = asked.iter().map(|request| request.messages[0].to_text()).collect();
    assert!(texts.iter().any(|text| text.contains("Question 0?")));
    assert!(
        texts.last().unwrap().contains("The summary so far, to include in the new summary:\n\nWe talked.")
    );
    assert!(TokenEstimate.count_request(&model.requests()[0]) < WINDOW);
}

#[tokio::test]
async fn a_long_summary_is_cut() {
    let summary = |_: SummaryRequest| async { Ok::<_, String>("many words ".repeat(10_000)) };
    let (_, agent) = talker(Compaction::new(WINDOW).with_summary(summary).with_summary_tokens(100));
    let mut conversation = Conversation::new("1");
    until_compacted(&agent, &mut conversation).await;
    let summary = conversation.summary_of("agent").unwrap();
    assert!(TokenEstimate.count_text(summary) <= 101, "{}", summary.len());
}
