//! Tests of the format of logs.

use super::super::VERSION;
use super::*;
use crate::conversation::fork::ForkSource;
use crate::helpers::MAX_NESTING;
use crate::output::Spent;
use crate::pending::Decision;
use std::collections::BTreeMap;

#[test]
fn a_damaged_log_is_refused() {
    let store: Arc<dyn Any + Send + Sync> = Arc::new(());
    let mut conversation = Conversation::new("1");
    let log = conversation.log_in(&Arc::downgrade(&store));
    (0..3).for_each(|_| conversation.push(Message::user("Hi.")));
    let entries = saves_of(&lock(&log.position).unsaved);
    let read = |entries: &[String]| Conversation::read("1", entries, Arc::downgrade(&store), 1).map(drop);
    assert_eq!(read(&entries), Ok(()));
    let mut swapped = entries.clone();
    swapped.swap(1, 2);
    let repeated = [&entries[..2], &entries[1..]].concat();
    let missing = [&entries[..1], &entries[2..]].concat();
    for damaged in [swapped, repeated, missing] {
        let error = read(&damaged).unwrap_err();
        assert!(error.contains("of its log is missing"), "{error}");
    }
    let newer = entries[0].replace("\"version\":1", "\"version\":2");
    let error = read(&[newer]).unwrap_err();
    assert!(error.ends_with("read it with a newer one"), "{error}");
    let later = |entry: &str| vec![entries[0].clone(), entries[1].replace(r#""message""#, entry)];
    let error = read(&later(r#""massage""#)).unwrap_err();
    assert!(error.contains("knows no entry `massage`, which entry 1 is"), "{error}");
    let error = read(&later(r#""stopped":"vanished","message""#)).unwrap_err();
    assert!(error.starts_with("entry 1 is damaged"), "{error}");
    let mut timeless = entries.clone();
    timeless[1] = entries[1].replace(r#""at""#, r#""att""#);
    let error = read(&timeless).unwrap_err();
    assert!(error.starts_with("the header of entry 1 is damaged"), "{error}");
    let again = entries[0].replace(r#""n":0"#, r#""n":4"#).replace(r#""version":1"#, r#""version":7"#);
    let error = read(&[&entries[..], &[again]].concat()).unwrap_err();
    assert!(error.starts_with("entry 4 begins another log"), "{error}");
}

#[test]
fn a_log_of_an_unreleased_format_is_refused() {
    let store: Arc<dyn Any + Send + Sync> = Arc::new(());
    for old in [
        r#"{"messages": [], "progress": {}}"#,
        r#"{"n":0,"at":1795772222973,"entry":{"log":{"version":1}}}"#,
        r#"{"log":{"version":1}}"#,
    ] {
        let error = Conversation::read("1", &[old.to_owned()], Arc::downgrade(&store), 1).unwrap_err();
        let expected =
            "it was saved by an unreleased version of toolkit-agent, whose format is not read; delete it";
        assert_eq!(error, expected, "{old}");
    }
}

/// A header is about all entries of its save after it, and about none of the next save.
#[test]
fn each_save_begins_with_a_header() {
    let store: Arc<dyn Any + Send + Sync> = Arc::new(());
    let mut conversation = Conversation::new("1");
    let log = conversation.log_in(&Arc::downgrade(&store));
    let mut saves = Vec::new();
    for _ in 0..2 {
        (0..2).for_each(|_| conversation.push(Message::user("Hi.")));
        let mut called = Conversation::called(conversation.log(), &conversation.path_of_call(2), None);
        called.push(Message::user("Help."));
        let unsaved = lock(&log.position).take(BTreeMap::new(), Spent::default()).unwrap();
        saves.push((unsaved.first, unsaved.entries));
    }
    let numbers = |save: &str| -> Vec<(u64, bool)> {
        let elements = serde_json::Deserializer::from_str(save).into_iter::<Value>().map(Result::unwrap);
        let headers = elements.filter(|element| element.get("n").is_some());
        headers.map(|header| (header["n"].as_u64().unwrap(), header.get("node").is_some())).collect()
    };
    for ((first, save), (begin, nested)) in saves.iter().zip([(0, 3), (4, 6)]) {
        let numbers = numbers(save);
        // A new second has a header of its own.
        assert_eq!(
            (*first, numbers.first(), numbers.last()),
            (begin, Some(&(begin, false)), Some(&(nested, true)))
        );
    }
    let entries: Vec<String> = saves.into_iter().map(|(_, save)| save).collect();
    assert!(Conversation::read("1", &entries, Arc::downgrade(&store), 1).is_ok());
    let (_, headless) = entries[1].split_once(' ').unwrap();
    let headless = [entries[0].clone(), headless.to_owned()];
    assert!(Conversation::read("1", &headless, Arc::downgrade(&store), 1).is_err());
}

/// The entries around one that cannot be written are unchanged, and nothing is saved any more.
#[test]
fn an_entry_that_is_nested_too_deeply_leaves_no_trace() {
    let deep = |levels: usize| (0..levels).fold(Value::Null, |inner, _| json!([inner]));
    let store: Arc<dyn Any + Send + Sync> = Arc::new(());
    let mut conversation = Conversation::new("1");
    let log = conversation.log_in(&Arc::downgrade(&store));
    let native = |value| {
        let mut message = AssistantMessage::text("hi");
        message.native = Some(NativeMessages::new("anthropic", vec![value]));
        message
    };
    // The entry, the message and its native part are levels, too.
    let deepest = (1..MAX_NESTING)
        .rev()
        .find(|levels| {
            let mut position = lock(&log.position).clone();
            let message = Entry::Message(Box::new(native(deep(*levels)).into()));
            position.push("", &message, 0);
            position.take(BTreeMap::new(), Spent::default()).is_ok()
        })
        .unwrap();
    conversation.push(native(deep(deepest)));
    conversation.push(Message::user("Hi."));
    let entries = saves_of(&lock(&log.position).unsaved);
    assert_eq!(entries.len(), 3);
    let read = Conversation::read("1", &entries, Arc::downgrade(&store), 1).unwrap();
    assert_eq!(read.messages(), conversation.messages());
    conversation.push(native(deep(deepest + 1)));
    conversation.push(Message::user("Hello?"));
    assert_eq!(saves_of(&lock(&log.position).unsaved)[..3], entries);
    let error = lock(&log.position).take(BTreeMap::new(), Spent::default()).unwrap_err();
    assert!(error.starts_with(&format!("is nested {} levels deep", MAX_NESTING + 1)), "{error}");
}

/// A conversation with everything that a log can contain.
fn eventful() -> (Conversation, String) {
    let store: Arc<dyn Any + Send + Sync> = Arc::new(());
    let mut conversation = Conversation::new("1");
    conversation.push(Message::user("Before the log."));
    let [user, id, log] = ["ada", "0", "2b1f60c9a7d3e845"];
    let source = ForkSource { user: user.to_owned(), id: id.to_owned(), log: log.into(), entry: 9 };
    conversation.state.origin.sources.push(source);
    let log = conversation.log_in(&Arc::downgrade(&store));
    let of = |id: &str, outcome| ToolResult::of(&call(id), outcome);
    let native =
        |part: u32| NativeMessages::new("anthropic", vec![json!({"role": "assistant", "content": [part]})]);
    conversation.push(Message::user("Hello?"));
    conversation.keep_latest(1);
    conversation.push(Message::assistant("Hello."));
    let id = InputId { run: "add".into(), message: "m1".to_owned() };
    conversation.begin_run("Add, please.".into(), false, &id);
    conversation.record(Entry::Titled("Sums".to_owned()));
    conversation.replace_input(2, "Add.".into());
    conversation.enter("lead", Vec::new()).unwrap();
    conversation.begin_turn("lead", false);
    conversation.push_text("I fail.");
    conversation.discard_turn();
    conversation.begin_turn("lead", false);
    conversation.push_text("I add.");
    conversation.push_native(native(1));
    ["a", "b", "b"].into_iter().for_each(|id| conversation.push_call(call(id), false));
    conversation.start_calls(vec![0, 1]);
    let mut message = conversation.arrived_message().cloned().unwrap_or_default();
    message.text.push_str(" And more.");
    conversation.end_message(message, FinishReason::ToolCalls, false);
    let mut sum = of("a", Ok("3".into()));
    sum.actions.state_delta = [("sum".to_owned(), Some(3.into()))].into();
    conversation.add_result(sum);
    conversation.add_result(of("b", Err(ToolError::question("Which?"))).with_position(1));
    let mut called = Conversation::called(conversation.log(), &conversation.path_of_call(2), None);
    called.begin_run("Help.".into(), false, &InputId::default());
    called.enter("expert", Vec::new()).unwrap();
    called.stop_run(EndReason::Dropped.into());
    conversation.return_called(2, called.take_state());
    conversation.stop_run(EndReason::Dropped.into());
    assert!(conversation.continue_run().is_continue());
    conversation.enter("lead", Vec::new()).unwrap();
    conversation.check_answers();
    conversation.apply_state_changes();
    conversation.decide(1, Some(Decision::Approve), "ada");
    conversation.add_result(of("b", Ok("blue".into())).with_position(1));
    conversation.add_result(of("b", Ok("helped".into())).with_position(2));
    conversation.end_turn(TurnVerdict::Unchanged);
    let compacted = Compacted {
        start: 1,
        left_out: 1,
        made_at: 4,
        summary: "They add.".to_owned(),
        ..Compacted::default()
    };
    conversation.set_compacted("lead", compacted);
    conversation.record(Entry::Transferred("team".to_owned()));
    conversation.enter("team", vec!["x".to_owned(), "y".to_owned()]).unwrap();
    for index in 0..2 {
        conversation.begin_branch(index);
        let mut branch = conversation.branch(index);
        branch.push(Message::assistant("From a branch."));
        conversation.return_branch(index, branch);
    }
    conversation.branch_failed(0, "no model".to_owned());
    conversation.branch_failed(1, "no key".to_owned());
    conversation.branches_failed();
    conversation.begin_turn("lead", true);
    let mut message = AssistantMessage::text("Wait").by("lead");
    message.paused = true;
    conversation.end_message(message, FinishReason::Stop, false);
    conversation.end_turn(TurnVerdict::Unchanged);
    conversation.remove_paused_of_others("other");
    conversation.begin_turn("lead", true);
    conversation.end_message(AssistantMessage::text("[]").by("lead"), FinishReason::Stop, false);
    conversation.end_turn(TurnVerdict::Withheld);
    conversation.set_invalid_answers(1, true);
    conversation.begin_turn("lead", true);
    conversation.end_message(
        AssistantMessage::text("An account number.").by("lead"),
        FinishReason::Stop,
        false,
    );
    conversation.answer_turn(TurnVerdict::Replaced("No.".to_owned()), &AgentOutput::new("lead", "No."));
    conversation.agent_ended(0, &AgentOutput::new("lead", "No."));
    conversation.end_run();
    conversation.begin_run("Once more.".into(), false, &InputId::default());
    conversation.record(Entry::Steered {
        input: "Hurry.".into(),
        run: "hurry".into(),
        message: "m2".to_owned(),
    });
    conversation.begin_turn("lead", false);
    conversation.push_text("I am");
    conversation.stop_turn(false);
    conversation.begin_turn("lead", false);
    conversation.push_call(call("d"), false);
    conversation.settle();
    conversation.abandon();
    let left = InputId { run: "left".into(), message: "m9".to_owned() };
    conversation.begin_run("Left out.".into(), false, &left);
    conversation.record(Entry::Rewound { run: left.run, calls: Vec::new() });
    conversation.begin_run("A secret.".into(), false, &InputId::default());
    conversation.block_input(conversation.messages().len() - 1);
    let values = [("colour".to_owned(), json!("blue"))].into();
    let spent = Spent { cost: 0.5, model_calls: 7, tool_calls: 3, ..Spent::default() };
    conversation.set_spent(spent);
    let unsaved = lock(&log.position).take(values, spent).unwrap();
    (conversation, unsaved.entries)
}

fn kept(name: &str) -> String {
    format!("{}/tests/data/logs/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Writes the kept log of a new version of the format.
#[test]
#[ignore = "only for a new version of the format"]
fn write_a_kept_log() {
    let (conversation, save) = eventful();
    // A save for each header.
    let saves = save.replace(r#" {"n":"#, "\n{\"n\":") + "\n";
    std::fs::write(kept(&format!("{VERSION}.log")), saves).unwrap();
    let state = serde_json::to_string_pretty(&conversation.state).unwrap();
    std::fs::write(kept(&format!("{VERSION}.json")), state + "\n").unwrap();
}

/// Each version of the format that was ever written gives the same conversation as then.
#[test]
fn kept_logs_are_read() {
    for version in 1..=VERSION {
        let log = std::fs::read_to_string(kept(&format!("{version}.log"))).unwrap();
        let entries: Vec<String> = log.lines().map(str::to_owned).collect();
        let store: Arc<dyn Any + Send + Sync> = Arc::new(());
        let loaded = Conversation::read("1", &entries, Arc::downgrade(&store), 1).unwrap();
        let json = std::fs::read_to_string(kept(&format!("{version}.json"))).unwrap();
        assert_eq!(loaded.state, serde_json::from_str(&json).unwrap());
        assert_eq!(loaded.session().get("colour"), Some("blue".into()));
    }
}

/// The kept log and the format's documentation have every kind of entry.
#[test]
fn every_entry_is_kept_and_documented() {
    let log = std::fs::read_to_string(kept(&format!("{VERSION}.log"))).unwrap();
    let kinds: std::collections::BTreeSet<String> = serde_json::Deserializer::from_str(&log)
        .into_iter::<Value>()
        .map(Result::unwrap)
        .filter(|element| element.get("n").is_none())
        .map(|entry| match entry {
            Value::String(kind) => kind,
            entry => entry.as_object().unwrap().keys().next().unwrap().clone(),
        })
        .collect();
    let page = include_str!("../../../docs/log.md");
    let table = page.split("## What happens in a run").nth(1).unwrap().split("\n\n").nth(1).unwrap();
    let names = table.lines().skip(2).map(|row| row.split('|').nth(1).unwrap());
    let documented = names.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    assert_eq!(kinds, documented);
}
