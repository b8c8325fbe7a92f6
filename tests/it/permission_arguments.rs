//! Conditions of permissions judge the arguments that the tool reads.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::runtime::Builder;
use toolkit::middleware::{Approval, PermissionRule, Permissions};
use toolkit::prelude::*;
use toolkit::{
    AdaptedTool, ArgumentTransform, ClosureTool, ErrorKind, ToolDefinition, ToolFuture, ToolName,
    ToolProvider,
};

/// The texts of the calls that a tool has received.
type Received = Arc<Mutex<Vec<String>>>;

fn definition() -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"}, "at": {"type": "object", "properties": {"path": {"type": "string"}}},
    }});
    ToolDefinition::new(ToolName::new("open").expect("legal"), "Opens.", schema).with_alias("file", "path")
}

/// A tool written by hand, which parses its arguments in its own way and leaves their check to the library.
struct Written(ToolDefinition, Received);

impl Tool for Written {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        self.1.lock().unwrap().push(arguments.to_owned());
        ToolFuture::ready(Ok("opened".into()))
    }
}

/// A server with such a tool.
struct Server(Received);

impl ToolProvider for Server {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![definition()]
    }

    fn handle<'a>(&'a self, call: ToolCall, _: &'a ToolContext) -> ToolFuture<'a> {
        self.0.lock().unwrap().push(call.arguments.to_string());
        ToolFuture::ready(Ok("opened".into()))
    }
}

fn dispatchers(received: &Received) -> [Dispatcher; 2] {
    let written = ToolRegistry::from_tools([Written(definition(), received.clone())]).expect("one tool");
    let mut server = ToolRegistry::new();
    server.register_provider(Server(received.clone())).expect("legal");
    [written, server].map(|registry| {
        let is_inside = |path: &Value| path.as_str().is_none_or(|path| path.starts_with("/project/"));
        let in_project = PermissionRule::allow()
            .when(move |_, arguments| is_inside(&arguments["path"]) && is_inside(&arguments["at"]["path"]));
        let permissions = Permissions::new()
            .rule(in_project)
            .rule(PermissionRule::ask("elsewhere"))
            .with_handler(|question| async move {
                // The human reads the arguments of the request.
                if question.arguments.to_string().contains("secret") {
                    Approval::Refused("secret".to_owned())
                } else {
                    Approval::Granted
                }
            });
        Dispatcher::new(registry).expect("complete").with_middleware(permissions)
    })
}

