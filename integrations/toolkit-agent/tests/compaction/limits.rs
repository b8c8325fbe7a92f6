//! Compaction under models' limits of requests and answers.

use super::{agent, call, compactions, too_long, watched};
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit_agent::compaction::{Compaction, CountTokens, TokenEstimate};
use toolkit_agent::{Conversation, RunEvent};
use toolkit_core::ToolCall;
use toolkit_llm::FinishReason;
use toolkit_llm::{Message, ModelError, ModelErrorKind, ModelResponse, ScriptedModel, Usage};

fn long_talk() -> Conversation {
    let mut conversation = Conversation::new("1");
    for number in 0..10 {
        conversation.push(Message::user(format!("Question {number}? {}", "Please. ".repeat(3_500))));
        conversation.push(Message::assistant("Indeed. ".repeat(3_500)));
    }
    conversation
}

/// Continues a long conversation, and returns the compaction's event.
async fn continued(summary: &ScriptedModel) -> (Conversation, RunEvent) {
    let model = ScriptedModel::new().text("Yes.");
    let compaction = Compaction::new(200_000).with_summary_model(summary.clone());
    let agent = agent(&model, compaction.with_start_at(0.6)).build().unwrap();
    let mut conversation = long_talk();
    let (ended, events) = watched(&agent, &mut conversation, "And?").await;
    ended.unwrap();
    let event = compactions(&events)[0].clone();
    (conversation, event)
}

/// A request for more tokens in an answer is refused.
#[tokio::test]
async fn a_summary_respects_the_output_limit_of_its_model() {
    for (most, asked) in [(16_384, 1), (8_192, 1), (4_096, 1), (1_024, 2)] {
        let summary = ScriptedModel::new().fallback(move |request| match request.options.max_output_tokens {
            Some(tokens) if tokens > most => {
                Err(ModelError::new(ModelErrorKind::InvalidRequest, format!("max_tokens: {tokens} > {most}")))
            }
            _ => Ok(ModelResponse::text("We talked.")),
        });
        let (conversation, event) = continued(&summary).await;
        let RunEvent::Compacted { summary_error, .. } = event else { unreachable!() };
        assert_eq!((summary_error, summary.requests().len()), (None, asked), "{most}");
        assert_eq!(conversation.summary_of("agent"), Some("We talked."));
    }
}

/// A model may use up its limit by thinking.
#[tokio::test]
async fn a_summary_without_text_at_the_output_limit_is_asked_for_again() {
    let summary = ScriptedModel::new().fallback(|request| match request.options.max_output_tokens {
        Some(_) => Ok(ModelResponse::text("").with_finish(FinishReason::Length)),
        None => Ok(ModelResponse::text("We talked.")),
    });
    let (conversation, _) = continued(&summary).await;
    assert_eq!((conversation.summary_of("agent"), summary.requests().len()), (Some("We talked."), 2));
}

#[tokio::test]
async fn long_latest_results_do_not_cost_a_summary_in_each_turn() {
    const TURNS: usize = 40;
    for page in [41_usize, 26, 15, 4, 30, 11] {
        for window in [1_500, 2_000, 3_000] {
            let calls = AtomicUsize::new(0);
            let model = ScriptedModel::new().fallback(move |request| {
                let tokens = TokenEstimate.count_request(request);
                if tokens > window {
                    return Err(too_long());
                }
                let number = calls.fetch_add(1, Ordering::Relaxed);
                let arguments = format!(r#"{{"page": {page}}}"#);
                Ok(if number < TURNS {
                    ModelResponse::calls([ToolCall::new(format!("call_{number}"), "read", arguments)])
                } else {
                    ModelResponse::text("Done.")
                }
                .with_usage(Usage::new(tokens, 20)))
            });
            let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("Pages were read.")));
            let compaction = Compaction::new(window).with_summary_model(summary.clone());
            let agent = agent(&model, compaction).build().unwrap();
            let (ended, events) = watched(&agent, &mut Conversation::new("1"), "Read.").await;
            assert_eq!(ended.unwrap(), "Done.");
            let compactions = compactions(&events).len();
            let summaries = summary.requests().len();
            assert_eq!(model.requests().len(), TURNS + 1, "no request was refused");
            assert!(
                compactions <= TURNS * 2 / 3 && summaries <= TURNS / 3,
                "page {page}, window {window}: {compactions} compactions, {summaries} summaries"
            );
        }
    }
}

/// One turn's thirty results exceed the window even when shortened.
#[tokio::test]
async fn results_of_the_latest_turn_become_notes_if_nothing_else_helps() {
    let model = ScriptedModel::new().fallback(|request| {
        if TokenEstimate.count_request(request) > 1_750 {
            return Err(too_long());
        }
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("Done."),
            _ => ModelResponse::calls((0..30).map(|number| call(41 + number * 138))),
        })
    });
    let agent = agent(&model, Compaction::new(2_000)).build().unwrap();
    let mut conversation = Conversation::new("1");
    let (ended, _) = watched(&agent, &mut conversation, "Read.").await;
    assert_eq!((ended.as_deref(), model.requests().len()), (Ok("Done."), 2));
    let sent = model.requests().pop().unwrap().messages.last().unwrap().to_text();
    assert!(sent.contains("[output left out: "), "{sent}");
}

