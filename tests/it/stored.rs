//! Stored results can be read again, without the program's secrets.

use proptest::prelude::*;
use std::time::Duration;
use toolkit_ai::call::ProviderExtras;
use toolkit_ai::middleware::Retry;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{self, Value, json};
use toolkit_ai::{ErrorKind, ToolError};

/// Panics with a secret.
#[tool(register = false)]
fn panics() {
    panic!("the password is hunter2");
}

/// Panics with a secret in its future.
#[tool(register = false)]
async fn panics_later() {
    tokio::task::yield_now().await;
    std::panic::panic_any("the password is hunter2".to_owned());
}

/// Fails with a secret cause.
#[tool(register = false)]
fn fails() -> Result<(), ToolError> {
    Err(ToolError::failed("no connection").with_details("ada:hunter2@10.0.0.7"))
}

/// Fails after earlier attempts with a secret cause.
#[tool(register = false)]
fn fails_again() -> Result<(), ToolError> {
    let earlier = ToolError::failed("no connection").with_details("ada:hunter2@10.0.0.7");
    Err(ToolError::denied("fails_again", "too often").with_earlier_attempts(vec![earlier]))
}

fn dispatcher() -> Dispatcher {
    let tools = tools![panics, panics_later, fails, fails_again];
    Dispatcher::new(ToolRegistry::from_tools(tools).unwrap()).unwrap()
}

/// A result in every stored form: alone, and as another's cause.
fn stored(result: &ToolResult) -> [Value; 3] {
    let error = result.error().unwrap().clone();
    let again = ToolError::failed("again").with_earlier_attempts(vec![error]);
    let wrapped = ToolResult::new("2".into(), "other", Err(again.clone()));
    [json!(result), json!(again), json!(wrapped)]
}

#[tokio::test]
async fn details_and_panics_are_stored_on_demand_only() {
    let settings: [fn(Dispatcher) -> Dispatcher; 5] = [
        |dispatcher| dispatcher,
        |dispatcher| dispatcher.with_failure_text(|_, error| error.message().to_owned()),
        |dispatcher| dispatcher.with_event_contents(true).with_listener(|_| ()),
        |dispatcher| dispatcher.with_middleware(Retry::new().with_pauses(Duration::ZERO, Duration::ZERO)),
        |dispatcher| dispatcher.with_timeout(Duration::from_secs(600)).with_max_concurrency(1),
    ];
    for (setting, tool) in settings
        .iter()
        .flat_map(|it| ["panics", "panics_later", "fails", "fails_again"].map(|tool| (it, tool)))
    {
        let call = || [ToolCall::new("1", tool, "{}")];
        let results = setting(dispatcher()).dispatch(call()).await;
        let error = results[0].error().unwrap();
        let attempts = std::iter::once(error).chain(error.earlier_attempts());
        let mut details = attempts.filter_map(ToolError::details);
        assert!(details.any(|text| text.contains("hunter2")), "{tool}: {error:?}");
        for stored in stored(&results[0]) {
            assert!(!stored.to_string().contains("hunter2"), "{tool}: {stored}");
        }
        let results = setting(dispatcher()).with_stored_details(true).dispatch(call()).await;
        assert!(json!(results[0]).to_string().contains("hunter2"), "{tool}");
        let stored = serde_json::to_string(&results[0]).unwrap();
        let read: ToolResult = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, results[0]);
        assert_eq!(serde_json::to_string(&read).unwrap(), stored, "what was stored stays stored");
        let error = results[0].error().unwrap().clone().with_stored_details(false);
        assert!(!json!(error).to_string().contains("hunter2"), "{tool}");
        let private = ToolError::failed("again").with_earlier_attempts(vec![error]);
        assert!(!json!(private.with_stored_details(false)).to_string().contains("hunter2"), "{tool}");
    }
}

/// Returns alternating arrays and objects of this depth.
fn nested(depth: usize, objects: bool) -> Value {
    (1..depth).fold(
        json!(1),
        |value, level| if objects ^ (level % 3 == 0) { json!({ "x": value }) } else { json!([value]) },
    )
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
            // Also inside a larger document.
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
