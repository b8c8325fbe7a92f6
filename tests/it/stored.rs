//! Stored results can be read again, and contain no secrets of the program.

use proptest::prelude::*;
use toolkit::call::ProviderExtras;
use toolkit::prelude::*;
use toolkit::serde_json::{self, Value, json};
use toolkit::{ErrorKind, ToolError};

/// Panics with a secret.
#[tool(register = false)]
fn panics() {
    panic!("the password is hunter2");
}

/// Fails with a secret cause.
#[tool(register = false)]
fn fails() -> Result<(), ToolError> {
    Err(ToolError::failed("no connection").with_details("ada:hunter2@10.0.0.7"))
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(ToolRegistry::from_tools(tools![panics, fails]).unwrap()).unwrap()
}

#[tokio::test]
async fn details_and_panics_are_stored_on_demand_only() {
    for tool in ["panics", "fails"] {
        let retried = |result: &ToolResult| {
            let error = result.error().unwrap().clone();
            ToolError::failed("again").with_earlier_attempts(vec![error])
        };
        let call = || [ToolCall::new("1", tool, "{}")];
        let results = dispatcher().dispatch(call()).await;
        assert!(results[0].error().and_then(ToolError::details).is_some_and(|text| text.contains("hunter2")));
        for stored in [json!(results[0]), json!(retried(&results[0]))] {
            assert!(!stored.to_string().contains("hunter2"), "{stored}");
        }
        let results = dispatcher().with_stored_details(true).dispatch(call()).await;
        for stored in [json!(results[0]), json!(retried(&results[0]))] {
            assert!(stored.to_string().contains("hunter2"), "{stored}");
        }
        let stored = serde_json::to_string(&results[0]).unwrap();
        let read: ToolResult = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, results[0]);
        assert_eq!(serde_json::to_string(&read).unwrap(), stored, "what was stored stays stored");
        let private = retried(&results[0]).with_stored_details(false);
        assert!(!json!(private).to_string().contains("hunter2"));
    }
}

/// Returns a value of this depth, alternating between arrays and objects.
fn nested(depth: usize, objects: bool) -> Value {
    (1..depth).fold(json!(1), |value, level| match objects ^ (level % 3 == 0) {
        true => json!({ "x": value }),
        false => json!([value]),
    })
}

proptest! {
    #[test]
    fn every_stored_value_can_be_read(
        depth in 1_usize..140,
        objects in any::<bool>(),
        place in 0_usize..3,
        around in 0_usize..20,
    ) {
        let value = nested(depth, objects);
        let mut result = ToolResult::new("1".into(), "deep", Ok(ToolOutput::text("done")));
        match place {
            0 => result.outcome = Ok(ToolOutput::text("done").with_structured(value)),
            1 => {
                result.actions.state_delta.insert("key".to_owned(), Some(value));
            }
            _ => {
                let fields = [("key".to_owned(), value)].into_iter().collect();
                result = result.with_extras(ProviderExtras::new("api", fields));
            }
        }
        let stored = serde_json::to_string(&result);
        prop_assert_eq!(stored.is_ok(), depth <= 100, "{}", depth);
        if let Ok(stored) = stored {
            prop_assert_eq!(&serde_json::from_str::<ToolResult>(&stored).unwrap(), &result);
            // Also as part of a larger document.
            let document = format!("{}{stored}{}", "[".repeat(around), "]".repeat(around));
            prop_assert!(serde_json::from_str::<Value>(&document).is_ok());
        }
    }
}

#[test]
fn a_call_with_deep_arguments_can_be_stored() {
    let call = ToolCall::new("1", "deep", format!("{}1{}", r#"{"x":"#.repeat(200), "}".repeat(200)));
    let stored = serde_json::to_string(&call).unwrap();
    assert_eq!(serde_json::from_str::<ToolCall>(&stored).unwrap(), call);
    let dispatched = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let results = dispatched.block_on(dispatcher().dispatch([call]));
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::NotFound));
}
