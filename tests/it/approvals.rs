//! Approval is requested only for calls that can run, and only once if the approval holds for the session.

use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::middleware::{Approval, ApprovalRequest, Permission, PermissionRule, Permissions};
use toolkit::prelude::*;
use toolkit::serde_json::{self, json};
use toolkit::{AdaptedTool, ArgumentTransform, ClosureTool, ErrorKind, RunContext, Session, ToolName};

/// Counts runs.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);

/// Moves money.
#[tool(register = false, destructive)]
fn pay(#[state] runs: &Runs, amount: u32, #[param(alias = "to")] account: Option<String>) -> u32 {
    runs.0.fetch_add(1, Ordering::Relaxed);
    amount + u32::from(account.is_some())
}

/// Moves money later.
#[tool(register = false)]
async fn pay_later(#[state] runs: Arc<Runs>, amount: u32, account: Option<String>) -> u32 {
    runs.0.fetch_add(1, Ordering::Relaxed);
    amount + u32::from(account.is_some())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Payment {
    amount: u32,
    account: Option<String>,
}

const TOOLS: [&str; 7] = ["pay", "pay_later", "closure", "dynamic", "renamed", "hidden", "nested-pay"];

/// One tool of each kind.
fn registry(runs: &Runs) -> ToolRegistry {
    let counted = runs.clone();
    let closure = ClosureTool::new("closure", "Pays.", move |payment: Payment| {
        counted.0.fetch_add(1, Ordering::Relaxed);
        payment.amount + u32::from(payment.account.is_some())
    });
    let named = |name: &str| AdaptedTool::new(pay::tool()).with_name(ToolName::new(name).unwrap());
    let renamed =
        named("renamed").with_arguments([ArgumentTransform::of("amount").with_name("sum")]).unwrap();
    let hidden = named("hidden").with_arguments([ArgumentTransform::of("account").fixed("1")]).unwrap();
    let mut registry = ToolRegistry::from_tools(tools![pay, pay_later]).unwrap();
    registry.register(closure.unwrap()).unwrap();
    registry.register(renamed).unwrap();
    registry.register(hidden).unwrap();
    let nested = ToolRegistry::from_tools(tools![pay]).unwrap().with_state(runs.clone());
    let nested =
        nested.viewed(&toolkit::RegistryView::new().in_namespace("nested", toolkit::name::Separator::Dash));
    registry.register_provider(Dispatcher::new(nested.unwrap()).unwrap()).unwrap();
    #[cfg(feature = "jsonschema")]
    {
        let also_counted = runs.clone();
        let schema = json!({
            "type": "object", "required": ["amount"], "additionalProperties": false,
            "properties": {"amount": {"type": "integer", "minimum": 0}, "account": {"type": ["string", "null"]}},
        });
        let dynamic = toolkit::DynamicTool::new("dynamic", "Pays.", schema, move |args| {
            also_counted.0.fetch_add(1, Ordering::Relaxed);
            args.to_string()
        });
        registry.register(dynamic.unwrap()).unwrap();
    }
    registry.with_state(runs.clone())
}

fn asking(runs: &Runs, approval: Approval) -> (Dispatcher, Runs) {
    let asked = Runs::default();
    let counter = asked.clone();
    let permissions = Permissions::new().otherwise(Permission::Ask("money".to_owned())).with_handler(
        move |_: ApprovalRequest| {
            counter.0.fetch_add(1, Ordering::Relaxed);
            std::future::ready(approval.clone())
        },
    );
    (Dispatcher::new(registry(runs)).unwrap().with_middleware(permissions), asked)
}

fn count(runs: &Runs) -> usize {
    runs.0.load(Ordering::Relaxed)
}

fn is_invalid(error: &ToolError) -> bool {
    matches!(error.kind(), ErrorKind::InvalidArguments | ErrorKind::InvalidJson | ErrorKind::NotFound)
}

#[tokio::test]
async fn no_human_is_asked_about_a_call_that_cannot_run() {
    let runs = Runs::default();
    let (dispatcher, asked) = asking(&runs, Approval::Granted);
    for (tool, arguments, kind) in [
        ("pay", "{}", ErrorKind::InvalidArguments),
        ("pay", r#"{"amount": -1}"#, ErrorKind::InvalidArguments),
        ("pay", r#"{"amount": 1, "other": 2}"#, ErrorKind::InvalidArguments),
        ("pay", r#"{"amount": "#, ErrorKind::InvalidJson),
        ("closure", "{}", ErrorKind::InvalidArguments),
        ("renamed", r#"{"amount": 1}"#, ErrorKind::InvalidArguments),
        ("hidden", r#"{"amount": 1, "account": "2"}"#, ErrorKind::InvalidArguments),
        ("nested-pay", "{}", ErrorKind::InvalidArguments),
        ("nope", "{}", ErrorKind::NotFound),
    ] {
        let call = ToolCall::new("1", tool, arguments);
        assert_eq!(dispatcher.validate(&call).map_err(|error| error.kind()), Err(kind), "{tool} {arguments}");
        let results = dispatcher.dispatch([call]).await;
        assert_eq!(results[0].error().map(ToolError::kind), Some(kind), "{tool} {arguments}");
    }
    assert_eq!((count(&asked), count(&runs)), (0, 0));
    dispatcher.dispatch([ToolCall::new("1", "pay", r#"{"amount": "1"}"#)]).await;
    assert_eq!((count(&asked), count(&runs)), (1, 1));
}

#[test]
fn conditions_see_only_calls_that_can_run() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rule = PermissionRule::deny("too much").when(|_, arguments| arguments["amount"].as_u64() > Some(9));
    let permissions = Permissions::new().rule(rule).rule(PermissionRule::allow());
    let dispatcher = Dispatcher::new(registry(&Runs::default())).unwrap().with_middleware(permissions);
    let text = |arguments: &str| {
        let results = runtime.block_on(dispatcher.dispatch([ToolCall::new("1", "pay", arguments)]));
        results[0].to_text().into_owned()
    };
    assert_eq!(text(r#"{"amount": 9}"#), "9");
    assert_eq!(text(r#"{"amount": 10}"#), "Tool `pay` was denied: too much");
    assert!(text(r#"{"amount": 10, "x": 1}"#).starts_with("Error validating JSON arguments"));
}

#[tokio::test]
async fn an_approval_for_the_session_holds_only_in_the_session() {
    let runs = Runs::default();
    let (dispatcher, asked) = asking(&runs, Approval::GrantedForSession);
    let session = Session::new("1");
    let in_session =
        |session: &Session| dispatcher.clone().with_run(RunContext::new().with_session(session.clone()));
    let call = |tool: &str| ToolCall::new("1", tool, r#"{"amount": 1}"#);
    for (dispatcher, tool, expected) in [
        (in_session(&session), "pay", 1),
        (in_session(&session), "pay", 1),
        (in_session(&session), "closure", 2),
        (in_session(&Session::new("1")), "pay", 3),
        (dispatcher.clone().with_run(RunContext::new()), "pay", 4),
        (dispatcher.clone().with_run(RunContext::new()), "pay", 5),
        (dispatcher.clone(), "pay", 6),
        (dispatcher.clone(), "pay", 6),
        (in_session(&session), "closure", 6),
    ] {
        assert!(!dispatcher.dispatch([call(tool)]).await[0].is_error());
        assert_eq!(count(&asked), expected, "{tool}");
    }
    assert_eq!(count(&runs), 9);
}

fn arguments() -> impl Strategy<Value = String> {
    let amount = prop::sample::select(vec!["1", "-1", "1.5", r#""7""#, "null", "[]", "4294967296", r#""x""#]);
    let name = prop::sample::select(vec!["amount", "sum", "account", "to", "other", "Amount"]);
    let member = (name, amount).prop_map(|(name, value)| format!("\"{name}\": {value}"));
    let object =
        prop::collection::vec(member, 0..3).prop_map(|members| format!("{{{}}}", members.join(", ")));
    let broken = prop::sample::select(vec!["", "null", "[]", "{", "7", r#""{\"amount\": 1}""#]);
    prop_oneof![4 => object, 1 => broken.prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn a_check_returns_the_error_that_the_call_would_have(tool in prop::sample::select(TOOLS.to_vec()), text in arguments()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let runs = Runs::default();
        let registry = registry(&runs);
        let checked = registry.validate(tool, &text);
        prop_assert_eq!(count(&runs), 0, "a check runs nothing");
        let called = runtime.block_on(registry.call(tool, &text));
        match (&checked, &called) {
            (Ok(()), Ok(_)) => {}
            (Ok(()), Err(error)) => prop_assert!(!is_invalid(error), "{error}"),
            (Err(expected), called) => prop_assert_eq!(called.as_ref().err(), Some(expected)),
        }
        let (dispatcher, asked) = asking(&runs, Approval::Refused("no".to_owned()));
        let is_object = serde_json::from_str::<serde_json::Value>(&text)
            .is_ok_and(|value| value.is_object() || value.is_string());
        runtime.block_on(dispatcher.dispatch([ToolCall::new("1", tool, text.as_str())]));
        prop_assert_eq!(count(&asked), usize::from(checked.is_ok() && is_object), "{}", text);
    }
}
