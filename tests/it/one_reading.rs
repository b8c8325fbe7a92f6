//! One reading of each call: rules, checks and tools read the same arguments, and every published rule is checked.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::definition::UnknownArguments;
use toolkit::middleware::{Approval, PermissionRule, Permissions};
use toolkit::prelude::*;
use toolkit::{ClosureTool, ErrorKind, ToolDefinition, ToolFuture, ToolName, ToolParams, ToolProvider};

/// Values that a tool has decoded, or that rules have read.
type Values = Arc<Mutex<Vec<Value>>>;

macro_rules! types {
    ($($item:item)*) => {
        $(#[derive(Serialize, Deserialize, JsonSchema)] $item)*
    };
}

types! {
    struct In<T> { it: T }
    struct Number {
        #[serde(alias = "count")]
        #[schemars(range(max = 9))]
        number: i64,
    }
    struct Flat {
        id: Option<u8>,
        #[serde(flatten)]
        rest: Number,
    }
    struct Around {
        #[serde(alias = "within")]
        inner: Option<Number>,
    }
    #[serde(untagged)]
    enum Either { Number(Number), Text { text: String } }
    enum External {
        #[serde(alias = "Count")]
        Number(#[schemars(range(max = 9))] i64),
    }
    struct Account {
        #[serde(alias = "id")]
        account: String,
    }
    struct Path { path: String }
    #[serde(untagged)]
    enum Target { Path(Path), Paths(Vec<String>) }
    #[serde(untagged)]
    enum Move { Between { from: String, to: String }, Paths(Vec<Path>), All(Vec<String>) }
}

/// A tool that notes the values it has decoded.
fn tool<T>(decoded: &Values) -> Arc<dyn Tool>
where
    T: Serialize + DeserializeOwned + JsonSchema + Send + 'static,
    In<T>: ToolParams,
{
    let decoded = decoded.clone();
    let note = move |given: In<T>| decoded.lock().unwrap().push(json!(given));
    Arc::new(ClosureTool::new("note", "Notes a value.", note).unwrap())
}

/// Types with aliases that no schema lists, each with the text around a number under such an alias.
fn aliased(decoded: &Values) -> Vec<(Arc<dyn Tool>, &'static str, &'static str)> {
    vec![
        (tool::<Number>(decoded), r#"{"count": "#, "}"),
        (tool::<Option<Number>>(decoded), r#"{"count": "#, "}"),
        (tool::<Vec<Number>>(decoded), r#"[{"number": 1}, {"count": "#, "}]"),
        (tool::<BTreeMap<String, Number>>(decoded), r#"{"a": {"count": "#, "}}"),
        (tool::<Flat>(decoded), r#"{"id": 1, "count": "#, "}"),
        (tool::<Around>(decoded), r#"{"inner": {"count": "#, "}}"),
        (tool::<Around>(decoded), r#"{"within": {"number": "#, "}}"),
        (tool::<Either>(decoded), r#"{"count": "#, "}"),
        (tool::<External>(decoded), r#"{"Count": "#, "}"),
    ]
}

async fn dispatch(dispatcher: &Dispatcher, it: &str) -> ToolResult {
    let call = ToolCall::new("1", "note", format!(r#"{{"it": {it}}}"#));
    dispatcher.dispatch([call]).await.remove(0)
}

#[tokio::test]
async fn a_member_that_no_schema_lists_is_refused() {
    let decoded = Values::default();
    let mut accepted = Vec::new();
    for (tool, before, after) in aliased(&decoded) {
        let deny = PermissionRule::deny("8").when(|_, it| it.to_string().contains(r#""number":8"#));
        let rules = Permissions::new().rule(deny).rule(PermissionRule::allow());
        let registry = ToolRegistry::from_tools([tool]).unwrap();
        let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(rules);
        for number in ["5", "8", "50", r#""50""#, "50.0"] {
            let it = format!("{before}{number}{after}");
            let result = dispatch(&dispatcher, &it).await;
            if result.error().is_none_or(|error| error.kind() != ErrorKind::InvalidArguments) {
                accepted.push(it);
            }
        }
    }
    assert_eq!((accepted, decoded.lock().unwrap().split_off(0)), (Vec::new(), Vec::new()));
}

/// Returns whether a closure, called with `{"it": …}`, runs alone and if a rule reads the arguments.
async fn runs<T>(it: &str, ignores_unknown: bool) -> (bool, bool)
where
    T: Serialize + DeserializeOwned + JsonSchema + Send + 'static,
    In<T>: ToolParams,
{
    let tool = ClosureTool::new("note", "Notes a value.", |given: In<T>| json!(given)).unwrap();
    let unknown = if ignores_unknown { UnknownArguments::Ignore } else { UnknownArguments::Refuse };
    let tool = tool.with_metadata(|metadata| metadata.with_unknown(unknown));
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool]).unwrap()).unwrap();
    let rules =
        Permissions::new().rule(PermissionRule::deny("no").when(|_, _| false)).rule(PermissionRule::allow());
    let alone = dispatch(&dispatcher, it).await;
    let ruled = dispatch(&dispatcher.with_middleware(rules), it).await;
    assert_eq!(alone.to_text(), ruled.to_text(), "{it}");
    (!alone.is_error(), !ruled.is_error())
}

types! {
    #[schemars(transparent)]
    struct Word(#[schemars(extend("enum" = ["a\\b", "c"]))] String);
    #[schemars(transparent)]
    struct Only(#[schemars(extend("const" = "a"))] Option<String>);
    struct Skipped { #[schemars(skip)] a: Option<i64> }
    struct Empty {}
    #[serde(untagged)]
    enum Optional { Limited { #[serde(alias = "bb")] #[schemars(range(max = 5))] b: Option<i64> }, Text(String) }
    struct Defaulted { #[serde(default = "five")] #[schemars(with = "i64")] y: Option<i64> }
    struct Inner { #[serde(default = "five", skip_serializing_if = "Option::is_none")] y: Option<i64> }
    struct Outer { #[serde(default = "none")] inner: Inner }
    struct Wide { #[schemars(with = "f64")] w: u128 }
}

fn five() -> Option<i64> {
    Some(5)
}

fn none() -> Inner {
    Inner { y: None }
}

#[tokio::test]
async fn what_the_schema_refuses_does_not_run_with_or_without_a_rule() {
    assert_eq!(runs::<Word>(r#""a\\b""#, false).await, (true, true));
    assert_eq!(runs::<Word>(r#""a\b""#, false).await, (false, false));
    assert_eq!(runs::<Vec<Only>>(r#"["a"]"#, false).await, (true, true));
    assert_eq!(runs::<Vec<Only>>("[null]", false).await, (false, false));
    for it in [r#"{"a": 7}"#, r#"{"z": 1}"#] {
        assert_eq!(runs::<Skipped>(it, false).await, (false, false));
        assert_eq!(runs::<Empty>(it, false).await, (false, false));
    }
    assert_eq!(runs::<Optional>(r#"{"b": 3}"#, true).await, (true, true));
    assert_eq!(runs::<Optional>(r#"{"bb": 100}"#, true).await, (false, false));
    assert_eq!(runs::<Defaulted>(r#"{"y": null}"#, false).await, (true, true));
    assert_eq!(runs::<Outer>("{}", false).await, (true, true));
}

#[tokio::test]
async fn a_rule_reads_no_rounded_number() {
    let tool = ClosureTool::new("note", "Notes a value.", |given: In<Wide>| given.it.w.to_string()).unwrap();
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool]).unwrap()).unwrap();
    let it = r#"{"w": 1267650600228229401496703205377}"#;
    assert_eq!(dispatch(&dispatcher, it).await.to_text(), "1267650600228229401496703205377");
    let rules =
        Permissions::new().rule(PermissionRule::deny("no").when(|_, _| false)).rule(PermissionRule::allow());
    let ruled = dispatch(&dispatcher.with_middleware(rules), it).await;
    assert!(ruled.to_text().contains("`it.w`: expected integer of at most 64 bits"), "{}", ruled.to_text());
}

#[tokio::test]
async fn a_required_argument_of_a_view_is_required() {
    #[tool(register = false)]
    fn take(a: Option<String>, #[param(default = 5)] n: i64) -> String {
        format!("{a:?} {n}")
    }

    use toolkit::{AdaptedTool, ArgumentTransform};
    let changes = ["a", "n"].map(|name| ArgumentTransform::of(name).required());
    let view = AdaptedTool::new(take::tool()).with_arguments(changes).unwrap();
    let registry = ToolRegistry::from_tools([view]).unwrap();
    for arguments in ["{}", r#"{"a": "x"}"#, r#"{"a": null, "n": null}"#] {
        let error = registry.call("take", arguments).await.unwrap_err();
        let is_null = arguments.contains("null") && error.to_string().contains("expected string, got null");
        assert!(is_null || error.to_string().contains("required, but missing"), "{arguments}: {error}");
    }
    assert_eq!(registry.call("take", r#"{"a": "x", "n": 1}"#).await.unwrap().to_text(), r#"Some("x") 1"#);
}

#[test]
fn a_value_deeper_than_the_stack_is_refused() {
    /// Any value, which the parser skips.
    #[derive(Debug)]
    struct Raw;

    impl<'de> Deserialize<'de> for Raw {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
        }
    }

    impl JsonSchema for Raw {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Raw".into()
        }

        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            true.into()
        }
    }

    #[tool(register = false)]
    fn raw(r: Raw) -> String {
        format!("{r:?}")
    }

    let call = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let registry = ToolRegistry::from_tools([raw::tool()]).unwrap();
        for levels in [100, 127, 40_000] {
            let arguments = format!(r#"{{"r":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
            let outcome = runtime.block_on(registry.call("raw", arguments));
            assert_eq!(outcome.is_ok(), levels == 100, "{levels}: {outcome:?}");
            assert!(outcome.err().is_none_or(|error| !error.violations().is_empty()));
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(call).unwrap().join().unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_alias_splits_a_lane() {
    let running = Arc::new(());
    let pay = move |_: Account| {
        let mine = running.clone();
        async move {
            let others = Arc::strong_count(&mine) - 2;
            tokio::time::sleep(Duration::from_secs(1)).await;
            others
        }
    };
    let pay = ClosureTool::new("pay", "Pays.", pay).unwrap().with_metadata(|it| it.with_lane("account"));
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([pay]).unwrap()).unwrap();
    for arguments in [r#"{"account": "a"}"#, r#"{"id": "a"}"#] {
        let calls = [r#"{"account": "a"}"#, arguments].map(|arguments| ToolCall::new("1", "pay", arguments));
        let results = dispatcher.dispatch(calls).await;
        let is_alone = |result: &ToolResult| result.is_error() || result.to_text() == "0";
        assert!(results.iter().all(is_alone), "{results:?}");
    }
}

/// Types that serde reads in more than one form, with values.
fn forms(decoded: &Values) -> Vec<(Arc<dyn Tool>, &'static [&'static str])> {
    vec![
        (tool::<Target>(decoded), &[r#"["/a"]"#, r#"{"path": "/a"}"#, r#"["/a", "/b"]"#, "[]"]),
        (tool::<Vec<Target>>(decoded), &[r#"[["/a"], {"path": "/a"}]"#]),
        (tool::<Move>(decoded), &[r#"["/a", "/b"]"#, r#"{"from": "/a", "to": "/b"}"#, r#"["/a"]"#]),
        (tool::<Vec<Move>>(decoded), &[r#"[["/a", "/b"]]"#, r#"[{"from": "/a", "to": "/b"}]"#]),
    ]
}

#[tokio::test]
async fn rules_approvers_and_the_tool_read_the_same_value() {
    let decoded = Values::default();
    let read = Values::default();
    for (tool, values) in forms(&decoded) {
        let [by_rule, by_approver] = [read.clone(), read.clone()];
        let ask = PermissionRule::ask("each").when(move |_, arguments| {
            by_rule.lock().unwrap().push(arguments.clone());
            true
        });
        let permissions = Permissions::new().rule(ask).with_handler(move |question| {
            by_approver.lock().unwrap().push(question.arguments);
            async { Approval::Granted }
        });
        let registry = ToolRegistry::from_tools([tool]).unwrap();
        let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(permissions);
        for it in values {
            let _ = dispatch(&dispatcher, it).await;
            let decoded = decoded.lock().unwrap().split_off(0);
            let read = read.lock().unwrap().split_off(0);
            // A value whose form is unclear may be refused.
            let is_same = |decoded: &Value| read.iter().all(|read| read == decoded);
            assert!(decoded.iter().all(is_same), "{it}: {read:?}, {decoded:?}");
        }
    }
}

#[cfg(feature = "cache")]
#[tokio::test]
async fn calls_are_the_same_if_and_only_if_the_tool_decodes_the_same_value() {
    use toolkit::middleware::{Cache, Deduplicate};
    let decoded = Values::default();
    let mut ran = 0;
    for (tool, values) in forms(&decoded) {
        let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool]).unwrap()).unwrap();
        let calls = || values.iter().map(|it| ToolCall::new("1", "note", format!(r#"{{"it": {it}}}"#)));
        dispatcher.dispatch(calls()).await;
        let alone = decoded.lock().unwrap().split_off(0);
        let cache = Cache::new(99).for_tool("*").unwrap();
        for once in
            [dispatcher.clone().with_middleware(Deduplicate::new()), dispatcher.with_middleware(cache)]
        {
            let results = once.dispatch(calls()).await;
            let mut distinct: Vec<&Value> = Vec::new();
            for (value, result) in alone.iter().zip(results) {
                // A value whose form is unclear may be refused.
                if !result.is_error() && !distinct.contains(&value) {
                    distinct.push(value);
                }
            }
            assert_eq!(decoded.lock().unwrap().split_off(0).iter().collect::<Vec<_>>(), distinct);
            ran += distinct.len();
        }
    }
    assert_eq!(ran, 12);
}

#[cfg(feature = "jsonschema")]
#[tokio::test]
async fn a_dynamic_tool_checks_formats() {
    for (format, good, bad) in [
        ("date", "2026-11-26", "2026-13-26"),
        ("email", "a@example.com", "a at example.com"),
        ("uuid", "67e55044-10b1-426f-9247-bb680e5fe0c8", "67e55044"),
    ] {
        let schema = json!({"type": "object", "properties": {"it": {"type": "string", "format": format}}});
        let tool = toolkit::DynamicTool::new("note", "", schema, |it: Value| it.to_string()).unwrap();
        let registry = ToolRegistry::from_tools([tool]).unwrap();
        assert!(registry.call("note", json!({"it": good}).to_string()).await.is_ok(), "{format}");
        let error = registry.call("note", json!({"it": bad}).to_string()).await.unwrap_err().to_string();
        assert!(error.contains("`it`") && error.contains(format), "{error}");
    }
}

/// A server with a schema of its own.
struct Server(Value);

impl ToolProvider for Server {
    fn tools(&self) -> Vec<ToolDefinition> {
        let name = ToolName::new("remote").unwrap();
        vec![ToolDefinition::new(name, "Remote.", json!({"type": "object", "properties": {"it": self.0}}))]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(call.arguments.to_string().into()))
    }
}

#[test]
fn a_faulty_schema_of_a_provider_is_an_error_that_names_the_tool_and_the_place() {
    for faulty in [
        json!({"type": "intger", "maximum": 5}),
        json!({"type": "integer", "minimum": "1"}),
        json!({"type": "string", "pattern": "("}),
        json!({"type": "object", "required": "a"}),
        json!({"$ref": "#/$defs/missing"}),
    ] {
        let registered = ToolRegistry::new().register_provider(Server(faulty.clone()));
        let error = registered.expect_err(&faulty.to_string()).to_string();
        assert!(error.contains("`remote`") && error.contains("properties/it"), "{error}");
    }
}