/// Members of the arguments: each of a few names with each kind of path, in any order and number.
fn members() -> impl Strategy<Value = Vec<String>> {
    let member = |names: &'static [&str]| {
        let path = prop_oneof![Just("/project/a"), Just("/public/b"), Just("/secret/c")];
        (proptest::sample::select(names), path).prop_map(|(name, path)| format!(r#""{name}":"{path}""#))
    };
    let nested = proptest::collection::vec(member(&["path", "p\\u0061th", "other"]), 0..3);
    let member = member(&["path", "file", "p\\u0061th", "other"]);
    let nested = nested.prop_map(|members| format!(r#""at":{{{}}}"#, members.join(",")));
    proptest::collection::vec(prop_oneof![4 => member, 1 => nested], 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_tool_receives_a_value_that_permissions_have_not_judged(members in members()) {
        let text = format!("{{{}}}", members.join(","));
        let received = Received::default();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        for dispatcher in dispatchers(&received) {
            let results = runtime.block_on(dispatcher.dispatch([ToolCall::new("1", "open", text.as_str())]));
            let was_received = !received.lock().unwrap().is_empty();
            received.lock().unwrap().clear();
            prop_assert_eq!(results[0].is_error(), !was_received);
            let reads_secret = [r#"th":"/secret"#, r#"file":"/secret"#].iter().any(|secret| text.contains(secret));
            prop_assert!(!(reads_secret && was_received), "{}", text);
        }
    }
}

#[tokio::test]
async fn an_argument_given_twice_is_refused_before_the_rules() {
    let received = Received::default();
    for dispatcher in dispatchers(&received) {
        for (text, name) in [
            (r#"{"path": "/etc/passwd", "file": "/project/x"}"#, "path"),
            (r#"{"path": "/etc/passwd", "path": "/project/x"}"#, "path"),
            (r#"{"at": {"path": "/etc/passwd", "path": "/project/x"}}"#, "at.path"),
        ] {
            let results = dispatcher.dispatch([ToolCall::new("1", "open", text)]).await;
            let error = results[0].error().expect("refused");
            assert_eq!(error.kind(), ErrorKind::InvalidArguments);
            assert!(
                error.message().contains(&format!("`{name}`: given twice; give it once")),
                "{}",
                error.message()
            );
        }
        let results = dispatcher.dispatch([ToolCall::new("1", "open", r#"{"file": "/project/x"}"#)]).await;
        assert_eq!(results[0].to_text(), "opened");
    }
}

/// Does something to the documents of a customer.
#[tool(register = false)]
fn change(#[param(one_of = ["read", "delete"])] action: String, customer: u32) -> String {
    format!("{action} for {customer}")
}

#[derive(Debug, Clone)]
struct LoggedIn(u32);

/// Without the call's context, such a tool cannot tell which arguments it takes.
#[tokio::test]
async fn conditions_read_coerced_words_although_another_argument_is_computed() {
    let customer = ArgumentTransform::of("customer").computed(|context| match context.state::<LoggedIn>() {
        Some(user) => Ok(user.0.into()),
        None => Err("nobody is logged in".into()),
    });
    let adapted = AdaptedTool::new(change::tool()).with_arguments([customer]).expect("an argument");
    let registry = ToolRegistry::from_tools([adapted]).expect("one tool").with_state(LoggedIn(7));
    let delete = PermissionRule::deny("nothing is deleted").when(|_, args| args["action"] == "delete");
    let permissions = Permissions::new().rule(delete).rule(PermissionRule::allow());
    let dispatcher = Dispatcher::new(registry).expect("complete").with_middleware(permissions);
    for (action, is_run) in [("read", true), ("Read", true), ("delete", false), ("Delete", false)] {
        let call = ToolCall::new("1", "change", json!({"action": action}).to_string());
        let result = dispatcher.dispatch([call]).await.remove(0);
        assert_eq!(result.is_error(), !is_run, "{action}: {result:?}");
    }
}

/// A file and what is done to it.
#[derive(Debug, ToolParams)]
#[expect(dead_code, reason = "only shown")]
struct Opened {
    #[serde(alias = "p")]
    path: String,
    times: Option<u8>,
}

#[derive(Debug, ToolParams)]
#[expect(dead_code, reason = "only shown")]
enum Act {
    Delete {
        #[serde(alias = "p")]
        path: String,
    },
    #[serde(alias = "rm")]
    Remove(Opened),
}

#[derive(Debug, ToolParams)]
#[expect(dead_code, reason = "only shown")]
#[serde(tag = "kind")]
enum Tagged {
    #[serde(alias = "rm")]
    Remove {
        #[serde(alias = "p")]
        path: String,
    },
    Nothing,
}

#[derive(Debug, ToolParams)]
#[expect(dead_code, reason = "only shown")]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    #[serde(alias = "rm")]
    Remove(Opened),
    Nothing,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, ToolParams)]
enum Mode {
    Read,
    #[serde(alias = "rm")]
    Remove,
}

/// Does something to files.
#[tool(register = false)]
fn act(
    one: Option<Opened>,
    list: Option<Vec<Opened>>,
    act: Option<Act>,
    tagged: Option<Tagged>,
    adjacent: Option<Adjacent>,
    mode: Option<Mode>,
) -> String {
    format!("{one:?} {list:?} {act:?} {tagged:?} {adjacent:?} {mode:?}")
}

#[tokio::test]
async fn conditions_read_own_names_in_every_spelling() {
    let seen: Arc<Mutex<Option<Value>>> = Arc::default();
    let written = seen.clone();
    let rule = PermissionRule::allow().when(move |_, arguments| {
        *written.lock().unwrap() = Some(arguments.clone());
        true
    });
    let registry = ToolRegistry::from_tools([act::tool()]).expect("one tool");
    let permissions = Permissions::new().rule(rule);
    let dispatcher = Dispatcher::new(registry).expect("complete").with_middleware(permissions);
    for (own, spellings) in [
        (
            json!({"one": {"path": "/etc"}}),
            vec![
                json!({"one": {"p": "/etc"}}),
                json!({"one": r#"{"p":"/etc"}"#}),
                json!({"one": "```json\n{\"p\":\"/etc\"}\n```"}),
            ],
        ),
        (json!({"one": {"path": "/etc", "times": 5}}), vec![json!({"one": {"p": "/etc", "times": "5"}})]),
        (
            json!({"list": [{"path": "/etc"}]}),
            vec![
                json!({"list": r#"[{"p":"/etc"}]"#}),
                json!({"list": [r#"{"p":"/etc"}"#]}),
                json!({"list": [{"p": "/etc"}]}),
            ],
        ),
        (
            json!({"act": {"Delete": {"path": "/etc"}}}),
            vec![
                json!({"act": {"delete": {"p": "/etc"}}}),
                json!({"act": r#"{"Delete":{"p":"/etc"}}"#}),
                json!({"act": {"Delete": r#"{"p":"/etc"}"#}}),
            ],
        ),
        (
            json!({"act": {"Remove": {"path": "/etc"}}}),
            vec![json!({"act": {"rm": {"p": "/etc"}}}), json!({"act": {"rm": r#"{"p":"/etc"}"#}})],
        ),
        (
            json!({"tagged": {"kind": "Remove", "path": "/etc"}}),
            vec![
                json!({"tagged": {"kind": "rm", "p": "/etc"}}),
                json!({"tagged": {"kind": "remove", "p": "/etc"}}),
                json!({"tagged": r#"{"kind":"Remove","p":"/etc"}"#}),
            ],
        ),
        (
            json!({"adjacent": {"kind": "Remove", "of": {"path": "/etc"}}}),
            vec![
                json!({"adjacent": {"kind": "rm", "of": {"p": "/etc"}}}),
                json!({"adjacent": {"of": {"p": "/etc"}, "kind": "Remove"}}),
                json!({"adjacent": {"kind": "rm", "of": r#"{"p":"/etc"}"#}}),
            ],
        ),
        (json!({"mode": "Remove"}), vec![json!({"mode": "rm"}), json!({"mode": "remove"})]),
    ] {
        let run = async |arguments: &Value| {
            let call = ToolCall::new("1", "act", arguments.to_string());
            let result = dispatcher.dispatch([call]).await.remove(0);
            (result.to_text().into_owned(), seen.lock().unwrap().take())
        };
        let (expected, read) = run(&own).await;
        assert_eq!(read.as_ref(), Some(&own), "{expected}");
        for spelling in spellings {
            assert_eq!(run(&spelling).await, (expected.clone(), Some(own.clone())), "{spelling}");
        }
    }
}

#[derive(Debug, ToolParams)]
#[expect(dead_code, reason = "only shown")]
struct ByMode {
    mode: Mode,
}

#[derive(Debug, ToolParams)]
#[expect(dead_code, reason = "only shown")]
struct ByKey {
    limits: BTreeMap<Mode, String>,
}

#[tokio::test]
async fn conditions_read_own_names_in_a_tool_without_constraints() {
    let mode = ClosureTool::new("mode", "", |it: ByMode| format!("{it:?}")).expect("an object");
    let limit = ClosureTool::new("limit", "", |it: ByKey| format!("{it:?}")).expect("an object");
    let registry = ToolRegistry::from_tools([mode, limit]).expect("two tools");
    let removes =
        |arguments: &Value| arguments["mode"] == "Remove" || !arguments["limits"]["Remove"].is_null();
    let rule = PermissionRule::deny("never").when(move |_, arguments| removes(arguments));
    let permissions = Permissions::new().rule(rule).rule(PermissionRule::allow());
    let dispatcher = Dispatcher::new(registry).expect("complete").with_middleware(permissions);
    for (tool, arguments, is_denied) in [
        ("mode", json!({"mode": "Read"}), false),
        ("mode", json!({"mode": "rm"}), true),
        ("limit", json!({"limits": {"Read": "5"}}), false),
        ("limit", json!({"limits": {"Remove": "5"}}), true),
    ] {
        let call = ToolCall::new("1", tool, arguments.to_string());
        let result = dispatcher.dispatch([call]).await.remove(0);
        let expected = if is_denied { Some(ErrorKind::Denied) } else { None };
        assert_eq!(result.error().map(ToolError::kind), expected, "{arguments}: {result:?}");
    }
}
