//! Compactions beside the checks of inputs and of answers.

use super::{agent, compactions, too_long, watched};
use crate::support::assert_sendable;
use crate::support::{Form, Formed as _};
use serde::Deserialize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::Conversation;
use toolkit_agent::compaction::{Compaction, SummaryRequest};
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_core::ToolRegistry;
use toolkit_core::schemars::JsonSchema;
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{Message, ModelResponse, ScriptedModel, UserMessage};

/// Decides after a while about inputs with `secret`.
fn slow(verdict: fn() -> Verdict<UserMessage>) -> Guardrail {
    let check = move |input: UserMessage, _| async move {
        sleep(Duration::from_millis(100)).await;
        if input.to_text().contains("secret") { verdict() } else { Verdict::Pass }
    };
    Guardrail::new_async("slow", check).beside_model()
}

#[tokio::test(start_paused = true)]
async fn a_summary_contains_no_input_before_its_check_has_passed() {
    type Case = (&'static str, fn() -> Verdict<UserMessage>);
    let cases: [Case; 4] = [
        ("pass", || Verdict::Pass),
        ("replace", || Verdict::Replace("clean".into())),
        ("block", || Verdict::Block("No.".to_owned())),
        ("end", || Verdict::End("No.".to_owned())),
    ];
    for (case, verdict) in cases {
        // The request exceeds the window, or is refused as too long.
        for is_refused in [false, true] {
            let asked = Arc::<Mutex<Vec<String>>>::default();
            let requests = asked.clone();
            let summarize = move |request: SummaryRequest| {
                let text = request.messages.iter().map(Message::to_text).collect::<Vec<_>>().join("\n");
                requests.lock().unwrap().push(text.clone());
                async move { Ok::<_, String>(text) }
            };
            let model = ScriptedModel::new();
            let model = if is_refused { model.error(too_long()) } else { model };
            let model = model.fallback(|_| Ok(ModelResponse::text("Yes.")));
            let window = if is_refused { 100_000 } else { 2_000 };
            let compaction = Compaction::new(window).with_summary(summarize).with_keep_latest(0);
            let agent = agent(&model, compaction).guardrail(slow(verdict)).build().unwrap();
            let mut conversation = Conversation::new("1");
            for number in 0..5 {
                conversation.push(Message::user(format!("Question {number}?")));
                conversation.push(Message::assistant("An answer."));
            }
            conversation.push(Message::user(format!("the secret. {}", "Please. ".repeat(900))));
            let (ended, events) = watched(&agent, &mut conversation, "And?").await;
            let requests = asked.lock().unwrap().join("\n");
            let saved = serde_json::to_string(&conversation).unwrap();
            let case = format!("{case} {is_refused}: {ended:?} {requests}");
            if case.starts_with("pass") {
                assert_eq!(ended.unwrap(), "Yes.");
                assert_eq!(compactions(&events).len(), 1, "{case}");
                assert!(requests.contains("secret"), "{case}");
                continue;
            }
            assert!(!requests.contains("secret"), "{case}");
            assert!(!saved.contains("secret"), "{case}");
            assert_eq!(ended.is_err(), case.starts_with("end"), "{case}");
            assert_sendable(&conversation);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_compaction_without_the_checked_input_does_not_wait() {
    let model = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("Yes.")));
    let waited = Arc::<Mutex<Option<Duration>>>::default();
    let begun = tokio::time::Instant::now();
    let summarized = waited.clone();
    let summarize = move |_: SummaryRequest| {
        *summarized.lock().unwrap() = Some(begun.elapsed());
        async { Ok::<_, String>("They talked.".to_owned()) }
    };
    let agent =
        agent(&model, Compaction::new(2_000).with_summary(summarize)).guardrail(slow(|| Verdict::Pass));
    let agent = agent.build().unwrap();
    let mut conversation = Conversation::new("1");
    for number in 0..20 {
        conversation.push(Message::user(format!("Question {number}? {}", "Please. ".repeat(60))));
        conversation.push(Message::assistant("An answer."));
    }
    watched(&agent, &mut conversation, "And?").await.0.unwrap();
    assert_eq!(*waited.lock().unwrap(), Some(Duration::ZERO));
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Count {
    count: u32,
}

const FEEDBACK: &str = "Your answer is not of the form";

#[tokio::test]
async fn a_compacted_history_does_not_begin_with_feedback() {
    for window in (600..2_400).step_by(60) {
        let turn = std::sync::atomic::AtomicUsize::new(0);
        let model = ScriptedModel::new().fallback(move |_| {
            let turn = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(ModelResponse::text(match turn % 2 {
                0 => format!("Three, I think. {}", "Or so. ".repeat(turn % 50)),
                _ => r#"{"count": 3}"#.to_owned(),
            }))
        });
        let agent = agent(&model, Compaction::new(window).with_keep_latest(2).with_answer_tokens(50));
        let agent = agent.tools(ToolRegistry::new()).build().unwrap();
        let mut conversation = Conversation::new("1");
        let form = || Form::new().with_mode(AnswerMode::Text);
        for number in 0..12 {
            let input = format!("Question {number}: how many? {}", "Please. ".repeat(number * 7 % 40));
            let asked = agent.run(input).on(&mut conversation).typed::<Count>().form(form()).await;
            assert_eq!(asked.unwrap().value, Count { count: 3 });
        }
        for request in model.requests() {
            let texts: Vec<String> = request.messages.iter().map(Message::to_text).collect();
            // Feedback follows its answer, or is kept while unanswered.
            let is_answered = texts.len() > 1;
            assert!(!(is_answered && texts[0].contains(FEEDBACK)), "{window}: {texts:?}");
        }
    }
}
