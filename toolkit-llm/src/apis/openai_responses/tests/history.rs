//! Tests of the model's items in the next request, and of histories that the program creates or repairs.

use super::{body, call, said, thought};
use crate::ApiFormat::OpenAiResponses;
use crate::apis::openai_responses::FACTS;
use crate::fields::Fields;
use serde_json::{Value, json};
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;

/// Checks that the item `came` in a response is written into the `input` as `goes`.
#[track_caller]
fn check(came: &Value, goes: &Value) {
    for payload in [&body(came.clone()), came, goes] {
        assert_eq!(Value::from(OpenAiResponses.assistant_messages(payload).unwrap()), *goes);
    }
}

#[test]
fn valid_items_are_unchanged() {
    let custom = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "d", "name": "apply_patch", "input": "x"});
    let search =
        json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}});
    let mut namespaced = call("c", "search", " {\"a\": 1.0}");
    namespaced["namespace"] = json!("crm");
    namespaced["extra"] = json!(1);
    let items = json!([thought(), search, said("Let me see."), namespaced, custom]);
    check(&items, &items);
}

#[test]
fn missing_fields_are_added() {
    let call = json!({"type": "function_call", "name": "f"});
    let history = OpenAiResponses.assistant_messages(&call).unwrap();
    let id = OpenAiResponses.parse_calls(&call).unwrap()[0].id.clone();
    assert_eq!(history[0]["call_id"], id.as_str());
    assert_eq!(history[0]["arguments"], "{}");
    check(
        &json!([{"call_id": "c", "name": "f", "arguments": {"a": 1}}]),
        &json!([{"call_id": "c", "name": "f", "arguments": "{\"a\":1}", "type": "function_call"}]),
    );
}

#[test]
fn refused_content_is_made_acceptable() {
    let mut bad = call("c", "functions.add", "{\"a\": ");
    bad["status"] = Value::Null;
    bad["parsed_arguments"] = json!({});
    bad["created_by"] = json!("user_1");
    check(
        &json!([
            {"type": "reasoning", "id": "rs_1", "content": null, "encrypted_content": "gA", "status": null},
            {"type": "reasoning", "id": "rs_2", "summary": [], "status": "completed"},
            bad,
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": "hi", "annotations": [], "logprobs": null, "parsed": null},
            ]},
            null,
            {"text": "of no kind"},
        ]),
        &json!([
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "gA", "summary": []},
            {"type": "reasoning", "id": "rs_2", "summary": []},
            {"type": "function_call", "id": "fc_c", "call_id": "c", "name": "functions_add",
             "arguments": "{\"invalid_arguments\":\"{\\\"a\\\": \"}"},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": "hi", "annotations": []},
            ]},
        ]),
    );
}

#[test]
fn free_text_is_sent_back_as_free_text() {
    let custom =
        |input: Value| json!([{"type": "custom_tool_call", "call_id": "c", "name": "p", "input": input}]);
    check(&custom(json!("{\"a\": ")), &custom(json!("{\"a\": ")));
    check(&custom(json!({"a": 1})), &custom(json!("{\"a\":1}")));
    check(&custom(Value::Null), &custom(json!("")));
}

#[test]
fn ids_of_other_providers_get_the_same_legal_form_in_calls_and_results() {
    let came = call("functions.add:0/é", "add", "{}");
    let calls = OpenAiResponses.parse_calls(&came).unwrap();
    let history = OpenAiResponses.assistant_messages(&came).unwrap();
    let id = history[0]["call_id"].as_str().unwrap();
    assert!(FACTS.names.accepts(id));
    assert_eq!(OpenAiResponses.encode_calls(&calls, &WireNames::default())[0]["call_id"], id);
    let result = toolkit_core::ToolResult::of(&calls[0], Ok("3".into()));
    assert_eq!(OpenAiResponses.encode_results(&[result])[0]["call_id"], id);
}

#[test]
fn reasoning_without_a_following_item_is_dropped() {
    let cut = body(json!([said("hm"), thought(), thought()]));
    assert_eq!(OpenAiResponses.assistant_messages(&cut).unwrap(), [said("hm")]);
    assert_eq!(OpenAiResponses.assistant_messages(&thought()).unwrap(), [thought()]);
}

