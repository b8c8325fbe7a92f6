//! Arguments of many types: what a tool takes without coercion is what serde takes, with coercion never another value;
//! no value of an ordinary size is too complex to check. Random types with constraints take what their schemas allow.

#![no_main]

#[path = "../../tests/it/agreement/made.rs"]
mod made;
#[path = "../../tests/it/agreement/oracle.rs"]
mod oracle;
#[path = "../../tests/it/agreement/random.rs"]
mod random;
#[path = "../../tests/it/agreement/values.rs"]
mod values;

use jsonschema::Validator;
use libfuzzer_sys::fuzz_target;
use made::Decode;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use toolkit_core::{ClosureTool, Tool, ToolContext, ToolParams};
use values::Values;

/// An argument of a type.
#[allow(dead_code)]
#[derive(Debug, Deserialize, JsonSchema)]
struct One<T> {
    p: T,
}

/// Calls a tool. Returns the text of its output, or `None` if it refuses the arguments.
fn call(tool: &dyn Tool, arguments: &str) -> Option<String> {
    let context = ToolContext::new(tool.definition().name.clone());
    let call = pin!(tool.call(arguments, &context));
    let Poll::Ready(outcome) = call.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the tool is synchronous")
    };
    match outcome {
        Ok(output) => Some(output.to_text().into_owned()),
        Err(error) => {
            assert!(!error.message().contains("too complex"), "{arguments}");
            None
        }
    }
}

fn check<T: ToolParams + Debug + 'static>(text: &str) {
    let arguments = format!(r#"{{"p": {text}}}"#);
    let expected = serde_json::from_str::<T>(&arguments).ok().map(|value| format!("{value:?}"));
    for coerce in [false, true] {
        let Ok(tool) = ClosureTool::new("tool", "", |value: T| format!("{value:?}")) else { return };
        let tool = tool.map_metadata(|metadata| metadata.with_coerce(coerce));
        let taken = call(&tool, &arguments);
        // What no schema publishes is refused, whatever serde makes of it.
        if taken.is_some() && (!coerce || expected.is_some()) {
            assert_eq!(taken, expected, "{arguments}");
        }
    }
}

/// A tool with random types, without and with coercion.
struct Made {
    strictly: Box<dyn Tool>,
    leniently: Box<dyn Tool>,
    validator: Validator,
    /// What serde decodes, if the tool has one type.
    decode: Option<Decode>,
}

static MADE: LazyLock<Vec<Made>> = LazyLock::new(|| {
    let functions = made::functions().into_iter().map(|tool| {
        let leniently = Box::new(tool.clone().map_metadata(|metadata| metadata.with_coerce(true)));
        (Box::new(tool) as Box<dyn Tool>, leniently as Box<dyn Tool>, None)
    });
    let types = made::types().into_iter().map(|(tool, decode)| {
        let leniently = Box::new(tool.clone().map_metadata(|metadata| metadata.with_coerce(true)));
        (Box::new(tool) as Box<dyn Tool>, leniently as Box<dyn Tool>, Some(decode))
    });
    let tools = functions.chain(types).map(|(strictly, leniently, decode)| {
        let validator = oracle::validator(&strictly.definition().parameters);
        Made { strictly, leniently, validator, decode }
    });
    tools.collect()
});

impl Made {
    fn check(&self, text: &str) {
        let schema = &self.strictly.definition().parameters;
        let taken = call(&*self.strictly, text);
        let leniently = call(&*self.leniently, text);
        // The values of a hash set have no order.
        if taken.is_some() && !schema.to_string().contains("uniqueItems") {
            assert_eq!(leniently, taken, "{text}\n{schema}");
            if text.trim_start().starts_with('{') {
                assert_eq!(call(&*self.leniently, &format!("[{text}]")), taken, "{text}\n{schema}");
            }
        }
        if let (Some(taken), Some(decode)) = (taken, self.decode) {
            let decoded = decode(text);
            assert_eq!(decoded, Some(taken), "{text}\n{schema}");
        }
    }

    /// Checks a drawn value, which a validator judges, too.
    fn check_drawn(&self, seed: u64) {
        let schema = &self.strictly.definition().parameters;
        let mut values = Values::new(schema, seed);
        let mut arguments = values.fitting(schema, 4);
        (0..seed % 5).for_each(|_| values.spoil(&mut arguments));
        self.check(&arguments.to_string());
        // A value of an untagged enum must satisfy the constraints of the variant that serde decodes.
        if self.validator.is_valid(&arguments) && !schema.to_string().contains("anyOf") {
            assert!(call(&*self.strictly, &arguments.to_string()).is_some(), "{arguments}\n{schema}");
        }
    }
}

fuzz_target!(|data: (u8, u8, u64, &str)| {
    let (kind, tool, seed, text) = data;
    // Half of the inputs are for the random types.
    let kind = kind % 18;
    if kind >= 9 {
        let made = &MADE[usize::from(tool) % MADE.len()];
        return if text.is_empty() { made.check_drawn(seed) } else { made.check(text) };
    }
    // One value: two would be other arguments. Unknown names of the outer object are refused on purpose.
    if serde_json::from_str::<&serde_json::value::RawValue>(text).is_err() {
        return;
    }
    match kind {
        0 => check::<One<u8>>(text),
        1 => check::<One<i64>>(text),
        2 => check::<One<u128>>(text),
        3 => check::<One<f64>>(text),
        4 => check::<One<bool>>(text),
        5 => check::<One<String>>(text),
        6 => check::<One<Vec<Option<i128>>>>(text),
        7 => check::<One<BTreeSet<i32>>>(text),
        _ => check::<One<BTreeMap<String, f32>>>(text),
    }
});
