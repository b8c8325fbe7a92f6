//! `chat` with a model that calls every tool once.

use crate::weather;
use serde_json::Value;
use std::fs;

#[test]
fn a_call_that_needs_approval_waits_for_a_user() {
    let ran = weather("chat").arg("Try everything.").run();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains(r#"weather-forecast: {"city":"text""#), "{ran:?}");
    assert!(ran.err.contains("the run waits for a user: alarm; run it in a terminal"), "{ran:?}");
}

#[test]
fn events_are_lines_of_json() {
    let ran = weather("chat --format json hello").run();
    let mut kinds = Vec::new();
    for line in ran.out.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        kinds.push(event["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.first().map(String::as_str), Some("agent_started"));
    assert_eq!(kinds.last().map(String::as_str), Some("waiting"));
}

#[test]
fn the_history_is_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.json");
    weather("chat --history").arg(&path).arg("one").run();
    let before = fs::read_to_string(&path).unwrap();
    // New input ends the calls that wait; the model answers their results.
    let ran = weather("chat --history").arg(&path).arg("two").run();
    assert!(fs::read_to_string(&path).unwrap().len() > before.len(), "{ran:?}");
    fs::write(&path, "no conversation").unwrap();
    let refused = weather("chat --history").arg(&path).arg("three").run();
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("holds no conversation"), "{refused:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "no conversation");
}

#[test]
fn lines_of_the_input_are_messages_and_commands() {
    let ran = weather("chat").run_with("/tools\n/help\n/exit\nnot sent\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("4 tools"), "{ran:?}");
    assert!(ran.err.contains("/new"), "{ran:?}");
}
