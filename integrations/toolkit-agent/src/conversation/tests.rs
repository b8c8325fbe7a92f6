//! Tests of conversations: turns, limits on length, and the fold of their log.

mod logs;

use super::log::Header;
use super::*;
use crate::helpers::lock;
use crate::output::AgentOutput;
use crate::pending::Decision;
use crate::status::EndReason;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolkit_core::{ToolCall, ToolError, ToolResult};
use toolkit_llm::FinishReason;
use toolkit_llm::{AssistantMessage, NativeMessages};

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "add", "{}")
}

/// Returns the entries of a save, each as a save of its own.
fn saves_of(json: &[u8]) -> Vec<String> {
    let mut saves = Vec::new();
    let mut header = None;
    for element in serde_json::Deserializer::from_slice(json).into_iter::<Value>() {
        let element = element.unwrap();
        if element.get("n").is_some() {
            header = Some(serde_json::from_value::<Header>(element).unwrap());
            continue;
        }
        let header = header.as_mut().expect("a header before each entry");
        saves.push(format!("{} {element}", serde_json::to_string(header).unwrap()));
        header.n += 1;
    }
    saves
}

#[test]
fn settling_answers_every_call_of_an_unfinished_turn() {
    let mut conversation = Conversation::new("1");
    conversation.push(Message::user("hi"));
    conversation.begin_turn("root", false);
    ["a", "b", "a", "c"].into_iter().for_each(|id| conversation.push_call(call(id), false));
    conversation.start_calls(vec![0, 1, 2]);
    for result in [
        ToolResult::of(&call("a"), Ok("third".into())).with_position(2),
        ToolResult::of(&call("a"), Ok("first".into())),
    ] {
        conversation.add_result(result);
    }
    let saved = serde_json::to_string(&conversation).unwrap();
    for mut conversation in [conversation, serde_json::from_str(&saved).unwrap()] {
        conversation.settle();
        let [_, Message::Assistant(message), Message::Tool(given)] = conversation.messages() else {
            panic!("{:?}", conversation.messages())
        };
        assert_eq!((message.agent.as_str(), message.calls.len()), ("root", 4));
        let texts: Vec<_> = given.results.iter().map(ToolResult::to_text).collect();
        let unknown = "Tool `add` was started, but the program stopped before it had a result. It may have run; find out \
            before calling it again";
        let not_started = "Tool `add` was not run: the run stopped before the call began";
        assert_eq!(texts, ["first", unknown, "third", not_started]);
    }
}

/// A process may die between the decision and the start of a call.
#[test]
fn a_decided_call_has_not_run_before_it_is_started_again() {
    let reason = ToolError::needs_approval("pay", "it costs money").pending().unwrap().clone();
    let mut turn = State::default();
    turn.apply(Entry::TurnBegan { agent: Some("root".to_owned()), checks_answers: false }, 0);
    turn.apply(Entry::Call(Box::new(Arrived { call: Some(call("a")), ..Arrived::default() })), 0);
    let steps = [
        (Entry::Started(vec![0]), true),
        (Entry::Pending { call: 0, reason }, false),
        (Entry::Decided { call: 0, decision: Some(Decision::Approve), by: String::new() }, false),
        (Entry::Started(vec![0]), true),
    ];
    for (entry, may_have_run) in steps {
        let shown = format!("{entry:?}");
        turn.apply(entry, 0);
        let saved: State = serde_json::from_str(&serde_json::to_string(&turn).unwrap()).unwrap();
        for turn in [&turn, &saved] {
            assert_eq!(turn.turn.as_ref().unwrap().may_have_run(0), may_have_run, "{shown}");
        }
    }
}

#[test]
fn the_latest_messages_begin_with_a_user_message() {
    let conversation = || {
        let mut conversation = Conversation::new("1");
        for text in ["1", "2"] {
            conversation.push(Message::user(text));
            conversation.begin_turn("", false);
            conversation.push_call(call(text), false);
            conversation.stop_turn(false);
            conversation.push(Message::assistant("done"));
        }
        conversation
    };
    for (max, left) in [(0, 4), (1, 4), (4, 4), (7, 4), (8, 8), (100, 8)] {
        let mut conversation = conversation();
        conversation.keep_latest(max);
        assert_eq!(conversation.messages().len(), left, "{max}");
    }
}

