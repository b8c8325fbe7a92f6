//! Arguments of many types: without coercion a tool takes what serde takes, with coercion more, and never another value;
//! no value of an ordinary size is too complex to check.

#![no_main]

#[path = "../../tests/it/argument_types/shapes.rs"]
mod shapes;

use libfuzzer_sys::fuzz_target;
use schemars::JsonSchema;
use serde::Deserialize;
use shapes::{Beside, Closed, Inside, Outside, Plain, Untagged};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use toolkit_core::{ClosureTool, Tool, ToolContext, ToolError, ToolParams};

/// An argument of a type.
#[allow(dead_code)]
#[derive(Debug, Deserialize, JsonSchema)]
struct One<T> {
    p: T,
}

fn check<T: ToolParams + Debug + 'static>(text: &str) {
    let arguments = format!(r#"{{"p": {text}}}"#);
    let expected = serde_json::from_str::<T>(&arguments).ok().map(|value| format!("{value:?}"));
    for coerce in [false, true] {
        let Ok(tool) = ClosureTool::new("tool", "", |value: T| format!("{value:?}")) else { return };
        let tool = tool.with_metadata(|metadata| metadata.with_coerce(coerce));
        let context = ToolContext::new(tool.definition().name.clone());
        let call = pin!(tool.call(&arguments, &context));
        let Poll::Ready(outcome) = call.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("the tool is synchronous")
        };
        let too_complex = |error: &ToolError| error.message().contains("too complex");
        assert!(!outcome.as_ref().is_err_and(too_complex), "{arguments}");
        let taken = outcome.ok().map(|output| output.to_text().into_owned());
        if !coerce || expected.is_some() {
            assert_eq!(taken, expected, "{arguments}");
        }
    }
}

fuzz_target!(|data: (u8, &str)| {
    let (kind, text) = data;
    // One value: two would be other arguments. Unknown names of the outer object are refused on purpose.
    if serde_json::from_str::<&serde_json::value::RawValue>(text).is_err() {
        return;
    }
    match kind % 15 {
        0 => check::<One<u8>>(text),
        1 => check::<One<i64>>(text),
        2 => check::<One<u128>>(text),
        3 => check::<One<f64>>(text),
        4 => check::<One<bool>>(text),
        5 => check::<One<String>>(text),
        6 => check::<One<Vec<Option<i128>>>>(text),
        7 => check::<One<BTreeSet<i32>>>(text),
        8 => check::<One<BTreeMap<String, f32>>>(text),
        9 => check::<One<Plain>>(text),
        10 => check::<One<Closed>>(text),
        11 => check::<One<Outside>>(text),
        12 => check::<One<Inside>>(text),
        13 => check::<One<Beside>>(text),
        _ => check::<One<Untagged>>(text),
    }
});