/// The estimate is three times the provider's count, as for Cyrillic and Arabic.
#[tokio::test]
async fn a_high_estimate_does_not_lead_to_a_smaller_request() {
    let counted = |request: &_| TokenEstimate.count_request(request) / 3;
    let model = ScriptedModel::new().fallback(move |request| {
        Ok(ModelResponse::text("Это ответ. ".repeat(30)).with_usage(Usage::new(counted(request), 110)))
    });
    let agent = agent(&model, Compaction::new(4_000)).build().unwrap();
    let mut conversation = Conversation::new("1");
    for number in 0..100 {
        let (ended, events) = watched(&agent, &mut conversation, &format!("Вопрос {number}?")).await;
        ended.unwrap();
        if let [RunEvent::Compacted { tokens_before, tokens_after, .. }] = compactions(&events)[..] {
            // The target is 1,750 tokens.
            let tokens = counted(model.requests().last().unwrap());
            assert!((1_500..1_900).contains(&tokens), "{tokens}");
            assert!((2_800..3_100).contains(tokens_before), "{tokens_before}");
            assert!(tokens_after.abs_diff(tokens) < 200, "{tokens_after} {tokens}");
            return;
        }
    }
    panic!("there was no compaction");
}

#[tokio::test]
async fn a_long_history_costs_at_most_eight_summaries() {
    let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("We talked.")));
    let model = ScriptedModel::new().text("Yes.");
    let agent = agent(&model, Compaction::new(4_000).with_summary_model(summary.clone())).build().unwrap();
    let mut conversation = Conversation::new("1");
    for number in 0..200 {
        conversation.push(Message::user(format!("Question {number}? {}", "Please. ".repeat(100))));
        conversation.push(Message::assistant(format!("Answer {number}.")));
    }
    watched(&agent, &mut conversation, "And?").await.0.unwrap();
    let texts: Vec<String> = summary.requests().iter().map(|request| request.messages[0].to_text()).collect();
    assert_eq!(texts.len(), 8);
    assert!(texts[0].contains(" older messages are not part of this text.]"), "{}", texts[0]);
    assert!(!texts[0].contains("Question 0?") && texts[7].contains("Question 194?"), "{}", texts[7]);
    assert_eq!(conversation.summary_of("agent"), Some("We talked."));
}

#[tokio::test]
async fn a_summary_contains_no_messages_beyond_the_history_limit() {
    let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("We talked.")));
    let model = ScriptedModel::new().text("Yes.");
    let compaction = Compaction::new(4_000).with_summary_model(summary.clone());
    let agent = agent(&model, compaction).history_limit(30).build().unwrap();
    let mut conversation = Conversation::new("1");
    for number in 0..30 {
        conversation.push(Message::user(format!("Question {number}? {}", "Please. ".repeat(100))));
        conversation.push(Message::assistant(format!("Answer {number}.")));
    }
    let (ended, events) = watched(&agent, &mut conversation, "And?").await;
    ended.unwrap();
    let text: String = summary.requests().iter().map(|request| request.messages[0].to_text()).collect();
    assert!(!text.contains("Question 15?") && text.contains("Question 16?"), "{text}");
    let [RunEvent::Compacted { messages_left_out, .. }] = compactions(&events)[..] else { panic!() };
    assert!(*messages_left_out < 30, "{messages_left_out}");
}

/// The latest six messages alone exceed the window, and no tool result can be shortened.
#[tokio::test]
async fn long_latest_messages_do_not_cost_a_summary_in_each_run() {
    const RUNS: usize = 40;
    for words in [20, 60, 100, 140] {
        let model = ScriptedModel::new().fallback(move |request| {
            let tokens = TokenEstimate.count_request(request);
            if tokens > 2_000 {
                return Err(too_long());
            }
            Ok(ModelResponse::text("Indeed. ".repeat(words)).with_usage(Usage::new(tokens, 20)))
        });
        let summary = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("We talked.")));
        let compaction = Compaction::new(2_000).with_summary_model(summary.clone());
        let agent = agent(&model, compaction).build().unwrap();
        let mut conversation = Conversation::new("1");
        let mut compacted = 0;
        for number in 0..RUNS {
            let input = format!("Question {number}? {}", "Please. ".repeat(words));
            let (ended, events) = watched(&agent, &mut conversation, &input).await;
            ended.unwrap();
            compacted += compactions(&events).len();
        }
        assert_eq!(model.requests().len(), RUNS, "no request was refused");
        // A summary of long messages has two parts.
        let summaries = summary.requests().len();
        assert!(
            compacted <= RUNS / 2 && summaries <= RUNS,
            "{words} words: {compacted} compactions, {summaries} summaries"
        );
    }
}
