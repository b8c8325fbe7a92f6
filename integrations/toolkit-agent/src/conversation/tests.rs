//! Tests of conversations: turns, limits on length, and saves.

use super::*;
use toolkit_core::ToolCall;

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
