//! Values that no guardrail has passed, in a run's history, events and error.

use super::{Colour, pay};
use crate::support::{Nothing, events, reloaded, says};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::team::{LoopAgent, ParallelAgent};
use toolkit_agent::{Agent, AgentError, AgentOutput, Conversation, RunEvent, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolContext, ToolRegistry};
use toolkit_llm::{Message, ModelResponse, ScriptedModel, StreamEvent, UserMessage};

pub(super) fn streams(text: &str) -> ScriptedModel {
    let pieces = text.split_inclusive(' ').map(|piece| Ok(StreamEvent::Text(piece.to_owned())));
    ScriptedModel::new().deltas(pieces.chain([Ok(StreamEvent::Done(Box::new(ModelResponse::text(text))))]))
}

pub(super) fn history(conversation: &Conversation) -> String {
    serde_json::to_string(conversation).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_response_whose_check_did_not_pass_is_not_kept() {
    let end = Guardrail::new("end", |_: &ModelResponse, _: &GuardContext| {
        Verdict::<ModelResponse>::End("enough".to_owned())
    });
    let slow = Guardrail::new_async("slow", |_: ModelResponse, _| async {
        sleep(Duration::from_millis(50)).await;
        Verdict::Pass
    });
    for (guard, streaming) in [(end.clone(), true), (end, false), (slow.clone(), true), (slow, false)] {
        let agent = Agent::builder(streams("the secret text")).streaming(streaming).guardrail(guard);
        let agent = agent.build().unwrap();
        let mut conversation = Conversation::new("1");
        let run = timeout(Duration::from_millis(10), agent.run("go").on(&mut conversation));
        if let Ok(ended) = run.await {
            assert!(matches!(AgentError::from(ended.unwrap_err()), AgentError::Blocked { .. }));
        }
        assert!(!history(&conversation).contains("secret"), "{streaming}: {}", history(&conversation));
        says("later", "Hello.").run("Hi.").on(&mut conversation).await.unwrap();
        assert!(!history(&conversation).contains("secret"), "{streaming}: {}", history(&conversation));
    }
}

fn no_secrets(replacement: Option<&'static str>) -> Guardrail {
    Guardrail::new("no secrets", move |input: &UserMessage, _: &GuardContext| {
        match (input.to_text().contains("secret"), replacement) {
            (false, _) => Verdict::Pass,
            (true, Some(text)) => Verdict::Replace(text.into()),
            (true, None) => Verdict::Block("No secrets.".to_owned()),
        }
    })
}

#[tokio::test]
async fn an_input_that_a_parallel_agent_has_replaced_stays_replaced() {
    const REMOVED: &str = "(This message was removed.)";
    type Case = (&'static [Option<&'static str>], &'static str);
    let cases: [Case; 5] = [
        (&[Some("clean")], "clean"),
        (&[None], REMOVED),
        (&[Some("clean"), Some("clean")], "clean"),
        (&[Some("clean"), Some("other")], REMOVED),
        (&[Some("clean"), None], REMOVED),
    ];
    for (guards, expected) in cases {
        for is_nested in [false, true] {
            let guarded = guards.iter().enumerate().map(|(index, replacement)| {
                let model = ScriptedModel::new().text("Done.");
                let agent = Agent::builder(model).name(format!("agent {index}"));
                let agent = agent.guardrail(no_secrets(*replacement)).build().unwrap();
                if is_nested { ParallelAgent::new(format!("group {index}"), [agent]).into() } else { agent }
            });
            let agents = guarded.chain([says("plain", "Hi.")]).collect::<Vec<_>>();
            let team = Agent::from(ParallelAgent::new("team", agents));
            let sessions = Sessions::default();
            team.run("the secret input").on(sessions.user("ada").conversation("1")).await.unwrap();
            let saved = sessions.user("ada").conversation("1").open().await.unwrap();
            assert_eq!(saved.messages()[0].to_text(), expected, "{guards:?} {is_nested}");
            assert!(!history(&saved).contains("secret input"), "{guards:?} {is_nested}: {}", history(&saved));
        }
    }
}

pub(super) fn blocks_secrets() -> Guardrail {
    Guardrail::new("no secrets", |output: &AgentOutput, _: &GuardContext| {
        if output.text.contains("secret") { Verdict::Block("{}".to_owned()) } else { Verdict::Pass }
    })
}

#[tokio::test]
async fn the_reasoning_of_a_blocked_answer_is_not_kept() {
    for is_ended in [false, true] {
        let guard = Guardrail::new("discreet", move |_: &AgentOutput, _: &GuardContext| {
            if is_ended { Verdict::End("no".to_owned()) } else { Verdict::Block("no".to_owned()) }
        });
        let mut said = ModelResponse::text("The secret.");
        said.message.reasoning = "I say: the secret.".to_owned();
        let agent = Agent::builder(ScriptedModel::new().response(said)).guardrail(guard).build().unwrap();
        let mut conversation = Conversation::new("1");
        let mut events = agent.run("go").on(&mut conversation).stream();
        while let Some(event) = events.next().await {
            let shown = format!("{event:?}");
            let is_piece = matches!(event, Ok(RunEvent::Reasoning { .. }));
            assert!(is_piece || !shown.contains("secret."), "{is_ended}: {shown}");
        }
        drop(events);
        let saved = serde_json::to_string(&conversation).unwrap();
        assert!(!saved.contains("secret"), "{is_ended}: {saved}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_escalation_survives_the_check_of_its_answer() {
    let checks = Arc::<AtomicU32>::default();
    let slow = Guardrail::new_async("slow", move |_: AgentOutput, _| {
        let is_first = checks.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            sleep(Duration::from_millis(if is_first { 50 } else { 0 })).await;
            Verdict::Pass
        }
    });
    let end = ClosureTool::new_with_context("end", "Ends.", |_: Nothing, context: ToolContext| {
        context.actions().escalate();
    });
    let model = ScriptedModel::new().call("end", "{}").text("One.").text("Two.").text("Three.");
    let tools = ToolRegistry::from_tools([end.unwrap()]).unwrap();
    let agent = Agent::builder(model.clone()).name("one").tools(tools).guardrail(slow).build().unwrap();
    let team = Agent::from(LoopAgent::new("team", [agent]));
    let mut conversation = Conversation::new("1");
    assert!(timeout(Duration::from_millis(10), team.run("go").on(&mut conversation)).await.is_err());
    let mut conversation = reloaded(&conversation);
    assert_eq!(team.resume(&mut conversation).await.unwrap().text, "One.");
    assert_eq!(model.remaining(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_event_of_the_model_comes_before_the_check_of_the_input() {
    let slow = Guardrail::new_async("slow", |_: UserMessage, _| async {
        sleep(Duration::from_secs(1)).await;
        Verdict::Block("No.".to_owned())
    });
    let id: toolkit_core::CallId = "c".into();
    let deltas = [
        StreamEvent::call_started(id.clone(), "pay"),
        StreamEvent::arguments(id, r#"{"to": "x"}"#),
        StreamEvent::Call(ToolCall::new("c", "pay", r#"{"to": "x"}"#)),
        StreamEvent::Done(Box::new(ModelResponse::calls([ToolCall::new("c", "pay", r#"{"to": "x"}"#)]))),
    ];
    let model = ScriptedModel::new().deltas(deltas.into_iter().map(Ok));
    let agent = Agent::builder(model).tools(pay(&Arc::default())).guardrail(slow.beside_model());
    let agent = agent.build().unwrap();
    let mut events = agent.run("go").stream();
    let mut kinds = Vec::new();
    let mut text = String::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        if let RunEvent::Text { text: piece, .. } = &event {
            text.push_str(piece);
        }
        kinds.push(crate::support::kind(&event));
    }
    // The answer in place of the input is emitted like any other.
    assert_eq!(text, "No.");
    assert_eq!(kinds.iter().filter(|kind| *kind == "message").count(), 1, "{kinds:?}");
    assert!(!kinds.iter().any(|kind| kind.starts_with("call")), "{kinds:?}");
}

#[tokio::test]
async fn feedback_to_an_invalid_answer_is_no_input() {
    let checked = Arc::<AtomicU32>::default();
    let count = checked.clone();
    let guard = Guardrail::new("count", move |_: &UserMessage, _: &GuardContext| {
        count.fetch_add(1, Ordering::Relaxed);
        Verdict::<UserMessage>::Pass
    });
    let model = ScriptedModel::new().text("red").text(r#"{"name": "red"}"#);
    let agent = Agent::builder(model).guardrail(guard).name("one").build().unwrap();
    let team = Agent::from(ParallelAgent::new("team", [agent]));
    assert_eq!(team.run("Which?").typed::<Colour>().await.unwrap().value.name, "red");
    assert_eq!(checked.load(Ordering::Relaxed), 1);
}

fn no_bad_answers() -> Guardrail {
    Guardrail::new("no bad answers", |output: &AgentOutput, _: &GuardContext| {
        if output.text.is_empty() || output.text.contains("secret") {
            Verdict::Block("No.".to_owned())
        } else {
            Verdict::Pass
        }
    })
}

#[tokio::test]
async fn other_pieces_do_not_release_the_text_before_its_check() {
    let deltas = [
        StreamEvent::Text("the secret ".to_owned()),
        StreamEvent::Reasoning("Hm.".to_owned()),
        StreamEvent::Text("text".to_owned()),
        StreamEvent::Done(Box::new(ModelResponse::text("the secret text"))),
    ];
    let agent = Agent::builder(ScriptedModel::new().deltas(deltas.map(Ok))).guardrail(no_bad_answers());
    let events = serde_json::to_string(&events(&agent.build().unwrap()).await).unwrap();
    assert!(!events.contains("secret"), "{events}");
}

#[tokio::test]
async fn no_piece_of_a_response_comes_before_its_check() {
    let hosted = |secret: &str| {
        let json = serde_json::json!({"id": "h", "name": "web_search", "arguments": {"query": secret}});
        serde_json::from_value::<toolkit_llm::hosted::HostedCall>(json).unwrap()
    };
    for place in 0..5 {
        let said = |index: usize| if index == place { "hidden" } else { "public" };
        let call = ToolCall::new("c", "pay", format!(r#"{{"to": "{}"}}"#, said(0)));
        let mut response = ModelResponse::calls([call.clone()]);
        (response.message.text, response.message.reasoning) = (said(1).to_owned(), said(2).to_owned());
        response.hosted = vec![hosted(said(3))];
        let deltas = [
            StreamEvent::Reasoning(said(2).to_owned()),
            StreamEvent::Hosted(hosted(said(3))),
            StreamEvent::Text(said(1).to_owned()),
            StreamEvent::call_started("c", "pay"),
            StreamEvent::arguments("c", call.arguments.as_str()),
            StreamEvent::Call(call),
            StreamEvent::Done(Box::new(response)),
        ];
        for streaming in [true, false] {
            let guard = Guardrail::new("no hidden", |response: &ModelResponse, _: &GuardContext| {
                match format!("{response:?}").contains("hidden") {
                    true => Verdict::Block("No.".to_owned()),
                    false => Verdict::Pass,
                }
            });
            let model = ScriptedModel::new().deltas(deltas.clone().map(Ok)).text("Paid.");
            let agent =
                Agent::builder(model).tools(pay(&Arc::default())).streaming(streaming).guardrail(guard);
            let mut events = agent.build().unwrap().run("go").stream();
            let mut kinds = Vec::new();
            while let Some(event) = events.next().await {
                let event = event.unwrap();
                let shown = format!("{event:?}").replace("no hidden", "");
                assert!(!shown.contains("hidden"), "{place} {streaming}: {shown}");
                kinds.push(crate::support::kind(&event));
            }
            let count = |piece: &str| kinds.iter().filter(|kind| kind.starts_with(piece)).count();
            let passed = usize::from(place == 4);
            // The text of the last answer, or of its replacement.
            assert_eq!(
                ["reasoning", "hosted_call", "text", "call_"].map(count),
                [passed, passed, passed + 1, 0],
                "{kinds:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_blocked_empty_answer_changes_no_earlier_message() {
    let model = ScriptedModel::new().call("pay", r#"{"to": "Ada"}"#).text("");
    let agent =
        Agent::builder(model).tools(pay(&Arc::default())).guardrail(no_bad_answers()).build().unwrap();
    let mut conversation = Conversation::new("1");
    let output = agent.run("go").on(&mut conversation).await.unwrap();
    assert_eq!(output.text, "No.");
    let texts: Vec<String> = conversation.messages().iter().map(Message::to_text).collect();
    assert_eq!(texts.last().map(String::as_str), Some("No."), "{texts:?}");
    assert!(texts[2].contains("receipt for Ada"), "{texts:?}");
}
