//! The events of what happens to a call inside of its dispatcher: waits, rules, normal forms.

use serde_json::json;
use std::time::Duration;
use toolkit_ai::events::{RuleDecision, RuleEffect, ToolEvent, ToolEventKind, ToolEvents, WaitResource};
use toolkit_ai::middleware::{Approval, PermissionRule, Permissions};
use toolkit_ai::prelude::*;

/// Writes a file.
#[tool(namespace = "inside", lane = "path", idempotent, retries = 1)]
async fn write(path: String, #[param(default = 1)] lines: u32) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(5)).await;
    if lines == 0 { Err(format!("nothing to write to {path}")) } else { Ok(()) }
}

/// Runs alone.
#[tool(namespace = "inside", exclusive)]
async fn alone() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Runs twice at once.
#[tool(namespace = "inside", max_concurrency = 2)]
async fn pair() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(ToolRegistry::from_tools(tools![write, alone, pair]).unwrap()).unwrap()
}

fn call(id: usize, tool: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id.to_string(), format!("inside-{tool}"), arguments)
}

async fn drain(events: &mut ToolEvents) -> Vec<ToolEvent> {
    let mut emitted = Vec::new();
    while let Ok(event) = tokio::time::timeout(Duration::from_millis(1), events.next()).await {
        emitted.push(event.unwrap().unwrap());
    }
    emitted
}

/// Returns the waits of all calls as JSON, and checks that each wait has an end with a duration.
async fn waits(dispatcher: Dispatcher, calls: impl IntoIterator<Item = ToolCall>) -> Vec<String> {
    let mut events = dispatcher.events();
    dispatcher.dispatch(calls).await;
    let mut begun = Vec::new();
    let mut ended = Vec::new();
    for event in drain(&mut events).await {
        let id = event.call.call_id.to_string();
        match &event.kind {
            ToolEventKind::Waiting { resource, .. } => begun.push(format!("{id} {}", json!(resource))),
            ToolEventKind::Admitted { resource, waited, .. } => {
                assert!(*waited >= Duration::from_millis(1), "{waited:?}");
                ended.push(format!("{id} {}", json!(resource)));
            }
            _ => {}
        }
    }
    begun.sort();
    ended.sort();
    assert_eq!(begun, ended);
    begun
}

