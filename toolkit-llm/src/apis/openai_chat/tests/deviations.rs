//! Tests of servers whose streams deviate from the reference, and of streams that end early.

use super::stream::{check, delta, first, piece, pieces, run, stop};
use crate::ApiFormat::OpenAiChat;
use serde_json::json;

/// The arguments of a custom tool call that was cut off are incomplete JSON. The free text alone would not show whether
/// the call is complete.
#[test]
fn free_text_that_was_cut_off_is_not_run() {
    let call = |index: u64, id: &str, input: &str| json!([{"index": index, "id": id, "type": "custom", "custom": {"name": "patch", "input": input}}]);
    let one = pieces(call(0, "a", "*** Begin"));
    let cut = r#"{"input":"*** Begin"#;
    check(&[one.clone(), stop("length")], &[(2, "a", "patch", cut)]);
    check(std::slice::from_ref(&one), &[(1, "a", "patch", cut)]);
    check(&[one.clone(), json!("[DONE]")], &[(2, "a", "patch", r#"{"input":"*** Begin"}"#)]);
    let (_, end) = run(&[one.clone(), pieces(call(1, "b", "x")), stop("length")]);
    let calls = end.response.unwrap().calls;
    assert_eq!(calls[0].arguments.as_str(), r#"{"input":"*** Begin"}"#, "the model has continued");
    assert_eq!(calls[1].arguments.as_str(), r#"{"input":"x"#);
    // The history contains the text, but nothing that services refuse in requests.
    let history = OpenAiChat.assistant_messages(&run(&[one]).1.body).unwrap();
    let written = json!({"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}});
    assert_eq!(history[0]["tool_calls"], json!([written]));
    let made = OpenAiChat.encode_calls(&calls, &toolkit_core::name::WireNames::default());
    assert_eq!(made[0]["tool_calls"][1]["custom"]["input"], "x");
}

#[test]
fn a_whole_call_that_is_repeated_is_one_call() {
    let repeated = |index: Option<u64>| {
        let mut call = first(0, "a", "add", "{\"x\": 1}");
        call["id"].take();
        match index {
            Some(index) => call["index"] = index.into(),
            None => drop(call.as_object_mut().unwrap().shift_remove("index")),
        }
        pieces(json!([call]))
    };
    let begun = [pieces(json!([first(0, "a", "add", "{\"x\":")])), pieces(json!([piece(0, " 1}")]))];
    for again in [repeated(Some(0)), repeated(None)] {
        check(
            &[begun[0].clone(), begun[1].clone(), again, stop("tool_calls")],
            &[(3, "a", "add", "{\"x\": 1}")],
        );
    }
    let (_, end) = run(&[begun[0].clone(), begun[1].clone(), repeated(Some(1)), stop("tool_calls")]);
    assert_eq!(end.response.unwrap().calls.len(), 2, "another index is another call");
}

#[test]
fn an_empty_object_before_the_arguments_is_replaced() {
    let one = pieces(json!([first(0, "a", "add", "{}")]));
    let expected = [(3, "a", "add", "{\"x\": 1}")];
    check(
        &[one.clone(), pieces(json!([piece(0, "{\"x\":")])), pieces(json!([piece(0, " 1}")])), stop("stop")],
        &expected,
    );
    check(
        &[
            one,
            pieces(json!([first(0, "a", "add", "{\"x\":")])),
            pieces(json!([piece(0, " 1}")])),
            stop("stop"),
        ],
        &expected,
    );
}

#[test]
fn fields_repeated_in_each_delta_are_not_joined() {
    let said = |text: &str| delta(json!({"role": "assistant", "channel": "analysis", "reasoning": text}));
    let (_, end) = run(&[said("H"), said("m"), stop("stop")]);
    let message = &end.body["choices"][0]["message"];
    assert_eq!((&message["channel"], &message["reasoning"]), (&json!("analysis"), &json!("Hm")));
}
