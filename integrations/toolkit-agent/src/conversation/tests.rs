//! Tests of conversations: turns, limits on length, and saves.

use super::progress::Frame;
use super::*;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolkit_core::{ToolCall, ToolError};
use toolkit_llm::NativeMessages;

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "add", "{}")
}

#[test]
fn settling_answers_every_call_of_an_unfinished_turn() {
    let mut conversation = Conversation::new("1");
    conversation.push(Message::user("hi"));
    let turn = conversation.begin_turn("root");
    turn.edit(|message| message.calls = vec![call("a"), call("b"), call("a")]);
    for result in [
        ToolResult::of(&call("a"), Ok("third".into())).with_position(2),
        ToolResult::of(&call("a"), Ok("first".into())),
    ] {
        conversation.add_result(result);
    }
    let saved = serde_json::to_string(&conversation).unwrap();
    for mut conversation in [conversation, serde_json::from_str(&saved).unwrap()] {
        conversation.settle();
        let [_, Message::Assistant(said), Message::Tool(given)] = conversation.messages() else {
            panic!("{:?}", conversation.messages())
        };
        assert_eq!((said.agent.as_str(), said.calls.len()), ("root", 3));
        let texts: Vec<_> = given.results.iter().map(ToolResult::to_text).collect();
        let unknown = "Tool `add` was started, but the program stopped before it had a result. It may have run; find out \
            before calling it again";
        assert_eq!(texts, ["first", unknown, "third"]);
    }
}

#[test]
fn the_latest_messages_begin_with_a_user_message() {
    let conversation = || {
        let mut conversation = Conversation::new("1");
        for text in ["1", "2"] {
            conversation.push(Message::user(text));
            conversation.begin_turn("").push_call(call(text));
            conversation.end_turn(false);
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

/// Further parts of the native form of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Native {
    Part,
    Empty,
    Message,
    /// A message that does not continue the last one.
    Field,
    /// A change that parts cannot express.
    Format,
    Response,
}

/// A change of an unfinished turn, of the place in a team, or of what the log has.
#[derive(Debug, Clone)]
enum Step {
    Text(u8),
    Reasoning(u8),
    Call,
    Native(Native),
    Edit,
    Result(usize),
    Pending(usize),
    Restart(usize),
    Restore,
    End,
    Begin,
    /// The agents that work, each a step of the one before.
    Place(Vec<u8>),
    NoPlace,
    Save,
    /// A save that fails, and whether the log has its entry all the same.
    FailedSave(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Step::Text),
        3 => (0..3_u8).prop_map(Step::Reasoning),
        3 => Just(Step::Call),
        4 => Just(Step::Native(Native::Part)),
        3 => select(&[Native::Message, Native::Field, Native::Empty, Native::Format, Native::Response][..]).prop_map(Step::Native),
        1 => Just(Step::Edit),
        2 => (0..4_usize).prop_map(Step::Result),
        1 => (0..4_usize).prop_map(Step::Pending),
        1 => (0..4_usize).prop_map(Step::Restart),
        1 => Just(Step::Restore),
        1 => Just(Step::End),
        1 => Just(Step::Begin),
        3 => prop::collection::vec(0..2_u8, 0..4).prop_map(Step::Place),
        1 => Just(Step::NoPlace),
        8 => Just(Step::Save),
        1 => any::<bool>().prop_map(Step::FailedSave),
    ]
}

/// Applies a step that is no save.
fn change(conversation: &mut Conversation, step: &Step) {
    let turn = conversation.turn();
    let calls = turn.message().calls.len();
    let result = |outcome| ToolResult::of(&call("a"), outcome);
    match *step {
        Step::Place(ref agents) => {
            let frame = |agent: &u8| Frame { agent: agent.to_string(), step: progress::Step::Escalated };
            conversation.progress.get_or_insert_default().frames = agents.iter().map(frame).collect();
        }
        Step::NoPlace => conversation.progress = None,
        Step::Text(piece) => turn.push_text(["a", "ü\n", ""][usize::from(piece)]),
        Step::Reasoning(piece) => turn.push_reasoning(["b", "€", ""][usize::from(piece)]),
        Step::Call => turn.push_call(call("a")),
        Step::Native(kind) => {
            let message = match kind {
                Native::Empty => json!({"content": []}),
                Native::Part | Native::Format | Native::Response => json!({"content": [calls]}),
                Native::Field => json!({"content": [calls], "field": true}),
                Native::Message => json!({"type": "call", "number": calls}),
            };
            let format = if kind == Native::Format { "other" } else { "own" };
            let mut native = NativeMessages::new(format, vec![message]);
            native.response_id = (kind == Native::Response).then(|| calls.to_string());
            turn.push_native(native);
        }
        Step::Edit => turn.edit(|message| {
            message.text.pop();
            message.drop_native();
            message.calls.pop();
        }),
        Step::Result(position) => conversation.add_result(result(Ok("ok".into())).with_position(position)),
        Step::Pending(position) => {
            conversation.add_result(result(Err(ToolError::deferred("add"))).with_position(position));
        }
        Step::Restart(position) => turn.restart(position),
        Step::Restore => {
            let turn = turn.clone();
            conversation.restore_turn(turn);
        }
        Step::End => drop(conversation.end_turn(true).len()),
        Step::Begin => drop(conversation.begin_turn("root").marks()),
        Step::Save | Step::FailedSave(_) => {}
    }
}

proptest! {
    /// The changes of all saves together give the conversation, wherever in a turn they were saved.
    #[test]
    fn the_changes_of_all_saves_give_the_conversation(steps in prop::collection::vec(step(), 1..40)) {
        let mut conversation = Conversation::new("1");
        let mut logged = Conversation::new("1");
        let mut position = Position::default();
        for step in steps {
            change(&mut conversation, &step);
            let (Step::Save | Step::FailedSave(_)) = step else { continue };
            let changes = conversation.changes(&position, &BTreeMap::new(), &[], None);
            conversation.mark_saved(position.generation);
            position.generation += u64::from(!matches!(step, Step::Save));
            if !matches!(step, Step::FailedSave(false)) {
                let entry = serde_json::to_string(&changes).unwrap();
                let changes: Vec<Changes> = serde_json::from_str(&entry).unwrap();
                changes.into_iter().for_each(|changes| logged.apply(changes));
                let json = |conversation| serde_json::to_value(conversation).unwrap();
                prop_assert_eq!(json(&logged), json(&conversation), "{}", entry);
            }
        }
    }
}

#[test]
fn native_parts_continue_a_message_with_the_same_fields() {
    let message = |role: &str, content: &[u8]| json!({"role": role, "content": content});
    let own = |messages: &[Value]| NativeMessages::new("own", messages.to_vec());
    let item = json!({"type": "call", "id": "a"});
    let mut conversation = Conversation::new("1");
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
        conversation.turn().push_native(own(&further));
        assert_eq!(conversation.turn().message().native, Some(own(&expected)));
    }
}
