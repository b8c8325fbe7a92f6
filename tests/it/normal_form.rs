//! Rules, lanes, caches and tools read the same arguments: own names, coerced, with defaults.

use super::calling::{denying, dispatched, dispatcher_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_ai::middleware::{Approval, Cache, Deduplicate, PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, ClosureTool, ErrorKind, ToolDefinition, ToolFuture, ToolName,
    ToolProvider,
};

/// A file and what is done to it.
#[derive(Debug, Serialize, ToolParams)]
struct Opened {
    #[serde(alias = "p")]
    path: String,
    #[param(default = 2)]
    times: u8,
}

#[derive(Debug, Serialize, ToolParams)]
enum Act {
    Delete {
        #[serde(alias = "p")]
        path: String,
    },
    #[serde(alias = "rm")]
    Remove(Opened),
}

#[derive(Debug, Serialize, ToolParams)]
#[serde(tag = "kind")]
enum Tagged {
    #[serde(alias = "rm")]
    Remove {
        #[serde(alias = "p")]
        path: String,
    },
}

#[derive(Debug, Serialize, ToolParams)]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    #[serde(alias = "rm")]
    Remove(Opened),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToolParams)]
enum Mode {
    Read,
    #[serde(alias = "rm")]
    Remove,
}

/// Values in every form.
#[derive(Debug, Serialize, ToolParams)]
struct Forms {
    #[serde(skip_serializing_if = "Option::is_none")]
    one: Option<Opened>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<Opened>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<Act>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tagged: Option<Tagged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjacent: Option<Adjacent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<BTreeMap<Mode, String>>,
}

