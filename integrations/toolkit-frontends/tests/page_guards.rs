//! Answers that a guardrail replaces: pages show what the log has.

use crate::ag_scenes::AgPage;
use crate::page_support::{Page, types};
use serde_json::{Value, json};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::{Agent, AgentOutput};
use toolkit_llm::{ModelResponse, ScriptedModel};

/// Returns an agent that says no number.
fn discreet() -> Agent {
    let digits = Guardrail::new("digits", |answer: &AgentOutput, _: &GuardContext| {
        if answer.text.contains(|c: char| c.is_ascii_digit()) {
            return Verdict::Block("I do not say that.".to_owned());
        }
        Verdict::Pass
    });
    let model = ScriptedModel::new().text("The password is 4711.").text("Hello.");
    Agent::builder(model).guardrail(digits).build().unwrap()
}

#[tokio::test]
async fn text_that_waits_for_its_check_is_never_shown() {
    let mut page = Page::of(discreet());
    let chunks = page.ask("m1", "What is it?").await;
    assert!(!Value::from(chunks).to_string().contains("4711"));
    assert_eq!(page.parts().last().unwrap()["text"], "I do not say that.");
    page.ask("m2", "Hi.").await;
}

#[tokio::test]
async fn a_block_takes_the_place_of_the_text_that_was_shown() {
    let mut page = Page::new();
    let chunks = page.ask("m1", "block").await;
    let kinds = types(&chunks);
    let reset = kinds.iter().position(|kind| *kind == "reset-step").unwrap();
    assert!(kinds[..reset].contains(&"text-delta"), "{kinds:?}");
    assert_eq!(page.parts().last().unwrap()["text"], "I do not say that.");
    page.ask("m2", "hello").await;

    let mut page = AgPage::new();
    let events = page.ask("m1", "block").await;
    assert!(events.iter().any(|event| event["type"] == "MESSAGES_SNAPSHOT"), "{events:#?}");
    assert_eq!(page.messages.last().unwrap().as_value()["content"], "I do not say that.");
    page.ask("m2", "hello").await;
}

/// A model that thinks between its texts has one text, as in the log.
#[tokio::test]
async fn text_around_a_thought_is_one_message_in_ag_ui() {
    let mut response = ModelResponse::text("Hello.");
    response.message.reasoning = "Hm.".to_owned();
    let mut page = AgPage::of(Agent::builder(ScriptedModel::new().response(response)).build().unwrap());
    page.ask("m1", "Hi.").await;
    let roles: Vec<&Value> = page.messages.iter().map(|message| &message.as_value()["role"]).collect();
    assert_eq!(roles, [&json!("user"), &json!("reasoning"), &json!("assistant")]);
}