#[test]
fn session_values_are_saved() {
    let conversation = Conversation::new("1");
    conversation.session().apply(&[("theme".to_owned(), Some("dark".into()))].into());
    let saved = serde_json::to_value(&conversation).unwrap();
    let restored: Conversation = serde_json::from_value(saved).unwrap();
    assert_eq!(restored.session().get("theme"), Some("dark".into()));
}

/// Further parts of a message's native form.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Further {
    Part,
    Empty,
    Message,
    /// A message that does not continue the last one.
    Field,
    /// A change that parts cannot express.
    Format,
    Response,
}

#[derive(Debug, Clone)]
enum Change {
    Message,
    Input,
    Block(usize),
    Keep(usize),
    Run,
    Resume,
    Stop(Stop),
    Abandon,
    Enter(u8),
    Leave,
    BeginTurn(bool),
    Text(u8),
    Call,
    Native(Further),
    EndMessage(bool),
    Result(usize),
    Pending(usize),
    Decide(usize),
    EndTurn(TurnVerdict),
    StopTurn(bool),
    /// A change of a parallel agent.
    Branch(usize, Box<Self>),
}

fn change() -> impl Strategy<Value = Change> {
    let natives =
        [Further::Part, Further::Message, Further::Field, Further::Empty, Further::Format, Further::Response];
    let verdicts = [
        TurnVerdict::Unchanged,
        TurnVerdict::Accepted,
        TurnVerdict::Replaced("no".to_owned()),
        TurnVerdict::Withheld,
    ];
    let stops = [
        EndReason::Waiting.into(),
        EndReason::Cancelled.into(),
        EndReason::Dropped.into(),
        Stop { reason: EndReason::Cancelled, keeps_turn: true },
    ];
    let leaf = prop_oneof![
        2 => Just(Change::Message),
        1 => Just(Change::Input),
        1 => (0..4_usize).prop_map(Change::Block),
        1 => (0..6_usize).prop_map(Change::Keep),
        2 => Just(Change::Run),
        1 => Just(Change::Resume),
        1 => select(stops.to_vec()).prop_map(Change::Stop),
        1 => Just(Change::Abandon),
        3 => (0..3_u8).prop_map(Change::Enter),
        2 => Just(Change::Leave),
        4 => any::<bool>().prop_map(Change::BeginTurn),
        4 => (0..3_u8).prop_map(Change::Text),
        4 => Just(Change::Call),
        4 => select(natives.to_vec()).prop_map(Change::Native),
        4 => any::<bool>().prop_map(Change::EndMessage),
        2 => (0..4_usize).prop_map(Change::Result),
        1 => (0..4_usize).prop_map(Change::Pending),
        1 => (0..4_usize).prop_map(Change::Decide),
        3 => select(verdicts.to_vec()).prop_map(Change::EndTurn),
        1 => any::<bool>().prop_map(Change::StopTurn),
    ];
    leaf.prop_recursive(2, 4, 1, |inner| {
        (0..2_usize, inner).prop_map(|(index, inner)| Change::Branch(index, Box::new(inner)))
    })
}

