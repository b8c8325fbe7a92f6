//! Answers that are written again, and messages that are changed. After each, all messages of the page are those of the log.

use crate::page_support::{Page, settled, types};
use serde_json::{Value, json};
use toolkit_agent::Agent;
use toolkit_llm::ScriptedModel;

fn page(texts: &[&str]) -> (ScriptedModel, Page) {
    let mut model = ScriptedModel::new();
    for text in texts {
        model = model.text(*text);
    }
    (model.clone(), Page::of(Agent::builder(model).build().unwrap()))
}

fn texts(page: &Page) -> Vec<String> {
    let text = |message: &Value| {
        let parts = message["parts"].as_array().unwrap().iter();
        parts.filter_map(|part| part["text"].as_str()).collect::<String>()
    };
    page.messages.iter().map(text).collect()
}

#[tokio::test]
async fn an_answer_is_written_again_in_the_same_conversation() {
    let (model, mut page) = page(&["One.", "Two.", "Another one."]);
    page.ask("m1", "a").await;
    page.ask("m2", "b").await;
    let chunks = page.regenerate("m1.answer").await;
    assert_eq!(chunks[0], json!({"type": "start", "messageId": "m1~2.answer"}));
    assert_eq!(texts(&page), ["a", "Another one."]);
    assert_eq!(model.requests().last().unwrap().messages.len(), 1);
    // The conversation goes on, for this page and for one that is loaded now.
    assert_eq!(page.reloaded().await.messages, page.messages);
}

#[tokio::test]
async fn the_same_request_again_is_answered_once() {
    let (model, mut page) = page(&["One.", "Another one.", "A third one.", "Four."]);
    page.ask("m1", "a").await;
    let first = page.regenerate("m1.answer").await;
    // A page that has not heard the answer asks for the same.
    page.messages.pop();
    page.messages.push(json!({"id": "m1.answer", "role": "assistant", "parts": []}));
    let again = page.regenerate("m1.answer").await;
    assert_eq!((first, model.remaining()), (again, 2));
    page.regenerate("m1~2.answer").await;
    assert_eq!(texts(&page), ["a", "A third one."]);
    // The message at the end of the history has this answer now, also when it is sent again.
    let third = page.messages.pop().unwrap();
    page.send().await;
    assert_eq!((page.messages.last(), model.remaining()), (Some(&third), 1));
}

#[tokio::test]
async fn a_changed_message_takes_the_place_of_what_followed() {
    let (model, mut page) = page(&["One.", "Two.", "Three."]);
    page.ask("m1", "a").await;
    page.ask("m2", "b").await;
    page.edit("m1", "c").await;
    assert_eq!(texts(&page), ["c", "Three."]);
    // With the same text, it is the same message.
    page.edit("m1", "c").await;
    assert_eq!((texts(&page), model.remaining()), (vec!["c".to_owned(), "Three.".to_owned()], 0));
    // A page that still shows what is gone is told.
    let body = json!({"messages": [{"id": "m2", "role": "user", "parts": [{"type": "text", "text": "b"}]}]});
    assert_eq!(page.request("ada", "POST", "/1", &body).await.status(), 409);
}

#[tokio::test]
async fn the_first_message_of_a_conversation_may_be_sent_as_a_change() {
    let (_, mut page) = page(&["One."]);
    page.write("m1", "a");
    page.edit("m1", "b").await;
    assert_eq!(texts(&page), ["b", "One."]);
}

#[tokio::test]
async fn what_works_or_waits_is_ended_by_a_change() {
    let mut page = Page::new();
    page.ask("m1", "pay").await;
    page.edit("m1", "hello").await;
    page.messages.clear();
    page.write("m2", "slow");
    let mut slow = page.post().await;
    assert!(slow.read_until("text-delta").await);
    page.messages = page.saved().await;
    page.messages.retain(|message| message["id"] != "m2.answer");
    let chunks = page.edit("m2", "hello again").await;
    assert_eq!(types(&chunks).last(), Some(&"finish"));
    slow.read_all().await;
    assert_eq!(slow.chunks.last().unwrap()["type"], "abort");
}

#[tokio::test]
async fn a_call_that_ran_before_a_change_asks_first() {
    let mut page = Page::new();
    page.ask("m1", "weather").await;
    let again = page.regenerate("m1.answer").await;
    // Reading the weather twice does no harm.
    assert!(!types(&again).contains(&"tool-approval-request"), "{again:#?}");
    page.ask("m2", "pay").await;
    page.decide("pay", |part| {
        part["state"] = json!("approval-responded");
        part["approval"]["approved"] = json!(true);
    });
    page.send().await;
    let again = page.regenerate("m2.answer").await;
    let asked = again.iter().find(|chunk| chunk["type"] == "tool-approval-request").unwrap();
    assert!(asked["reason"].as_str().unwrap().contains("may have run before"), "{asked}");
}

#[tokio::test]
async fn a_page_that_comes_back_hears_a_message_that_waits_to_begin() {
    let mut page = Page::new();
    assert!(page.attach().await.is_none());
    page.write("m1", "slow");
    // The page is closed before its message has begun, and loaded again.
    drop(page.post().await);
    let mut attached = page.attach().await.unwrap();
    attached.read_all().await;
    assert_eq!(attached.chunks[0]["messageId"], "m1.answer");
    settled().await;
    assert!(page.attach().await.is_none());
}