#[tokio::test]
async fn a_call_tells_what_it_waits_for() {
    let arguments = [r#"{"path": "a"}"#, r#"{"path": "b"}"#, r#"{"path": "a"}"#];
    let writes = || (1..).zip(arguments).map(|(id, arguments)| call(id, "write", arguments));
    assert_eq!(waits(dispatcher(), writes()).await, [r#"3 {"resource":"lane","parameter":"path"}"#]);
    assert_eq!(
        waits(dispatcher().with_event_contents(true), writes()).await,
        [r#"3 {"resource":"lane","parameter":"path","value":"a"}"#]
    );
    let alone = (1..=2).map(|id| call(id, "alone", "{}"));
    assert_eq!(waits(dispatcher(), alone).await, [r#"2 {"resource":"exclusive"}"#]);
    let pairs = || (1..=3).map(|id| call(id, "pair", "{}"));
    assert_eq!(waits(dispatcher(), pairs()).await, [r#"3 {"resource":"tool","limit":2}"#]);
    assert_eq!(
        waits(dispatcher().with_max_concurrency(1), pairs().take(2)).await,
        [r#"2 {"resource":"dispatcher","limit":1}"#]
    );
}

#[tokio::test]
async fn calls_of_two_batches_wait_for_the_lane_of_both() {
    let dispatcher = dispatcher();
    let mut events = dispatcher.events();
    let write = |id| dispatcher.dispatch([call(id, "write", r#"{"path": "a"}"#)]);
    tokio::join!(write(1), write(2));
    let mut names = Vec::new();
    for event in drain(&mut events).await {
        if event.call.call_id == "2" {
            names.push(event.name());
        }
    }
    assert_eq!(names, ["tool.call", "tool.waiting", "tool.admitted", "tool.start", "tool.result"]);
}

#[tokio::test]
async fn each_attempt_has_the_normal_form_of_the_arguments() {
    for (contents, expected) in [
        (true, [Some(r#"{"path":"a","lines":0}"#), Some(r#"{"path":"a","lines":0}"#)]),
        (false, [None, None]),
    ] {
        let dispatcher = dispatcher().with_event_contents(contents);
        let mut events = dispatcher.events();
        dispatcher.dispatch([call(1, "write", r#"{"lines": "0", "path": "a"}"#)]).await;
        let mut attempts = Vec::new();
        for event in drain(&mut events).await {
            if let ToolEventKind::Started { normal_arguments, .. } = event.kind {
                attempts.push(normal_arguments.map(|text| {
                    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
                    json!({"path": read["path"], "lines": read["lines"]}).to_string()
                }));
            }
        }
        let attempts: Vec<Option<&str>> = attempts.iter().map(Option::as_deref).collect();
        assert_eq!(attempts, expected);
    }
}

#[tokio::test]
async fn the_deciding_rule_is_named() {
    let permissions = Permissions::new()
        .rule(PermissionRule::allow().for_tool("inside-alone").unwrap())
        .rule(
            PermissionRule::deny("only files here")
                .for_tool("inside-write")
                .unwrap()
                .when(|_, arguments| arguments["path"] == "/"),
        )
        .rule(PermissionRule::ask("it writes").for_tool("inside-write").unwrap())
        .with_handler(|_| async { Approval::Change(json!({"path": "/"})) });
    let mut decisions = Vec::new();
    for contents in [false, true] {
        let dispatcher = dispatcher().with_event_contents(contents).with_middleware(permissions.clone());
        let mut events = dispatcher.events();
        for (tool, arguments) in [("alone", "{}"), ("write", r#"{"path": "a"}"#), ("pair", "{}")] {
            dispatcher.dispatch([call(1, tool, arguments)]).await;
        }
        for event in drain(&mut events).await {
            let ToolEventKind::RuleDecided(RuleDecision {
                effect,
                rule,
                description,
                reason,
                normal_arguments,
                ..
            }) = event.kind
            else {
                continue;
            };
            decisions.push((effect, rule, description, reason, normal_arguments.is_some()));
        }
    }
    let text = |text: &str| text.to_owned();
    let asks = text("rule `ask` for the tool `inside-write`");
    let denies = text("rule `deny` for the tool `inside-write` with a condition on the arguments");
    let expected = |contents| {
        [
            (RuleEffect::Allow, Some(0), text("rule `allow` for the tool `inside-alone`"), None, false),
            (RuleEffect::Ask, Some(2), asks.clone(), Some(text("it writes")), contents),
            // The approver has changed the arguments, and the rules judge them again.
            (RuleEffect::Deny, Some(1), denies.clone(), Some(text("only files here")), contents),
            (RuleEffect::Deny, None, text("no rule applies"), Some(text("no rule allows it")), false),
        ]
    };
    assert_eq!(decisions, [expected(false), expected(true)].concat());
}

#[test]
fn a_wait_is_read_as_it_was_written() {
    let text = r#"{"type":"tool.admitted","timestamp_ms":1,"batch":0,"position":0,"call_id":"1","tool":"t",
        "arguments_bytes":2,"resource":"lane","parameter":"path","waited_ms":1.5}"#;
    let event: ToolEvent = serde_json::from_str(text).unwrap();
    let ToolEventKind::Admitted { resource, waited, .. } = event.kind else { panic!("{event:?}") };
    assert!(matches!(resource, WaitResource::Lane { parameter, value: None, .. } if parameter == "path"));
    assert_eq!(waited, Duration::from_micros(1_500));
}