/// Returns a normal form, and texts with this form.
fn spellings() -> Vec<(Value, Vec<&'static str>)> {
    let opened = json!({"path": "/etc", "times": 2});
    vec![
        (
            json!({"one": opened}),
            vec![
                r#"{"one": {"p": "/etc"}}"#,
                r#"{"one": {"times": "2.0", "p": "/etc"}}"#,
                r#"{"one": "{\"p\":\"/etc\"}"}"#,
                r#"[{"one": "```json\n{\"p\":\"/etc\"}\n```"}]"#,
            ],
        ),
        (
            json!({"list": [opened]}),
            vec![r#"{"list": "[{\"p\":\"/etc\"}]"}"#, r#"{"list": ["{\"p\":\"/etc\"}"]}"#],
        ),
        (
            json!({"act": {"Delete": {"path": "/etc"}}}),
            vec![r#"{"act": {"delete": {"p": "/etc"}}}"#, r#"{"act": {"Delete": "{\"p\":\"/etc\"}"}}"#],
        ),
        (json!({"act": {"Remove": opened}}), vec![r#"{"act": {"rm": {"p": "/etc"}}}"#]),
        (
            json!({"tagged": {"kind": "Remove", "path": "/etc"}}),
            vec![
                r#"{"tagged": {"kind": "rm", "p": "/etc"}}"#,
                r#"{"tagged": "{\"kind\":\"remove\",\"p\":\"/etc\"}"}"#,
            ],
        ),
        (
            json!({"adjacent": {"kind": "Remove", "of": opened}}),
            vec![r#"{"adjacent": {"of": {"p": "/etc"}, "kind": "rm"}}"#],
        ),
        (json!({"mode": "Remove"}), vec![r#"{"mode": "rm"}"#, r#"{"mode": "REMOVE"}"#]),
        (json!({"limits": {"Remove": "5"}}), vec![r#"{"limits": {"remove": 5}}"#]),
    ]
}

type Notes = Arc<Mutex<Vec<Value>>>;

fn noting(notes: &Notes) -> ClosureTool {
    let notes = notes.clone();
    let note = move |forms: Forms| notes.lock().expect("no panic").push(json!(forms));
    ClosureTool::new("note", "", note).expect("an object")
}

#[tokio::test]
async fn rules_approvers_and_the_tool_read_the_same_value() {
    let [decoded, by_rule, by_approver] = [Notes::default(), Notes::default(), Notes::default()];
    let rule = {
        let notes = by_rule.clone();
        PermissionRule::ask("each").when(move |_, arguments| {
            notes.lock().expect("no panic").push(arguments.clone());
            true
        })
    };
    let notes = by_approver.clone();
    let permissions = Permissions::new().rule(rule).with_handler(move |question| {
        notes.lock().expect("no panic").push(question.arguments);
        async { Approval::Approve }
    });
    let dispatcher = dispatcher_of(Arc::new(noting(&decoded))).with_middleware(permissions);
    for (own, spellings) in spellings() {
        for text in spellings.into_iter().map(str::to_owned).chain([own.to_string()]) {
            assert!(dispatched(&dispatcher, &text).await.error().is_none(), "{text}");
            for notes in [&decoded, &by_rule, &by_approver] {
                let read = std::mem::take(&mut *notes.lock().expect("no panic"));
                assert!(!read.is_empty() && read.iter().all(|read| *read == own), "{text}: {read:?}");
            }
        }
    }
}

#[tokio::test]
async fn calls_with_one_normal_form_are_the_same_call() {
    let decoded = Notes::default();
    let dispatcher = dispatcher_of(Arc::new(noting(&decoded)));
    let cache = Cache::new(99).for_tool("*").expect("a pattern");
    for once in [dispatcher.clone().with_middleware(Deduplicate::new()), dispatcher.with_middleware(cache)] {
        let all = spellings();
        let calls = all.iter().flat_map(|(own, spellings)| {
            spellings.iter().map(|text| (*text).to_owned()).chain([own.to_string()])
        });
        once.dispatch(calls.map(|text| ToolCall::new("1", "note", text))).await;
        let read = std::mem::take(&mut *decoded.lock().expect("no panic"));
        assert_eq!(read, all.iter().map(|(own, _)| own.clone()).collect::<Vec<_>>());
    }
}

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Works on a file.
#[tool(register = false, lane = "file")]
async fn work(file: Opened) -> String {
    MOST.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(10)).await;
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    format!("{} {}", file.path, file.times)
}

#[tokio::test(start_paused = true)]
async fn a_lane_is_the_same_however_its_value_is_written() {
    let name = |name| ToolName::new(name).expect("a legal name");
    let renamed = AdaptedTool::new(work::tool()).with_name(name("renamed"));
    let renamed = renamed.with_arguments([ArgumentTransform::new("file").with_name("of")]).expect("legal");
    let fixed = ArgumentTransform::new("file").fixed(json!({"path": "/a", "times": 2}));
    let hidden =
        AdaptedTool::new(work::tool()).with_name(name("hidden")).with_arguments([fixed]).expect("legal");
    let tools: [Arc<dyn Tool>; 3] = [Arc::new(work::tool()), Arc::new(renamed), Arc::new(hidden)];
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools(tools).expect("three tools")).expect("complete");
    let mut calls = vec![ToolCall::new("0", "hidden", "{}")];
    for spelling in [r#"{"path":"/a"}"#, r#"{"times":"2.0","p":"/a"}"#, r#""{\"p\":\"/a\"}""#] {
        calls.push(ToolCall::new("1", "work", format!("{{\"file\": {spelling}}}")));
        calls.push(ToolCall::new("2", "renamed", format!("{{\"of\": {spelling}}}")));
    }
    let results = dispatcher.dispatch(calls).await;
    assert!(results.iter().all(|result| result.to_text() == "/a 2"), "{results:?}");
    assert_eq!(MOST.load(Ordering::SeqCst), 1);
    let calls =
        ["/a", "/b"].map(|path| ToolCall::new("1", "work", json!({"file": {"path": path}}).to_string()));
    dispatcher.dispatch(calls).await;
    assert_eq!(MOST.load(Ordering::SeqCst), 2, "other values have other lanes");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Path {
    path: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Target {
    Path(Path),
    Paths(Vec<String>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct To {
    to: Target,
}

/// Serde decodes a list as an earlier variant's struct, too.
#[tokio::test]
async fn a_list_that_may_be_a_struct_is_refused_where_a_rule_reads_it() {
    let tool = ClosureTool::new("go", "", |to: To| json!(to).to_string()).expect("an object");
    let dispatcher = dispatcher_of(Arc::new(tool)).with_middleware(denying(|_| false));
    for (arguments, fits) in [(r#"{"to": {"path": "/a"}}"#, true), (r#"{"to": ["/a"]}"#, false)] {
        let result = dispatched(&dispatcher, arguments).await;
        assert_eq!(result.error().is_none(), fits, "{arguments}: {result:?}");
    }
}

fn by_hand() -> ToolDefinition {
    let path = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {
        "path": path, "at": {"type": "object", "properties": {"path": path}},
    }});
    ToolDefinition::new(ToolName::new("open").expect("legal"), "Opens.", schema).with_alias("file", "path")
}

/// A tool that leaves the check of arguments to the library.
struct Written(ToolDefinition);

impl Tool for Written {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(arguments.into()))
    }
}

struct Server;

impl ToolProvider for Server {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![by_hand()]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(call.arguments.to_string().into()))
    }
}

#[tokio::test]
async fn no_tool_written_by_hand_receives_a_value_that_permissions_have_not_judged() {
    let written = ToolRegistry::from_tools([Written(by_hand())]).expect("one tool");
    let mut server = ToolRegistry::new();
    server.register_provider(Server).expect("legal");
    for registry in [written, server] {
        let is_secret = |path: &Value| path.as_str().is_some_and(|path| path.starts_with("/secret"));
        let deny = denying(move |it| is_secret(&it["path"]) || is_secret(&it["at"]["path"]));
        let dispatcher = Dispatcher::new(registry).expect("complete").with_middleware(deny);
        for (text, kind) in [
            (r#"{"file": "/project/x"}"#, None),
            (r#"{"path": "/secret"}"#, Some(ErrorKind::Denied)),
            (r#"{"file": "/secret"}"#, Some(ErrorKind::Denied)),
            (r#"{"p\u0061th": "/secret"}"#, Some(ErrorKind::Denied)),
            (r#"{"at": {"path": "/secret"}}"#, Some(ErrorKind::Denied)),
            (r#"{"path": "/secret", "file": "/project/x"}"#, Some(ErrorKind::InvalidArguments)),
            (r#"{"path": "/secret", "path": "/project/x"}"#, Some(ErrorKind::InvalidArguments)),
            (r#"{"at": {"path": "/secret", "path": "/project/x"}}"#, Some(ErrorKind::InvalidArguments)),
        ] {
            let result = dispatched(&dispatcher, text).await;
            assert_eq!(result.error().map(ToolError::kind), kind, "{text}: {result:?}");
        }
    }
}

/// Does something to the documents of a customer.
#[tool(register = false)]
fn change(#[param(one_of = ["read", "delete"])] action: String, customer: u32) -> String {
    format!("{action} for {customer}")
}

#[derive(Debug, Clone)]
struct LoggedIn(u32);

/// Without the call's context, the tool cannot tell which arguments it takes.
#[tokio::test]
async fn conditions_read_coerced_words_although_another_argument_is_computed() {
    let customer = ArgumentTransform::new("customer").computed(|context| match context.state::<LoggedIn>() {
        Some(user) => Ok(user.0.into()),
        None => Err("nobody is logged in".into()),
    });
    let adapted = AdaptedTool::new(change::tool()).with_arguments([customer]).expect("an argument");
    let registry = ToolRegistry::from_tools([adapted]).expect("one tool").with_state(LoggedIn(7));
    let deny = denying(|arguments| arguments["action"] == "delete");
    let dispatcher = Dispatcher::new(registry).expect("complete").with_middleware(deny);
    for (action, is_run) in [("Read", true), ("delete", false), ("Delete", false)] {
        let result = dispatched(&dispatcher, &json!({"action": action}).to_string()).await;
        assert_eq!(result.error().is_none(), is_run, "{action}: {result:?}");
    }
}
