//! One reading of each call: rules, checks and tools read the same arguments, and every published rule is checked.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
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
    let (decoded, read) = (Values::default(), Values::default());
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
            let (decoded, read) = (decoded.lock().unwrap().split_off(0), read.lock().unwrap().split_off(0));
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
