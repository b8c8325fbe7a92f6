//! Tools with other arguments for the model: renamed, hidden, redescribed, or with defaults.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit_ai::error::{BuildProblem, ToolFault};
use toolkit_ai::prelude::*;
use toolkit_ai::schemars::JsonSchema;
use toolkit_ai::{
    AdaptedTool, ArgumentTransform as Argument, ErrorKind, RunContext, Session, ToolDefinition, ToolFuture,
};

/// Where to look.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Place {
    site: String,
    depth: u8,
}

/// Searches.
///
/// :param q: The words
/// :param limit: How many
#[tool(register = false, input_examples = [json!({"q": "rust", "key": "k"})])]
fn search(
    #[param(alias = "words")] q: String,
    #[param(default = 5, range = 1..=50)] limit: u32,
    key: String,
    place: Option<Place>,
) -> String {
    let place = place.map_or_else(String::new, |place| format!(" {}:{}", place.site, place.depth));
    format!("{q} {limit} {key}{place}")
}

fn view(changes: impl IntoIterator<Item = Argument>) -> AdaptedTool {
    AdaptedTool::new(search::tool()).with_arguments(changes).expect("the changes are possible")
}

fn usual() -> AdaptedTool {
    view([
        Argument::new("q").with_name("query").with_description("What to find."),
        Argument::new("key").fixed("secret"),
    ])
}

async fn call(tool: impl Tool + 'static, arguments: &str) -> Result<String, ToolError> {
    let registry = ToolRegistry::from_tools([tool]).expect("one tool");
    let name = registry.names().next().expect("one tool").to_owned();
    registry.call(&name, arguments).await.map(|output| output.to_text().into_owned())
}

