//! Tests of the service's own tools whose calls have no results, and of the program's tools called by the service's
//! code.

mod properties;

use crate::ApiFormat::Anthropic;
use serde_json::{Map, Value, json};
use toolkit_schema::SchemaLoss;

fn said(content: &[&Value]) -> Value {
    json!({"role": "assistant", "content": content})
}

fn user(content: &[&Value]) -> Value {
    json!({"role": "user", "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn search(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "rust"}})
}

fn found(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

fn code(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "code_execution", "input": {"code": "look()"}})
}

fn ran(id: &str) -> Value {
    json!({"type": "code_execution_tool_result", "tool_use_id": id, "content": {"type": "code_execution_result"}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn call_of(id: &str, code: &str) -> Value {
    let caller = json!({"type": "code_execution_20260120", "tool_id": code});
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}, "caller": caller})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "a cat"})
}

/// Repairs the messages `history` of a request that names `container`.
fn repaired_in(container: &Value, history: &[Value]) -> (Vec<Value>, Vec<SchemaLoss>) {
    let fields = [("messages".to_owned(), json!(history)), ("container".to_owned(), container.clone())];
    let mut body = Map::from_iter(fields);
    let losses = Anthropic.repair_request(&mut body);
    assert_eq!((body.len(), &body["container"]), (2, container));
    (body["messages"].as_array().cloned().unwrap(), losses)
}

fn repaired(history: &[Value]) -> (Vec<Value>, Vec<SchemaLoss>) {
    let (messages, losses) = repaired_in(&json!("container_1"), history);
    assert_eq!(Anthropic.repair_history(history.to_vec()), messages);
    (messages, losses)
}

#[track_caller]
fn check_legal(history: &[Value]) {
    assert_eq!(repaired(history), (history.to_vec(), Vec::new()));
}

#[track_caller]
fn check(history: &[Value], expected: &[Value], losses: &[(&str, &str)]) {
    let (messages, found) = repaired(history);
    assert_eq!(messages, expected);
    let found: Vec<(&str, &str)> =
        found.iter().map(|loss| (loss.path.as_str(), loss.keyword.as_str())).collect();
    assert_eq!(found, losses);
}

#[test]
fn a_paused_turn_goes_on_if_nothing_follows() {
    let go = user(&[&text("Go.")]);
    check_legal(&[go.clone(), said(&[&search("s1")])]);
    check_legal(&[go.clone(), said(&[&search("s1")]), said(&[&found("s1"), &search("s2")])]);
    let mcp = json!({"type": "mcp_tool_use", "id": "m1", "name": "read", "server_name": "docs", "input": {}});
    check_legal(&[go, said(&[&mcp])]);
}

#[test]
fn new_input_after_a_paused_turn_removes_the_unfinished_call() {
    let go = user(&[&text("Go.")]);
    let more = user(&[&text("Stop searching.")]);
    let kept = [text("I look."), search("s1"), found("s1")];
    let kept: Vec<&Value> = kept.iter().collect();
    check(
        &[go.clone(), said(&[kept.as_slice(), &[&search("s2")]].concat()), more.clone()],
        &[go.clone(), said(&kept), more.clone()],
        &[("/messages/1", "server_tool_use")],
    );
    // A message without other content is removed. The service reads adjacent messages of the user as one.
    check(
        &[go.clone(), said(&[&search("s1")]), more.clone()],
        &[go.clone(), more.clone()],
        &[("/messages/1", "server_tool_use")],
    );
    // A message cannot end with thinking.
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    check(
        &[go.clone(), said(&[&text("I look."), &thinking, &search("s1")]), more.clone()],
        &[go, said(&[&text("I look.")]), more],
        &[("/messages/1", "server_tool_use")],
    );
}

/// The service runs its own tool when the results of the program's tools arrive.
#[test]
fn a_turn_with_calls_of_both_sides_goes_on_with_the_results() {
    let go = user(&[&text("Go.")]);
    let asked = said(&[&search("s1"), &call("t1")]);
    check_legal(&[go.clone(), asked.clone(), user(&[&result("t1")])]);
    let done = [go.clone(), asked.clone(), user(&[&result("t1")]), said(&[&found("s1"), &text("Done.")])];
    check_legal(&done);
    check_legal(&[&done[..], &[user(&[&text("Thanks.")])]].concat());
    // Anything beside the results is new input.
    let noted = user(&[&result("t1"), &text("Hurry.")]);
    check(
        &[go.clone(), asked, noted.clone()],
        &[go, said(&[&call("t1")]), noted],
        &[("/messages/1", "server_tool_use")],
    );
}

#[test]
fn calls_of_code_stay_calls_of_code_while_the_code_can_go_on() {
    let go = user(&[&text("Go.")]);
    let asked = said(&[&code("c1"), &call_of("t1", "c1")]);
    let again = said(&[&call_of("t2", "c1")]);
    let running = [go.clone(), asked.clone(), user(&[&result("t1")]), again.clone(), user(&[&result("t2")])];
    check_legal(&running);
    let done = [&running[..], &[said(&[&ran("c1"), &text("Done.")]), user(&[&text("Thanks.")])]].concat();
    check_legal(&done);
    // After new input, the code is gone, and its calls are calls of the model.
    let more = user(&[&text("Never mind.")]);
    check(
        &[&running[..], std::slice::from_ref(&more)].concat(),
        &[
            go,
            said(&[&call("t1")]),
            user(&[&result("t1")]),
            said(&[&call("t2")]),
            user(&[&result("t2")]),
            more,
        ],
        &[("/messages/1", "server_tool_use"), ("/messages/1", "caller"), ("/messages/3", "caller")],
    );
}

