//! What a page shows, scene by scene. After each answer, the page's message is the one of the log.

use crate::page_support::{Page, folded, settled, types};
use crate::scenes::scenes;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use toolkit_agent::Agent;
use toolkit_ai::ToolRegistry;
use toolkit_core::ClosureTool;
use toolkit_frontends::ai_sdk::UiMessage;
use toolkit_llm::ScriptedModel;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn text_arrives_in_pieces() {
    let mut page = Page::of(Agent::builder(ScriptedModel::new().text("Hello, Ada.")).build().unwrap());
    let chunks = page.ask("m1", "I am Ada.").await;
    let usage = json!({"inputTokens": 0, "outputTokens": 0});
    let expected = json!([
        {"type": "start", "messageId": "m1.answer"},
        {"type": "start-step"},
        {"type": "text-start", "id": "1.1"},
        {"type": "text-delta", "id": "1.1", "delta": "Hello, Ada."},
        {"type": "text-end", "id": "1.1"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop",
            "messageMetadata": {"run": "m1", "agent": "agent", "usage": usage}},
    ]);
    assert_eq!(Value::from(chunks), expected);
    assert_eq!(page.saved().await[0]["parts"], json!([{"type": "text", "text": "I am Ada."}]));
}

#[tokio::test]
async fn parallel_calls_have_their_own_parts_and_a_failure_is_an_error() {
    let mut page = Page::new();
    let chunks = page.ask("m1", "weather").await;
    assert!(types(&chunks).contains(&"tool-input-delta"), "{chunks:#?}");
    assert!(types(&chunks).contains(&"data-progress"), "{chunks:#?}");
    let calls: Vec<&Value> = page.parts().iter().filter(|part| part["type"] == "tool-forecast").collect();
    let shown = |part: &Value| (part["toolCallId"].clone(), part["input"].clone(), part["output"].clone());
    assert_eq!(shown(calls[0]), (json!("1.1.0"), json!({"city": "Rome"}), json!("Rome: clear")));
    assert_eq!(shown(calls[1]), (json!("1.1.1"), json!({"city": "Oslo"}), json!("Oslo: clear")));

    page.ask("m2", "fail").await;
    let failed = page.parts().iter().find(|part| part["type"] == "tool-forecast").unwrap();
    assert_eq!(failed["state"], "output-error");
    assert!(failed["errorText"].as_str().unwrap().contains("no station in Atlantis"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_run_once_they_are_approved_and_denied_ones_say_so() {
    let mut page = Page::new();
    let chunks = page.ask("m1", "twice").await;
    assert_eq!(chunks.last().unwrap()["finishReason"], "tool-calls");
    let waiting = page.reloaded().await;
    assert_eq!(waiting.messages, page.messages);
    page.decide("pay", |part| {
        assert_eq!(part["state"], "approval-requested");
        let approved = part["input"]["invoice"] == 7;
        part["state"] = json!("approval-responded");
        part["approval"]["approved"] = json!(approved);
        if !approved {
            part["approval"]["reason"] = json!("too expensive");
        }
    });
    let chunks = page.send().await;
    assert_eq!(types(&chunks).iter().filter(|kind| **kind == "start").count(), 1);
    let calls: Vec<&Value> = page.parts().iter().filter(|part| part["type"] == "tool-pay").collect();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    assert_eq!(
        (&calls[0]["state"], &calls[0]["output"]),
        (&json!("output-available"), &json!("Invoice 7 is paid."))
    );
    assert_eq!(
        (&calls[1]["state"], &calls[1]["approval"]["approved"]),
        (&json!("output-denied"), &json!(false))
    );
    assert!(page.messages.last().unwrap()["metadata"]["usage"].is_object());
}

#[tokio::test]
async fn a_page_tool_gets_its_result_from_the_page() {
    let mut page = Page::new();
    page.ask("m1", "where").await;
    page.decide("location", |part| {
        assert_eq!(part["state"], "input-available");
        part["state"] = json!("output-available");
        part["output"] = json!("Rome");
    });
    page.send().await;
    let text = page.parts().last().unwrap()["text"].as_str().unwrap();
    assert_eq!(text, "That is what I know now: Rome");

    // What was answered before is sent again with each message, and asks for nothing.
    let mut answer = page.post().await;
    answer.read_all().await;
    assert_eq!(types(&answer.chunks), ["start", "finish"]);
    assert_eq!(answer.chunks[1]["finishReason"], "interrupted");
}

#[tokio::test]
async fn the_text_before_a_retry_is_taken_back() {
    let mut page = Page::new();
    let chunks = page.ask("m1", "retry").await;
    let kinds = types(&chunks);
    let reset = kinds.iter().position(|kind| *kind == "reset-step").unwrap();
    assert!(kinds[..reset].contains(&"text-delta"), "{kinds:?}");
    let texts: Vec<&Value> = page.parts().iter().filter(|part| part["type"] == "text").collect();
    assert_eq!(texts.len(), 1);
    assert!(texts[0]["text"].as_str().unwrap().starts_with("Hello."), "{texts:?}");
}

#[tokio::test]
async fn a_stop_ends_the_run_and_the_conversation_goes_on() {
    a_stop_ends(Page::new()).await;
    // Without a guardrail, the text so far is kept.
    a_stop_ends(Page::of(Agent::builder(scenes(Duration::from_millis(1))).build().unwrap())).await;
}

async fn a_stop_ends(mut page: Page) {
    page.write("m1", "slow");
    let mut answer = page.post().await;
    assert!(answer.read_until("text-delta").await);
    let stopped = page.request("ada", "POST", "/1/stop", &Value::Null).await;
    assert_eq!(stopped.status(), 204);
    answer.read_all().await;
    assert_eq!(answer.chunks.last().unwrap()["type"], "abort");
    let message = folded(UiMessage::assistant(""), &answer.chunks);
    let saved = page.saved().await.into_iter().find(|message| message["role"] == "assistant");
    match saved {
        Some(saved) => assert_eq!(message, saved),
        None => assert_eq!(message["parts"], json!([{"type": "step-start"}])),
    }
    settled().await;
    assert_eq!(page.request("ada", "POST", "/1/stop", &Value::Null).await.status(), 404);
    page.messages = page.saved().await;
    page.ask("m2", "hello").await;
}

#[tokio::test]
async fn a_page_that_is_loaded_again_reads_the_message_from_its_start() {
    let mut page = Page::new();
    page.write("m1", "slow");
    let mut first = page.post().await;
    assert!(first.read_until("text-delta").await);
    let mut second = page.attach().await.unwrap();
    second.read_all().await;
    let first_read = second.chunks[0]["messageId"].clone();
    assert_eq!(first_read, "m1.answer");
    let message = folded(UiMessage::assistant(""), &second.chunks);
    assert_eq!(Some(&message), page.saved().await.last());
    // The first page was closed in the meantime.
    drop(first);
    settled().await;
    assert!(page.attach().await.is_none());
}

#[tokio::test]
async fn a_message_that_is_sent_twice_is_answered_once() {
    let model = ScriptedModel::new().text("One.").text("Two.");
    let mut page = Page::of(Agent::builder(model.clone()).build().unwrap());
    let first = page.ask("m1", "Hello.").await;
    page.messages.pop();
    let again = page.send().await;
    assert_eq!((first, model.remaining()), (again, 1));
    // A page after a reload may send its last message only.
    page.messages.clear();
    page.ask("m2", "Hello again.").await;
    assert_eq!(page.saved().await.len(), 4);
}

#[tokio::test]
async fn a_message_instead_of_a_decision_gives_up_the_calls() {
    let mut page = Page::new();
    page.ask("m1", "pay").await;
    let chunks = page.ask("m2", "hello").await;
    assert_eq!(chunks.last().unwrap()["finishReason"], "stop");
    let saved = page.saved().await;
    let given_up =
        saved[1]["parts"].as_array().unwrap().iter().find(|part| part["type"] == "tool-pay").unwrap();
    assert_eq!(given_up["state"], "output-error");
}

#[tokio::test]
async fn a_called_agent_is_the_preliminary_output_of_its_call() {
    let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build().unwrap();
    let model = ScriptedModel::new().call("expert", r#"{"request": "6 * 7?"}"#).text("It is 42.");
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let mut page = Page::of(Agent::builder(model).tools(tools).build().unwrap());
    let chunks = page.ask("m1", "What is six times seven?").await;
    let outputs: Vec<&Value> =
        chunks.iter().filter(|chunk| chunk["type"] == "tool-output-available").collect();
    assert_eq!((&outputs[0]["output"], &outputs[0]["preliminary"]), (&json!("42"), &json!(true)));
    assert_eq!(outputs[1]["preliminary"], Value::Null);
    let texts: Vec<&Value> = page.parts().iter().filter(|part| part["type"] == "text").collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[tokio::test]
async fn each_piece_of_a_slow_run_is_shown_once_on_every_page() {
    let permits = Arc::new(Semaphore::new(0));
    let gate = permits.clone();
    let work = ClosureTool::new("work", "Works.", move |_: Nothing| {
        let gate = gate.clone();
        async move {
            gate.acquire().await.unwrap().forget();
            "worked"
        }
    });
    let model = ScriptedModel::new().call("work", "{}").call("work", "{}").text("Done.");
    let tools = ToolRegistry::from_tools([work.unwrap()]).unwrap();
    let mut page = Page::of(Agent::builder(model).tools(tools).build().unwrap());
    page.write("m1", "Work.");
    let mut pages = vec![page.post().await];
    assert!(pages[0].read_until("tool-input-available").await);
    for _ in 0..3 {
        permits.add_permits(1);
        tokio::time::sleep(Duration::from_millis(20)).await;
        pages.extend(page.attach().await);
    }
    let mut shown = Vec::new();
    for mut page in pages {
        page.read_all().await;
        shown.push(folded(UiMessage::assistant(""), &page.chunks));
    }
    assert!(shown.len() > 1);
    let saved = page.saved().await.pop().unwrap();
    for message in shown {
        assert_eq!(message, saved);
    }
}