#[test]
fn calls_are_written_as_items() {
    let names = WireNames::new(FACTS.names, ["fs.read"]);
    let calls = [ToolCall::new("a", "fs.read", "{\"path\": \"ü\"}"), ToolCall::new("b", "now", "")];
    assert_eq!(
        Value::from(OpenAiResponses.encode_calls(&calls, &names)),
        json!([
            {"type": "function_call", "call_id": "a", "name": "fs_read", "arguments": "{\"path\": \"ü\"}", "status": "completed"},
            {"type": "function_call", "call_id": "b", "name": "now", "arguments": "{}", "status": "completed"},
        ])
    );
    assert!(OpenAiResponses.encode_calls(&[], &names).is_empty());
}

#[test]
fn calls_are_written_with_the_fields_that_the_service_expects_back() {
    let mut namespaced = call("c", "search", "{}");
    namespaced["namespace"] = json!("crm");
    namespaced["caller"] = json!({"type": "direct"});
    let custom =
        json!({"type": "custom_tool_call", "call_id": "d", "name": "apply_patch", "input": "*** \"Begin\""});
    let calls = OpenAiResponses.parse_calls(&json!([namespaced, custom])).unwrap();
    let written = OpenAiResponses.encode_calls(&calls, &WireNames::default());
    // The service refuses a call with the id of a stored item if the reasoning item is missing.
    namespaced.as_object_mut().unwrap().shift_remove("id");
    assert_eq!(written, [namespaced, custom]);
}