#[test]
fn calls_of_code_that_the_history_lacks_are_calls_of_the_model() {
    let go = user(&[&text("Go.")]);
    check(
        &[go.clone(), said(&[&call_of("t1", "c1")]), user(&[&result("t1")])],
        &[go.clone(), said(&[&call("t1")]), user(&[&result("t1")])],
        &[("/messages/1", "caller")],
    );
    check(
        &[go.clone(), said(&[&found("s1"), &text("Done.")])],
        &[go, said(&[&text("Done.")])],
        &[("/messages/1", "web_search_tool_result")],
    );
}

/// The id of a container arrives at the end of a response. If the connection breaks before, the service refuses to
/// continue the code.
#[test]
fn code_without_a_container_is_removed() {
    let go = user(&[&text("Go.")]);
    let fetched = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {},
        "caller": {"type": "code_execution_20260120", "tool_id": "c1"}});
    let history = [
        go.clone(),
        said(&[&text("I look."), &code("c1"), &fetched, &call_of("t1", "c1")]),
        user(&[&result("t1")]),
    ];
    let without = [Value::Null, json!(""), json!({"skills": []}), json!({"id": null, "skills": []})];
    for container in &without {
        let (messages, losses) = repaired_in(container, &history);
        let kept = [go.clone(), said(&[&text("I look."), &call("t1")]), user(&[&result("t1")])];
        assert_eq!(messages, kept, "{container}");
        let found: Vec<(&str, &str)> =
            losses.iter().map(|loss| (loss.path.as_str(), loss.keyword.as_str())).collect();
        let hosted = ("/messages/1", "server_tool_use");
        // The search by the code loses its caller before it is removed.
        assert_eq!(
            found,
            [hosted, ("/messages/1", "caller"), hosted, ("/messages/1", "caller")],
            "{container}"
        );
    }
    for container in [json!("container_1"), json!({"id": "container_1", "skills": []})] {
        assert_eq!(repaired_in(&container, &history), (history.to_vec(), Vec::new()), "{container}");
    }
    // Finished code and calls without code need no container.
    let done =
        [go.clone(), said(&[&code("c1"), &ran("c1"), &search("s1"), &call("t1")]), user(&[&result("t1")])];
    let paused = [go, said(&[&search("s1")])];
    for history in [&done[..], &paused[..]] {
        assert_eq!(repaired_in(&Value::Null, history), (history.to_vec(), Vec::new()));
    }
}

/// The service stores the earlier messages of a thread, so results in the new messages need no call there.
#[test]
fn the_new_messages_of_a_thread_keep_their_results() {
    let history = [
        user(&[&result("t1")]),
        said(&[&ran("c1"), &call_of("t2", "c1")]),
        user(&[&result("t2"), &text("More.")]),
    ];
    let repair = |thread: Value| {
        let mut body = json!({"messages": history, "thread": thread}).as_object().cloned().unwrap();
        let losses = Anthropic.repair_request(&mut body);
        (body["messages"].as_array().cloned().unwrap(), losses)
    };
    assert_eq!(
        repair(json!({"type": "continue", "previous_message_id": "msg_1"})),
        (history.to_vec(), Vec::new())
    );
    for thread in [Value::Null, json!({"type": "create"})] {
        let expected = [said(&[&call("t2")]), user(&[&result("t2"), &text("More.")])];
        assert_eq!(repair(thread).0, expected);
    }
}

/// A message of another model ends the turn in which the service could finish its own calls.
#[test]
fn another_message_of_the_model_ends_the_turn_of_the_service() {
    let go = user(&[&text("Go.")]);
    let begun = said(&[&text("I look."), &search("s1"), &call("t1")]);
    let done = user(&[&result("t1")]);
    let other = [said(&[&text("Another model."), &call("t2")]), user(&[&result("t2")])];
    check(
        &[&[go.clone(), begun, done.clone()][..], &other].concat(),
        &[&[go.clone(), said(&[&text("I look."), &call("t1")]), done.clone()][..], &other].concat(),
        &[("/messages/1", "server_tool_use")],
    );
    let running = said(&[&code("c1"), &call_of("t1", "c1")]);
    check(
        &[&[go.clone(), running, done.clone()][..], &other].concat(),
        &[&[go.clone(), said(&[&call("t1")]), done][..], &other].concat(),
        &[("/messages/1", "server_tool_use"), ("/messages/1", "caller")],
    );
    let paused = said(&[&search("s1")]);
    check(
        &[go.clone(), paused, said(&[&text("Another model.")])],
        &[go, said(&[&text("Another model.")])],
        &[("/messages/1", "server_tool_use")],
    );
}