#[track_caller]
fn refused(tool: impl Tool + 'static, changes: impl IntoIterator<Item = Argument>) -> String {
    let error = AdaptedTool::new(tool).with_arguments(changes).expect_err("it cannot be");
    let messages = error.problems().iter().map(|problem| match problem {
        BuildProblem::Tool { fault: ToolFault::InvalidTransform { argument, message, .. }, .. } => {
            format!("{argument}: {message}")
        }
        other => panic!("not expected here: {other}"),
    });
    messages.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_model_sees_other_arguments_and_the_tool_gets_its_own() {
    let schema = &usual().definition().parameters.clone();
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["properties"]["query"], json!({"type": "string", "description": "What to find."}));
    let names: Vec<&String> = schema["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(names, ["query", "limit", "place"], "the order stays");
    assert_eq!(usual().definition().metadata.input_examples, [json!({"query": "rust"})]);
    assert_eq!(
        search::tool().definition().parameters["required"],
        json!(["q", "key"]),
        "the tool itself stays"
    );

    for (arguments, answer) in [
        (r#"{"query": "rust"}"#, "rust 5 secret"),
        (r#"{"query": "rust", "limit": "7"}"#, "rust 7 secret"),
        (r#"{"limit": 7.0, "query": "\u0041\"{"}"#, "A\"{ 7 secret"),
        (r#""{\"query\": \"rust\"}""#, "rust 5 secret"),
        (r#" { "query" : "rust" , "place" : {"site": "a", "depth": 1} } "#, "rust 5 secret a:1"),
    ] {
        assert_eq!(call(usual(), arguments).await.expect(arguments), answer);
    }
}

struct Echo(ToolDefinition);

impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text(arguments)))
    }
}

fn echo(schema: Value) -> Echo {
    Echo(ToolDefinition::new(toolkit_ai::ToolName::new("echo").expect("legal"), "", schema))
}

#[tokio::test]
async fn everything_else_stays_as_the_model_wrote_it() {
    let raw = echo(json!({"properties": {"a": {}, "b": {}, "c": {"type": "integer"}, "d": {}}}));
    let view = AdaptedTool::new(raw)
        .with_arguments([
            Argument::new("a").with_name("x\"y"),
            Argument::new("b").hidden(),
            Argument::new("c").with_default(1),
            Argument::new("d").computed(|context| Ok(json!({"tool": context.tool_name().as_str()}))),
        ])
        .expect("possible");
    for (arguments, rewritten) in [
        ("", r#"{"c":1,"d":{"tool":"echo"}}"#),
        ("null", r#"{"c":1,"d":{"tool":"echo"}}"#),
        (r#"{ "x\"y" : 1.0e0 , "c":2}"#, r#"{"a" : 1.0e0 , "c":2,"d":{"tool":"echo"}}"#),
        (r#"{"c": null, "\u0065": [ 1 ]}"#, r#"{"e":[ 1 ],"c":1,"d":{"tool":"echo"}}"#),
    ] {
        assert_eq!(call(view.clone(), arguments).await.expect(arguments), rewritten);
    }
    for arguments in
        [r#"{"b": 1}"#, r#"{"a": 1}"#, r#"{"c": 1, "\u0064": 1}"#, r#"{"x\u0022y": "x\"y", "x\"y": 2}"#]
    {
        let error = call(view.clone(), arguments).await.expect_err("it is not shown");
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}");
    }
    for (arguments, kind) in [("[1]", ErrorKind::InvalidArguments), (r#"{"c": "#, ErrorKind::InvalidJson)] {
        assert_eq!(call(view.clone(), arguments).await.expect_err("no object").kind(), kind);
    }
}

#[tokio::test]
async fn hidden_arguments_cannot_be_given_and_messages_use_the_models_names() {
    for (arguments, messages) in [
        (r#"{}"#, vec!["`query`: required, but missing; expected string"]),
        (
            r#"{"query": true, "limit": 99}"#,
            vec![
                "`query`: expected string, got boolean true",
                "`limit`: expected integer from 1 to 50, got number 99",
            ],
        ),
        (
            r#"{"query": "a", "key": "mine", "limit": 0}"#,
            vec!["`key`: there is no such parameter; use `query` or `limit` or `place`", "`limit`"],
        ),
        (r#"{"q": "a"}"#, vec!["`q`: there is no such parameter; use", "`query`: required, but missing"]),
        (r#"{"words": "a", "query": "b"}"#, vec!["`words`: there is no such parameter"]),
        (
            r#"{"querry": "a"}"#,
            vec![
                "`querry`: there is no such parameter; did you mean `query`?",
                "`query`: required, but missing",
            ],
        ),
        (r#"{"query": "a", "query": "b"}"#, vec!["`query`: given twice"]),
        (r#"{"query": "a", "place": {"site": "b", "depth": 256}}"#, vec!["`place.depth`"]),
    ] {
        let error = call(usual(), arguments).await.expect_err(arguments);
        assert_eq!((error.kind(), error.brief()), (ErrorKind::InvalidArguments, "Invalid arguments"));
        assert_eq!(error.violations().len(), messages.len(), "{arguments}: {error}");
        for (violation, message) in error.violations().iter().zip(&messages) {
            assert!(violation.to_string().starts_with(message), "{arguments}: {violation}");
            assert!(error.message().contains(message), "{error}");
        }
        assert!(!format!("{error:#}").contains("secret"), "{error:#}");
    }
    let names = view([Argument::new("place").with_name("where"), Argument::new("q").with_name("place")]);
    let error = call(names, r#"{"place": true, "where": {"site": true, "depth": 2}, "key": "k"}"#)
        .await
        .expect_err("both");
    let paths: Vec<&str> = error.violations().iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!(paths, ["place", "where.site"]);
}

#[tokio::test]
async fn defaults_fill_in_and_required_arguments_are_demanded() {
    let view = view([
        Argument::new("limit").required(),
        Argument::new("q").with_default("everything"),
        Argument::new("key").with_computed_default(|context| match context.invocation_id() {
            Some(id) => Ok(id.into()),
            None => Err("there is no run".into()),
        }),
        Argument::new("place").hidden(),
    ]);
    let schema = &view.definition().parameters;
    assert_eq!(schema["required"], json!(["limit"]));
    assert_eq!(schema["properties"]["q"]["default"], "everything");
    assert_eq!(schema["properties"]["limit"].get("default"), None);
    assert_eq!(schema.get("$defs"), None, "nothing refers to `Place` any more");

    assert_eq!(call(view.clone(), r#"{"limit": 1, "key": "k"}"#).await.expect("fine"), "everything 1 k");
    assert_eq!(
        call(view.clone(), r#"{"limit": 1, "q": null, "key": "k"}"#).await.expect("fine"),
        "everything 1 k"
    );
    let error = call(view.clone(), r#"{"limit": 1}"#).await.expect_err("there is no run");
    assert_eq!(error.message(), "Error running tool: there is no run");

    let run = RunContext::new().with_invocation_id("run 1").with_session(Session::new("s"));
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools([view]).expect("one tool")).expect("complete").with_run(run);
    let results = dispatcher.dispatch([ToolCall::new("1", "search", r#"{"limit": 1}"#)]).await;
    assert_eq!(results[0].to_text(), "everything 1 run 1");
}

#[tokio::test]
async fn a_refused_value_of_the_program_is_not_reported_as_a_violation() {
    let view = view([Argument::new("key").computed(|_| Ok(json!(["secret"])))]);
    let error = call(view.clone(), r#"{"q": "a"}"#).await.expect_err("it is no text");
    assert_eq!((error.kind(), error.brief()), (ErrorKind::Failed, "Tool runtime error"));
    assert!(!error.message().contains("key"), "{error}");
    assert!(error.details().is_some_and(|details| details.contains("`key`")), "{error:#}");
    let error = call(view, "{}").await.expect_err("`q` is missing, too");
    assert_eq!(error.violations().len(), 1);
    assert!(!error.message().contains("key"), "{error}");
}

#[test]
fn impossible_transforms_are_refused_at_once() {
    assert_eq!(
        refused(
            search::tool(),
            [
                Argument::new("limt").hidden(),
                Argument::new("q").with_name("limit"),
                Argument::new("key").hidden(),
                Argument::new("place").fixed("nowhere").with_description("?"),
                Argument::new("limit").with_default(51),
                Argument::new("limit").with_default(50).required(),
            ]
        ),
        "limt: the tool has no such argument; did you mean `limit`?\n\
         key: the tool cannot do without; give it a value with `fixed` or `computed`\n\
         place: it is hidden, so the model sees neither name nor description and cannot give it\n\
         place: the tool does not take this value; it must be object\n\
         limit: the tool does not take this value; it must be integer from 1 to 50\n\
         limit: what is required has no default\n\
         limit: it is changed twice; say all in one place\n\
         q: argument `limit` is shown as `limit` already; choose another name"
    );
    let error = AdaptedTool::new(search::tool())
        .with_arguments([Argument::new("key").fixed(json!({"top": "secret"}))])
        .expect_err("it is a text");
    let text = error.to_string();
    assert!(text.starts_with("argument `key` of tool `search` (defined at "), "{text}");
    assert!(text.contains(") cannot be transformed: the tool does not take"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    // Names may be exchanged.
    view([Argument::new("q").with_name("key"), Argument::new("key").with_name("q")]);
}

#[tokio::test]
async fn a_view_of_a_view_uses_the_names_of_the_first_view() {
    let outer =
        usual().with_arguments([Argument::new("query").with_name("find"), Argument::new("limit").fixed(9)]);
    let outer = outer.expect("possible");
    assert_eq!(outer.definition().parameters["required"], json!(["find"]));
    assert_eq!(call(outer.clone(), r#"{"find": "a"}"#).await.expect("fine"), "a 9 secret");
    let error = call(outer, r#"{"query": "a", "find": true}"#).await.expect_err("both are wrong");
    let paths: Vec<&str> = error.violations().iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!(paths, ["query", "find"]);
    assert!(refused(usual(), [Argument::new("q").hidden()]).starts_with("q: the tool has no such argument"));
}

/// Loads.
#[tool(lane = "path", register = false)]
fn load(path: String) -> String {
    path
}

#[test]
fn a_lane_cannot_be_computed() {
    let computed = Argument::new("path").computed(|_| Ok("a".into()));
    assert!(refused(load::tool(), [computed]).contains("it is the lane of the tool"));
}

#[track_caller]
fn shown(schema: Value, changes: impl IntoIterator<Item = Argument>, expected: Value) {
    let view = AdaptedTool::new(echo(schema)).with_arguments(changes).expect("possible");
    assert_eq!(view.definition().parameters, expected);
}

#[test]
fn every_keyword_that_names_an_argument_is_transformed() {
    shown(
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "b": {"$ref": "#/properties/a"},
                "c": {"properties": {"a": {"$ref": "#/$defs/A/items"}}},
            },
            "required": ["a", "c"],
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            "$defs": {"A": {"items": {"$ref": "#/properties/a"}}, "Unused": {}},
        }),
        [Argument::new("a").with_name("x/y")],
        json!({
            "type": "object",
            "properties": {
                "x/y": {"type": "string"},
                "b": {"$ref": "#/properties/x~1y"},
                "c": {"properties": {"a": {"$ref": "#/$defs/A/items"}}},
            },
            "required": ["x/y", "c"],
            "anyOf": [{"required": ["x/y"]}, {"required": ["b"]}],
            "$defs": {"A": {"items": {"$ref": "#/properties/x~1y"}}, "Unused": {}},
        }),
    );
    shown(
        json!({
            "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#/$defs/C"}},
            "$defs": {"A": {"type": "string"}, "C": {"type": "object"}},
            "allOf": [{"properties": {"c": {}, "d": {}}, "required": ["a", "d"]}],
            "minProperties": 2, "maxProperties": 3,
        }),
        [Argument::new("a").fixed("x"), Argument::new("c").hidden()],
        json!({
            "properties": {"b": {"$ref": "#/$defs/a"}},
            "$defs": {"A": {"type": "string"}, "a": {"$ref": "#/$defs/A"}},
            "allOf": [{"properties": {"d": {}}, "required": ["d"]}],
        }),
    );
}

/// The schema of a server may have anything there.
#[test]
fn an_argument_is_hidden_where_definitions_are_no_object() {
    let schema = json!({
        "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}},
        "$defs": [],
    });
    let view =
        AdaptedTool::new(echo(schema)).with_arguments([Argument::new("a").fixed("x")]).expect("possible");
    assert_eq!(view.definition().parameters["properties"], json!({"b": {"$ref": "#/properties/a"}}));
}

#[test]
fn an_argument_under_a_condition_cannot_be_hidden_or_given() {
    let condition = json!({"properties": {"kind": {"const": "by_id"}}, "required": ["kind"]});
    for (keyword, part) in [
        ("oneOf", json!([condition, {"$ref": "#/$defs/ByName"}])),
        ("anyOf", json!([condition])),
        ("not", condition.clone()),
        ("if", condition.clone()),
        ("dependentRequired", json!({"kind": ["id"]})),
        ("dependentSchemas", json!({"kind": condition})),
    ] {
        let schema = json!({
            "properties": {"kind": {"type": "string"}, "id": {"type": "integer"}}, keyword: part,
            "$defs": {"ByName": {"properties": {"kind": {"const": "by_name"}}}},
        });
        let expected =
            format!("kind: the schema mentions it under `{keyword}`; write a tool that calls this tool");
        for change in [Argument::new("kind").hidden(), Argument::new("kind").fixed("by_id")] {
            assert_eq!(refused(echo(schema.clone()), [change]), expected);
        }
    }
}

#[tokio::test]
async fn a_required_argument_of_a_view_is_required() {
    #[tool(register = false)]
    fn take(a: Option<String>, #[param(default = 5)] n: i64) -> String {
        format!("{a:?} {n}")
    }

    let view =
        AdaptedTool::new(take::tool()).with_arguments(["a", "n"].map(|name| Argument::new(name).required()));
    let view = view.expect("possible");
    for arguments in ["{}", r#"{"a": "x"}"#, r#"{"a": null, "n": null}"#] {
        let error = call(view.clone(), arguments).await.expect_err(arguments);
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}: {error}");
    }
    assert_eq!(call(view, r#"{"a": "x", "n": 1}"#).await.expect("both are there"), r#"Some("x") 1"#);
}
