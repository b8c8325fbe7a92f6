//! Approval is requested only for calls that can run, and once for a session.

use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit_ai::middleware::{Approval, ApprovalRequest, Permission, PermissionRule, Permissions};
use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{self, json};
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, ClosureTool, ErrorKind, RegistryView, RunContext, Session,
    ToolDefinition, ToolFuture, ToolName, ToolProvider,
};

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

/// Moves money as a struct says.
#[tool(register = false)]
fn pay_whole(#[state] runs: &Runs, #[param(flatten)] payment: Payment) -> u32 {
    runs.0.fetch_add(1, Ordering::Relaxed);
    payment.amount + u32::from(payment.account.is_some())
}

struct Bank(Runs);

#[toolset]
impl Bank {
    /// Moves money from a bank.
    #[tool]
    fn bank_pay(&self, amount: u32, account: Option<String>) -> u32 {
        self.0.0.fetch_add(1, Ordering::Relaxed);
        amount + u32::from(account.is_some())
    }
}

/// A tool with its own check.
struct ByHand(ToolDefinition, Runs);

impl ByHand {
    fn amount(arguments: &str) -> Result<u32, ToolError> {
        let payment: Payment = serde_json::from_str(arguments).map_err(ToolError::invalid_json)?;
        Ok(payment.amount + u32::from(payment.account.is_some()))
    }
}

impl Tool for ByHand {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        let amount = Self::amount(arguments);
        self.1.0.fetch_add(usize::from(amount.is_ok()), Ordering::Relaxed);
        ToolFuture::ready(amount.map(|amount| ToolOutput::text(amount.to_string())))
    }

    fn validate(&self, arguments: &str, _: &ToolContext) -> Result<(), ToolError> {
        Self::amount(arguments).map(drop)
    }
}

/// The arguments of [`BySchema`]. Serde refuses an argument that is given twice.
#[derive(serde::Deserialize)]
struct Known {
    #[serde(rename = "amount")]
    _amount: Option<serde::de::IgnoredAny>,
    #[serde(rename = "account")]
    _account: Option<serde::de::IgnoredAny>,
}

/// A tool that leaves the check to the library, by its schema.
struct BySchema(ToolDefinition, Runs);

impl BySchema {
    fn new(name: &str, runs: &Runs) -> Self {
        let parameters = json!({
            "type": "object", "required": ["amount"],
            "properties": {
                "amount": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
                "account": {"type": ["string", "null"]},
            },
        });
        Self(ToolDefinition::new(ToolName::new(name).unwrap(), "Pays.", parameters), runs.clone())
    }

    fn amount(&self, arguments: &str) -> Result<u32, ToolError> {
        let object = &arguments[arguments.find('{').unwrap_or_default()..];
        let known = serde_json::Deserializer::from_str(object).into_iter::<Known>().next();
        if let Some(Err(twice)) = known.filter(|known| known.as_ref().is_err_and(serde_json::Error::is_data))
        {
            return Err(ToolError::invalid_json(twice));
        }
        let payment = serde_json::from_value(self.0.parse_arguments(arguments)?);
        let payment: Payment = payment.map_err(ToolError::invalid_json)?;
        self.1.0.fetch_add(1, Ordering::Relaxed);
        Ok(payment.amount + u32::from(payment.account.is_some()))
    }
}

impl Tool for BySchema {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        let amount = self.amount(arguments);
        ToolFuture::ready(amount.map(|amount| ToolOutput::text(amount.to_string())))
    }
}

impl ToolProvider for BySchema {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![self.0.clone()]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        let amount = self.amount(call.arguments.as_str());
        ToolFuture::ready(amount.map(|amount| ToolOutput::text(amount.to_string())))
    }
}

struct Remote(Runs);

impl ToolProvider for Remote {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![definition("remote")]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        let amount = ByHand::amount(call.arguments.as_str());
        self.0.0.fetch_add(usize::from(amount.is_ok()), Ordering::Relaxed);
        ToolFuture::ready(amount.map(|amount| ToolOutput::text(amount.to_string())))
    }

    fn validate(&self, call: &ToolCall, _: &ToolDefinition, _: &ToolContext) -> Result<(), ToolError> {
        ByHand::amount(call.arguments.as_str()).map(drop)
    }
}

fn definition(name: &str) -> ToolDefinition {
    ToolDefinition::new(ToolName::new(name).unwrap(), "Pays.", json!({"type": "object"}))
}