fn apply(conversation: &mut Conversation, change: &Change) {
    let result = |outcome| ToolResult::of(&call("a"), outcome);
    let calls = conversation.turn_message().map_or(0, |message| message.calls.len());
    match change {
        Change::Message => conversation.push(Message::assistant("Hm.")),
        Change::Input => conversation.push(Message::user("And?")),
        Change::Block(index) => conversation.block_input(*index),
        Change::Keep(max) => conversation.keep_latest(*max),
        Change::Run => conversation.begin_run("Hi.".into(), false, &InputId::default()),
        Change::Resume => drop(conversation.continue_run()),
        Change::Stop(stop) => conversation.stop_run(stop.clone()),
        Change::Abandon => conversation.abandon(),
        Change::Enter(agent) => {
            let _ = conversation.enter(&agent.to_string(), vec!["x".to_owned(), "y".to_owned()]);
        }
        Change::Leave => {
            let depth = conversation.depth().saturating_sub(1);
            conversation.agent_ended(depth, &AgentOutput::new("a", "Hm."));
        }
        Change::BeginTurn(checks) => conversation.begin_turn("root", *checks),
        Change::Text(piece) if conversation.turn().is_some() => {
            conversation.push_text(["a", "ü\n", ""][usize::from(*piece)]);
            conversation.push_reasoning(["b", "€", ""][usize::from(*piece)]);
        }
        Change::Call if conversation.turn().is_some() => {
            conversation.push_call(call("a"), calls == 2);
            conversation.start_calls(vec![calls]);
        }
        Change::Native(kind) if conversation.turn().is_some() => {
            let message = match kind {
                Further::Empty => json!({"content": []}),
                Further::Part | Further::Format | Further::Response => json!({"content": [calls]}),
                Further::Field => json!({"content": [calls], "field": true}),
                Further::Message => json!({"type": "call", "number": calls}),
            };
            let format = if *kind == Further::Format { "other" } else { "own" };
            let mut native = NativeMessages::new(format, vec![message]);
            native.response_id = (*kind == Further::Response).then(|| calls.to_string());
            conversation.push_native(native);
        }
        Change::EndMessage(is_continued) => {
            let known = conversation.turn_message().cloned().unwrap_or_default();
            let message = if *is_continued {
                let mut message = known;
                message.text.push_str(" More.");
                message
            } else {
                AssistantMessage::text("Other.").by(known.agent.as_str()).with_calls(known.calls)
            };
            conversation.end_message(message.clone(), FinishReason::Stop, false);
            assert_eq!(conversation.turn_message(), Some(&message));
        }
        Change::Result(position) => {
            let known = conversation.turn().is_some_and(|turn| !turn.unanswered().contains(position));
            if !known {
                conversation.add_result(result(Ok("ok".into())).with_position(*position));
            }
        }
        Change::Pending(position) => {
            conversation.add_result(result(Err(ToolError::deferred("add"))).with_position(*position));
        }
        Change::Decide(position) => conversation.decide(*position, None, ""),
        Change::EndTurn(verdict) => conversation.end_turn(verdict.clone()),
        Change::StopTurn(is_kept) => conversation.stop_turn(*is_kept),
        Change::Branch(index, change) => {
            if !conversation.has_branch(*index) {
                conversation.begin_branch(*index);
            }
            let mut branch = conversation.branch(*index);
            apply(&mut branch, change);
            conversation.return_branch(*index, branch);
        }
        _ => {}
    }
}

proptest! {
    /// After each change, the state of a live conversation is the fold of its log, and its JSON gives the
    /// same state.
    #[test]
    fn the_state_is_the_fold_of_the_log(changes in prop::collection::vec(change(), 1..40)) {
        let store: Arc<dyn Any + Send + Sync> = Arc::new(());
        let mut conversation = Conversation::new("1");
        conversation.push(Message::user("Before."));
        let log = conversation.log_in(&Arc::downgrade(&store));
        for change in changes {
            apply(&mut conversation, &change);
            let save = String::from_utf8(lock(&log.position).unsaved.clone()).unwrap();
            let loaded = Conversation::read("1", std::slice::from_ref(&save), Arc::downgrade(&store), 1).unwrap();
            prop_assert_eq!(&loaded.state, &conversation.state, "{}", save);
            let json = serde_json::to_string(&conversation).unwrap();
            let restored: Conversation = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&restored.state, &conversation.state, "{}", json);
        }
    }
}

#[test]
fn native_parts_continue_a_message_with_the_same_fields() {
    let message = |role: &str, content: &[u8]| json!({"role": role, "content": content});
    let own = |messages: &[Value]| NativeMessages::new("own", messages.to_vec());
    let item = json!({"type": "call", "id": "a"});
    let mut conversation = Conversation::new("1");
    conversation.begin_turn("", false);
    for (further, expected) in [
        (vec![message("a", &[1])], vec![message("a", &[1])]),
        (vec![message("a", &[2, 3])], vec![message("a", &[1, 2, 3])]),
        (vec![item.clone()], vec![message("a", &[1, 2, 3]), item.clone()]),
        (vec![item.clone()], vec![message("a", &[1, 2, 3]), item.clone(), item.clone()]),
        (
            vec![message("b", &[]), message("b", &[4])],
            vec![message("a", &[1, 2, 3]), item.clone(), item.clone(), message("b", &[]), message("b", &[4])],
        ),
    ] {
        conversation.push_native(own(&further));
        let native = conversation.arrived_message().and_then(|message| message.native.clone());
        assert_eq!(native, Some(own(&expected)));
    }
}
