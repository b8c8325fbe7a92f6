//! Constraints: in the schema, and checked at the call.

use std::collections::BTreeMap;
use toolkit_ai::prelude::*;
use toolkit_ai::schema::ViolationKind;
use toolkit_ai::serde_json::{Value, json};

const MOST: u32 = 50;

/// Takes a constrained parameter of every kind.
#[tool(namespace = "constraints")]
#[allow(clippy::too_many_arguments)]
fn constrained(
    #[param(range = 1..=MOST, default = 5)] count: u32,
    #[param(range = 0.0..1.0)] share: Option<f64>,
    #[param(range = -5..)] offset: Option<i64>,
    #[param(multiple_of = 5)] step: Option<i32>,
    #[param(length = 2..=4)] code: Option<String>,
    #[param(pattern = "^[a-z]+$")] slug: Option<String>,
    #[param(format = "email")] mail: Option<String>,
    #[param(one_of = ["red", "green"])] color: Option<String>,
    #[param(length = ..=2, items(range = 0..=9))] digits: Option<Vec<u8>>,
    #[param(length = 1, items(length = 1..))] table: Option<BTreeMap<String, String>>,
    #[param(examples = ["a", "b"], deprecated)] old: Option<String>,
) -> String {
    format!(
        "{count} {share:?} {offset:?} {step:?} {code:?} {slug:?} {mail:?} {color:?} {digits:?} {table:?} {old:?}"
    )
}

fn property(name: &str) -> Value {
    constrained::tool().definition().parameters["properties"][name].clone()
}

async fn call(arguments: Value) -> Result<ToolOutput, ToolError> {
    let registry = ToolRegistry::from_tools(tools![constrained]).expect("one tool");
    registry.call("constraints-constrained", &arguments.to_string()).await
}

#[test]
fn constraints_are_published_in_the_schema() {
    for (name, schema) in [
        ("count", json!({"type": "integer", "minimum": 1, "maximum": 50, "default": 5})),
        ("share", json!({"type": "number", "minimum": 0.0, "exclusiveMaximum": 1.0})),
        ("offset", json!({"type": "integer", "minimum": -5})),
        ("step", json!({"type": "integer", "multipleOf": 5, "minimum": i32::MIN, "maximum": i32::MAX})),
        ("code", json!({"type": "string", "minLength": 2, "maxLength": 4})),
        ("slug", json!({"type": "string", "pattern": "^[a-z]+$"})),
        ("mail", json!({"type": "string", "format": "email"})),
        ("color", json!({"type": "string", "enum": ["red", "green"]})),
        (
            "digits",
            json!({"type": "array", "maxItems": 2, "items": {"type": "integer", "minimum": 0, "maximum": 9}}),
        ),
        (
            "table",
            json!({"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": "string", "minLength": 1}}),
        ),
        ("old", json!({"type": "string", "examples": ["a", "b"], "deprecated": true})),
    ] {
        assert_eq!(property(name), schema, "{name}");
    }
}

#[tokio::test]
async fn constraints_are_checked_at_the_call() {
    for (arguments, message) in [
        (json!({"count": 51}), "`count`: expected integer from 1 to 50, got number 51"),
        (json!({"count": "0"}), "`count`: expected integer from 1 to 50, got number 0"),
        (json!({"share": 1.0}), "`share`: expected number of at least 0.0, less than 1.0, got number 1.0"),
        (json!({"offset": -6}), "`offset`: expected integer of at least -5, got number -6"),
        (
            json!({"step": 7}),
            "`step`: expected integer from -2147483648 to 2147483647, a multiple of 5, got number 7",
        ),
        (json!({"code": "日"}), "`code`: expected string of 2 to 4 characters, got string \"日\""),
        (json!({"slug": "A"}), "`slug`: expected string matching `^[a-z]+$`, got string \"A\""),
        (
            json!({"mail": "nobody"}),
            "`mail`: expected string in the format email, as in name@example.com, got string \"nobody\"",
        ),
        (json!({"color": "blue"}), "`color`: expected one of \"red\", \"green\", got string \"blue\""),
        (json!({"digits": [1, 10]}), "`digits[1]`: expected integer from 0 to 9, got number 10"),
        (
            json!({"digits": [1, 2, 3]}),
            "`digits`: expected array of at most 2 items, each integer from 0 to 9, got array [1,2,3]",
        ),
        (json!({"table": {}}), "`table`: expected object of 1 member, got object {}"),
        (json!({"table": {"a": ""}}), "`table.a`: expected string of at least 1 character, got string \"\""),
    ] {
        let error = call(arguments).await.expect_err(message);
        assert_eq!(error.message(), format!("Error validating JSON arguments: {message}"));
        assert_eq!(error.violations()[0].kind, ViolationKind::Constraint);
    }
}

#[derive(Debug, ToolParams)]
struct Query {
    #[param(length = 1..=3, alias = "q")]
    #[serde(alias = "text")]
    term: String,
    #[param(range = 1..=9, default = 1)]
    pages: u8,
    #[param(alias = "next")]
    then: Option<Box<Self>>,
}

/// Takes constrained fields with other names.
#[tool(namespace = "constraints", coerce = false)]
fn search(query: Query) -> String {
    let Query { term, pages, then } = query;
    format!("{term} {pages} {}", then.is_some())
}

/// Takes the same fields as its arguments.
#[tool(namespace = "constraints")]
fn search_whole(#[param(flatten)] query: Query) -> String {
    search(query)
}

#[tokio::test]
async fn constraints_apply_under_every_alias() {
    let by_closure =
        toolkit_ai::ClosureTool::new("by-closure", "", |query: Query| search(query)).expect("a legal name");
    let mut registry = ToolRegistry::from_tools(tools![search, search_whole]).expect("two tools");
    registry.register(by_closure).expect("another tool");
    for (given, violation) in [
        (json!({"term": "abcd"}), "term"),
        (json!({"q": "abcd"}), "term"),
        (json!({"text": ""}), "term"),
        (json!({"q": "a", "then": {"text": "abcd"}}), "then.term"),
        (json!({"q": "a", "next": {"q": "a", "next": {"q": ""}}}), "then.then.term"),
    ] {
        for (tool, prefix, arguments) in [
            ("constraints-search", "query.", json!({"query": given})),
            ("constraints-search_whole", "", given.clone()),
            ("by-closure", "", given.clone()),
        ] {
            let error =
                registry.call(tool, &arguments.to_string()).await.expect_err("it is too long or short");
            let paths: Vec<&str> =
                error.violations().iter().map(|violation| violation.path.as_str()).collect();
            assert_eq!(paths, [format!("{prefix}{violation}")], "{tool} {arguments}: {error}");
        }
    }
    let fine = registry.call("by-closure", r#"{"q": "abc", "next": {"text": "a"}}"#).await;
    assert_eq!(fine.expect("it keeps to the constraints").to_text(), "abc 1 true");
}

#[test]
fn aliases_are_not_published() {
    let schema = search::tool().definition().parameters.to_string();
    assert!(!schema.contains("alias") && !schema.contains(r#""q""#), "{schema}");
    assert!(!toolkit_ai::schema::schema_of::<Query>().to_string().contains("alias"));
}