fn named(tool: impl Tool + 'static, name: &str) -> AdaptedTool {
    AdaptedTool::new(tool).with_name(ToolName::new(name).unwrap())
}

/// A tool of each kind, by name.
fn kinds(runs: &Runs) -> Vec<Arc<dyn Tool>> {
    let counted = runs.clone();
    let closure = ClosureTool::new("closure", "Pays.", move |payment: Payment| {
        counted.0.fetch_add(1, Ordering::Relaxed);
        payment.amount + u32::from(payment.account.is_some())
    });
    let counted = runs.clone();
    let later = ClosureTool::new_with_context("later", "Pays.", move |payment: Payment, _: ToolContext| {
        let counted = counted.clone();
        async move {
            counted.0.fetch_add(1, Ordering::Relaxed);
            payment.amount
        }
    });
    let sum = || [ArgumentTransform::new("amount").with_name("sum")];
    let renamed = named(pay::tool(), "renamed").with_arguments(sum()).unwrap();
    let hidden = named(pay::tool(), "hidden").with_arguments([ArgumentTransform::new("account").fixed("1")]);
    let computed = ArgumentTransform::new("account").computed(|context| match context.state::<Runs>() {
        Some(_) => Ok("1".into()),
        None => Err("no state".into()),
    });
    let computed = named(pay_whole::tool(), "computed").with_arguments([computed]).unwrap();
    let twice =
        named(named(renamed.clone(), "between"), "twice").map_metadata(|it| it.with_destructive(true));
    let shared: Arc<dyn Tool> = Arc::new(pay::tool());
    let mut kinds: Vec<Arc<dyn Tool>> = vec![
        Arc::new(pay::tool()),
        Arc::new(pay_later::tool()),
        Arc::new(pay_whole::tool()),
        Arc::new(closure.unwrap()),
        Arc::new(later.unwrap()),
        Arc::new(renamed),
        Arc::new(hidden.unwrap()),
        Arc::new(computed),
        Arc::new(twice),
        Arc::new(named(Arc::new(shared), "shared")),
        Arc::new(ByHand(definition("by_hand"), runs.clone())),
        Arc::new(BySchema::new("by_schema", runs)),
        Arc::new(named(BySchema::new("it", runs), "by_schema_renamed").with_arguments(sum()).unwrap()),
    ];
    #[cfg(feature = "jsonschema")]
    {
        let also_counted = runs.clone();
        let schema = json!({
            "type": "object", "required": ["amount"], "additionalProperties": false,
            "properties": {"amount": {"type": "integer", "minimum": 0}, "account": {"type": ["string", "null"]}},
        });
        let dynamic = toolkit_ai::DynamicTool::new("dynamic", "Pays.", schema, move |args| {
            also_counted.0.fetch_add(1, Ordering::Relaxed);
            args.to_string()
        });
        kinds.push(Arc::new(dynamic.unwrap()));
    }
    kinds
}

/// A tool of each kind, also within every wrapper and container.
fn registry(runs: &Runs) -> ToolRegistry {
    let mut registry = ToolRegistry::from_tools(kinds(runs)).unwrap();
    registry.register_all(Arc::new(Bank(runs.clone()))).unwrap();
    registry.register_provider(Arc::new(Remote(runs.clone()))).unwrap();
    registry.register_provider(BySchema::new("remote_by_schema", runs)).unwrap();
    let all = registry.with_state(runs.clone());
    let within = |namespace: &str, registry: &ToolRegistry| {
        registry.viewed(&RegistryView::new().in_namespace(namespace, Separator::Dash)).unwrap()
    };
    // Other state of this type, so that merged tools bring their own.
    let mut registry = ToolRegistry::new().with_state(Runs::default()).with_tool_search();
    registry.merge(all.clone()).unwrap();
    registry.merge(within("viewed", &all)).unwrap();
    registry.merge(within("remerged", &registry.filtered(&only("viewed-*")))).unwrap();
    registry.register_provider(Dispatcher::new(within("nested", &all)).unwrap()).unwrap();
    registry
        .register_provider(
            Dispatcher::new(within("nested_bound", &registry.filtered(&only("viewed-*")))).unwrap(),
        )
        .unwrap();
    let deferred = RegistryView::new().map_metadata(|_, metadata| metadata.with_defer(true));
    registry.merge(within("deferred", &all).viewed(&deferred).unwrap()).unwrap();
    registry
}