#[test]
fn other_arguments_of_a_custom_tool_are_written_as_json() {
    let custom = json!({"type": "custom_tool_call", "call_id": "d", "name": "p", "input": "x"});
    let call = OpenAiResponses.parse_calls(&custom).unwrap().remove(0);
    for (arguments, input) in [
        (r#"{"input":"x","y":2}"#, r#"{"input":"x","y":2}"#),
        (r#"{"input":[1]}"#, "[1]"),
        ("not JSON", "not JSON"),
    ] {
        let mut changed = call.clone();
        changed.arguments = arguments.into();
        let written = OpenAiResponses.encode_calls(&[changed], &WireNames::default());
        assert_eq!(written[0]["input"], input);
    }
}

fn answer(id: &str, output: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

#[track_caller]
fn check_repair(history: Value, repaired: Value) {
    let Value::Array(history) = history else { panic!("a list") };
    let once = OpenAiResponses.repair_history(history);
    assert_eq!(Value::from(once.clone()), repaired);
    assert_eq!(OpenAiResponses.repair_history(once), *repaired.as_array().unwrap());
}

#[test]
fn a_valid_history_is_unchanged() {
    let user = json!({"role": "user", "content": "hi"});
    let history = json!([
        user,
        thought(),
        call("a", "f", "{}"),
        call("b", "f", "{}"),
        answer("b", "2"),
        answer("a", "1"),
        said("ok")
    ]);
    check_repair(history.clone(), history);
}

#[test]
fn calls_without_a_result_get_an_error_result() {
    let none = "[No output available yet]";
    let a = call("a", "f", "{}");
    let b = call("b", "f", "{}");
    let user = json!({"role": "user", "content": "hi"});
    check_repair(json!([a]), json!([a, answer("a", none)]));
    check_repair(json!([a, b, user]), json!([a, b, answer("a", none), answer("b", none), user]));
    check_repair(json!([a, b, answer("b", "2")]), json!([a, b, answer("a", none), answer("b", "2")]));
    check_repair(json!([a, thought(), said("x")]), json!([a, answer("a", none), thought(), said("x")]));
    check_repair(json!([a, answer("a", "1"), a]), json!([a, answer("a", "1"), a, answer("a", none)]));
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "p", "input": "", "caller": {"type": "direct"}});
    check_repair(
        json!([custom]),
        json!([custom, {"type": "custom_tool_call_output", "call_id": "c", "output": none, "caller": {"type": "direct"}}]),
    );
}

#[test]
fn reasoning_that_nothing_of_the_model_follows_is_removed() {
    let user = json!({"role": "user", "content": "q"});
    let reference = json!({"type": "item_reference", "id": "msg_1"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    check_repair(json!([user, thought(), user]), json!([user, user]));
    check_repair(json!([user, thought(), thought(), user, thought()]), json!([user, user]));
    check_repair(
        json!([call("a", "f", "{}"), thought(), answer("a", "1")]),
        json!([call("a", "f", "{}"), answer("a", "1")]),
    );
    for next in [said("x"), reference, search, json!({"role": "assistant", "content": "x"})] {
        let whole = json!([user, thought(), thought(), next, user]);
        check_repair(whole.clone(), whole);
    }
    let input = json!([user, thought(), user]);
    for state in [None, Some("previous_response_id")] {
        let mut body = Fields::from_iter([("input".to_owned(), input.clone())]);
        body.extend(state.map(|name| (name.to_owned(), json!("resp_1"))));
        OpenAiResponses.repair_request(&mut body);
        assert_eq!(body["input"], json!([user, user]));
    }
}

#[test]
fn results_without_a_call_are_removed() {
    let user = json!({"type": "message", "role": "user", "content": "x"});
    let a = call("a", "f", "{}");
    check_repair(json!([answer("zz", "x"), user]), json!([user]));
    check_repair(json!([a, answer("a", "1"), answer("a", "again")]), json!([a, answer("a", "1")]));
    check_repair(json!([answer("a", "early"), a]), json!([a, answer("a", "[No output available yet]")]));
    check_repair(json!([{"type": "function_call_output", "output": "x"}]), json!([]));
    let others = json!([{"type": "computer_call_output", "call_id": "cc"}, null, {"type": "item_reference"}]);
    check_repair(others.clone(), others);
}

#[test]
fn calls_without_an_id_get_one() {
    let bare = json!({"type": "function_call", "name": "f", "arguments": "{}"});
    let known = json!({"type": "function_call", "id": "fc_1", "name": "f", "arguments": "{}"});
    let answer_to_none = json!({"type": "function_call_output", "output": "x"});
    let history = vec![bare.clone(), call("a", "f", "{}"), answer("a", "1"), answer_to_none, known, bare];
    let repaired = OpenAiResponses.repair_history(history);
    let ids: Vec<&str> = repaired.iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    let [first, _, _, answered, known, last, ..] = ids.as_slice() else { panic!("{ids:?}") };
    assert_eq!(repaired[3]["output"], "x");
    assert_eq!((first, known), (answered, &"call_1"));
    assert_ne!(first, last);
    assert_eq!(ids[6..], [*known, *last], "answers that were missing");
    check_repair(json!(repaired.clone()), json!(repaired));
}

#[test]
fn calls_of_a_program_that_the_history_lacks_are_calls_of_the_model() {
    let caller = json!({"type": "program", "caller_id": "prog_1"});
    let call = |caller: &Value| json!({"type": "function_call", "call_id": "a", "name": "add", "arguments": "{}", "caller": caller});
    let result = |caller: &Value| json!({"type": "function_call_output", "call_id": "a", "output": "3", "caller": caller});
    let without = |mut item: Value| {
        item.as_object_mut().unwrap().remove("caller");
        item
    };
    let program =
        json!({"type": "program", "id": "p", "call_id": "prog_1", "code": "add()", "fingerprint": "f"});
    let whole = vec![program, call(&caller), result(&caller)];
    let request = |state: Option<&str>, items: &[Value]| {
        let mut body = Fields::from_iter([("input".to_owned(), json!(items))]);
        body.extend(state.map(|name| (name.to_owned(), json!("kept"))));
        let losses = OpenAiResponses.repair_request(&mut body);
        (body["input"].as_array().cloned().unwrap(), losses.len())
    };
    assert_eq!(request(None, &whole), (whole.clone(), 0));
    let direct = [without(whole[1].clone()), without(whole[2].clone())];
    assert_eq!(request(None, &whole[1..]), (direct.to_vec(), 1));
    // The service may keep the program.
    assert_eq!(request(Some("previous_response_id"), &whole[1..]), (whole[1..].to_vec(), 0));
    let reference = json!({"type": "item_reference", "id": "p"});
    let referring = [vec![reference], whole[1..].to_vec()].concat();
    assert_eq!(request(None, &referring), (referring.clone(), 0));
    let direct = json!({"type": "direct"});
    assert_eq!(request(None, &[call(&direct), result(&direct)]), (vec![call(&direct), result(&direct)], 0));
}
