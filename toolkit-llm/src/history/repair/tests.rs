//! Tests of repairing requests with earlier messages at the service.

use crate::facts::ApiFormat;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

/// Returns the model's messages and those after them, for turns with the numbers of calls in `calls`.
fn turns(format: ApiFormat, calls: &[usize]) -> Vec<(Vec<Value>, Vec<Value>)> {
    let turn = |(turn, count): (usize, &usize)| {
        let call = |at| ToolCall::new(format!("call_{turn}_{at}"), format!("tool_{at}"), "{}");
        let calls: Vec<ToolCall> = (0..*count).map(call).collect();
        let results: Vec<ToolResult> =
            calls.iter().map(|call| ToolResult::of(call, Ok("done".into()))).collect();
        let mut replies = format.encode_results(&results);
        if calls.is_empty() {
            replies.push(format.encode_user(&[Content::Text(format!("Question {turn}"))]));
        }
        (format.encode_assistant("I work.", &calls, &WireNames::default()), replies)
    };
    calls.iter().enumerate().map(turn).collect()
}

fn repaired(format: ApiFormat, state: Option<&str>, history: &[Value]) -> Vec<Value> {
    let field = format.codec().facts().fields.messages;
    let mut body = Map::from_iter([(field.to_owned(), json!(history))]);
    body.extend(state.map(|name| (name.to_owned(), json!("kept_1"))));
    format.repair_request(&mut body);
    body[field].as_array().cloned().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// If the service stores a valid conversation up to any response, the later messages stay unchanged.
    #[test]
    fn results_for_calls_kept_by_the_service_stay(
        calls in prop::collection::vec(0..4_usize, 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        for &format in ApiFormat::ALL {
            let turns = turns(format, &calls);
            let whole: Vec<Value> =
                turns.iter().flat_map(|(said, replies)| [said.clone(), replies.clone()].concat()).collect();
            prop_assert_eq!(&format.repair_history(whole.clone()), &whole, "{}", format);
            let (kept, new) = turns.split_at(cut.index(turns.len()));
            let mut rest: Vec<Value> = new[0].1.clone();
            rest.extend(new[1..].iter().flat_map(|(said, replies)| [said.clone(), replies.clone()].concat()));
            for state in format.codec().facts().fields.server_state {
                prop_assert_eq!(&repaired(format, Some(state), &rest), &rest, "{} after {}", format, kept.len());
            }
            // Without such a field, the results have no call.
            if calls[kept.len()] > 0 {
                prop_assert!(repaired(format, None, &rest).len() < rest.len() || rest.is_empty(), "{}", format);
            }
        }
    }
}