fn only(pattern: &str) -> toolkit_ai::ToolFilter {
    toolkit_ai::ToolFilter::new().include([pattern]).unwrap()
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
    let (dispatcher, asked) = asking(&runs, Approval::Approve);
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
    let (dispatcher, asked) = asking(&runs, Approval::ApproveForSession);
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
    let of_search = prop::sample::select(vec![
        r#""query": "pay""#,
        r#""query": "  ""#,
        r#""top_k": 3"#,
        r#""top_k": 0"#,
        r#""_target_tool": "deferred-pay""#,
        r#""_target_tool": "deferred-renamed""#,
        r#""_target_tool": "nope""#,
        r#""arguments": {"amount": 1}"#,
    ]);
    let member = prop_oneof![4 => member, 1 => of_search.prop_map(str::to_owned)];
    let object =
        prop::collection::vec(member, 0..3).prop_map(|members| format!("{{{}}}", members.join(", ")));
    let broken =
        prop::sample::select(vec!["", "null", "[]", "{", "7", r#""{\"amount\": 1}""#, r#"[{"amount": 1}]"#]);
    prop_oneof![6 => object, 1 => broken.prop_map(str::to_owned)]
}

fn names(registry: &ToolRegistry) -> Vec<String> {
    registry
        .names()
        .map(str::to_owned)
        .chain(["discover_tools", "call_deferred"].map(str::to_owned))
        .collect()
}

#[test]
fn every_kind_of_tool_is_among_the_tools() {
    let registry = registry(&Runs::default());
    let names = names(&registry);
    for prefix in ["", "viewed-", "remerged-", "nested-", "nested_bound-", "deferred-"] {
        let by_function = ["pay", "pay_later", "pay_whole", "closure", "twice", "shared"];
        let by_hand = ["by_hand", "remote", "by_schema", "by_schema_renamed", "remote_by_schema"];
        for kind in by_function.into_iter().chain(by_hand) {
            assert!(names.contains(&format!("{prefix}{kind}")), "{prefix}{kind} among {names:?}");
        }
    }
}

/// The search tools themselves: a registry calls the target of `call_deferred` directly.
#[test]
fn a_search_tool_refuses_in_its_check_what_it_refuses_in_a_call() {
    let registry = registry(&Runs::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for name in ["discover_tools", "call_deferred"] {
        let tool = registry.get(name).unwrap();
        let context = ToolContext::new(tool.definition().name.clone());
        for text in [
            "{}",
            "[",
            r#"{"query": "pay"}"#,
            r#"{"query": " "}"#,
            r#"{"query": "pay", "top_k": 0}"#,
            r#"{"query": "pay", "other": 0}"#,
            r#"{"_target_tool": 5}"#,
            r#"{"_target_tool": "nope"}"#,
            r#"{"_target_tool": "pay"}"#,
            r#"{"_target_tool": "deferred-by_hand"}"#,
            r#"{"_target_tool": "deferred-by_hand", "amount": 7}"#,
        ] {
            let registry = ToolRegistry::from_tools([tool.clone()]).unwrap();
            let called = runtime.block_on(registry.call(name, text)).map(drop);
            assert_eq!(tool.validate(text, &context), called, "{name} {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_check_returns_the_error_that_the_call_would_have(texts in prop::collection::vec(arguments(), 6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let runs = Runs::default();
        let registry = registry(&runs);
        let (dispatcher, asked) = asking(&runs, Approval::Deny("no".to_owned()));
        for (tool, text) in names(&registry).iter().flat_map(|tool| texts.iter().map(move |text| (tool, text))) {
            let before = count(&runs);
            let checked = registry.validate(tool, text);
            prop_assert_eq!(count(&runs), before, "a check runs nothing");
            let called = runtime.block_on(registry.call(tool, text));
            match (&checked, &called) {
                (Ok(()), Ok(_)) => {}
                (Ok(()), Err(error)) => prop_assert!(!is_invalid(error), "{tool} {text}: {error}"),
                (Err(_), Err(error)) if tool.contains("by_schema") => prop_assert!(is_invalid(error)),
                (Err(expected), called) => prop_assert_eq!(called.as_ref().err(), Some(expected)),
            }
            let before = count(&asked);
            runtime.block_on(dispatcher.dispatch([ToolCall::new("1", tool.as_str(), text.as_str())]));
            prop_assert_eq!(count(&asked) - before, usize::from(checked.is_ok()), "{} {}", tool, text);
        }
    }
}
