//! Argument errors for the model: all violations of a call, each with its path and what is allowed.

use super::calling;
use std::collections::HashMap;
use toolkit_ai::ErrorKind;
use toolkit_ai::prelude::*;
use toolkit_ai::schema::ViolationKind;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Filter {
    field: String,
    max: u32,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Ascending,
    Descending,
}

/// Finds rows.
#[tool]
fn find_rows(
    table: String,
    filters: Vec<Filter>,
    order: Option<Order>,
    #[param(default = 10)] limit: u8,
    weights: Option<HashMap<String, f64>>,
) -> String {
    let filters: Vec<String> =
        filters.iter().map(|filter| format!("{}<{}", filter.field, filter.max)).collect();
    format!("{table} {filters:?} {order:?} {limit} {weights:?}")
}

/// Takes nothing.
#[tool]
fn ping() -> String {
    "pong".to_owned()
}

async fn call(name: &str, arguments: &str) -> Result<String, ToolError> {
    let registry = ToolRegistry::from_tools(tools![find_rows, ping]).expect("no collisions");
    registry.call(name, arguments).await.map(|output| output.to_text().into_owned())
}

#[track_caller]
fn check_message(result: Result<String, ToolError>, kind: ErrorKind, message: &str) {
    let error = result.expect_err("the arguments are wrong");
    assert_eq!((error.kind(), error.message()), (kind, message));
}

#[tokio::test]
async fn every_violation_is_in_one_message() {
    let arguments = r#"{"tabel": "t", "filters": [{"max": "one"}, {"field": "b", "max": -1}],
        "order": "upwards", "limit": 300, "limit": 3, "weights": {"a": "heavy"}}"#;
    let error = call("find_rows", arguments).await.expect_err("the arguments are wrong");
    assert_eq!(
        error.message(),
        "Error validating JSON arguments: 9 problems\n\
         - `tabel`: there is no such parameter; did you mean `table`?\n\
         - `filters[0].max`: expected integer from 0 to 4294967295, got string \"one\"\n\
         - `filters[0].field`: required, but missing; expected string\n\
         - `filters[1].max`: expected integer from 0 to 4294967295, got number -1\n\
         - `order`: expected one of \"ascending\", \"descending\", got string \"upwards\"\n\
         - `limit`: expected integer from 0 to 255, got number 300\n\
         - `weights.a`: expected number, got string \"heavy\"\n\
         - `table`: required, but missing; expected string\n\
         - `limit`: given twice; give it once"
    );
    assert_eq!(error.brief(), "Invalid arguments");
    let kinds: Vec<ViolationKind> = error.violations().iter().map(|violation| violation.kind).collect();
    assert_eq!(kinds[0], ViolationKind::Unknown);
    assert_eq!(kinds[7..], [ViolationKind::Missing, ViolationKind::Duplicate]);
}

#[tokio::test]
async fn one_violation_is_one_line() {
    check_message(
        call("find_rows", r#"{"table": true, "filters": []}"#).await,
        ErrorKind::InvalidArguments,
        "Error validating JSON arguments: `table`: expected string, got boolean true",
    );
    check_message(
        call("find_rows", r#"{"table": "t", "filters": [{"field": "a"}]}"#).await,
        ErrorKind::InvalidArguments,
        "Error validating JSON arguments: `filters[0].max`: required, but missing; expected integer from 0 to 4294967295",
    );
    check_message(
        call("ping", r#"{"host": "x"}"#).await,
        ErrorKind::InvalidArguments,
        "Error validating JSON arguments: `host`: there is no such parameter; this tool takes none",
    );
}

#[tokio::test]
async fn invalid_json_fails_with_its_position() {
    check_message(
        call("find_rows", r#"{"table": "t", "filters": [}"#).await,
        ErrorKind::InvalidJson,
        "Error parsing JSON arguments: expected value at line 1 column 28; the arguments must be one JSON object",
    );
    check_message(
        call("ping", "{} {}").await,
        ErrorKind::InvalidJson,
        "Error parsing JSON arguments: trailing characters at line 1 column 4; make a call for each object; the arguments must be one JSON object",
    );
}

#[tokio::test]
async fn json_other_than_an_object_is_refused() {
    for (arguments, found) in
        [("[1, 2]", "array [1, 2]"), ("5", "number 5"), ("true", "boolean true"), (r#""x""#, r#"string "x""#)]
    {
        check_message(
            call("find_rows", arguments).await,
            ErrorKind::InvalidArguments,
            &format!("Error validating JSON arguments: the arguments must be a JSON object, got {found}"),
        );
    }
}

#[tokio::test]
async fn no_arguments_are_an_empty_object() {
    for arguments in ["", "  \n", "null", " null ", "{}", " { } "] {
        assert_eq!(call("ping", arguments).await.expect("it takes none"), "pong");
    }
}

#[tokio::test]
async fn messages_are_bounded_for_any_arguments() {
    let long = "x".repeat(100_000);
    let many: String = (0..5_000).map(|index| format!(r#""{index}": "{long:.50}", "#)).collect();
    let arguments = format!(r#"{{{many} "{long}": 1, "table": ["{long}"], "filters": []}}"#);
    let error = call("find_rows", &arguments).await.expect_err("the arguments are wrong");
    assert!(error.message().chars().count() < 4_000, "{} characters", error.message().chars().count());
    assert!(error.message().contains("64 problems"), "{}", error.message());
    let nested = format!(r#"{{"table": "t", "filters": {}}}"#, "[".repeat(100_000));
    assert_eq!(call("find_rows", &nested).await.expect_err("it is cut off").kind(), ErrorKind::InvalidJson);
    let nested = format!(r#"{{"table": "t", "filters": {}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(
        call("find_rows", &nested).await.expect_err("it is too deep").kind(),
        ErrorKind::InvalidArguments
    );
}

/// Takes numbers of several kinds.
#[tool(namespace = "numbers")]
fn numbers(
    whole: Option<i64>,
    list: Option<Vec<i32>>,
    filter: Option<Filter>,
    keyed: Option<HashMap<u32, bool>>,
) -> String {
    format!("{whole:?} {list:?} {:?} {keyed:?}", filter.map(|filter| filter.max))
}

async fn call_numbers(arguments: &str) -> Result<String, ToolError> {
    let registry = ToolRegistry::from_tools(tools![numbers]).expect("one tool");
    registry.call("numbers-numbers", arguments).await.map(|output| output.to_text().into_owned())
}

#[tokio::test]
async fn a_violation_names_its_path() {
    for (arguments, message) in [
        (r#"{"keyed": {"1": "x"}}"#, "`keyed.1`: expected boolean, got string \"x\""),
        (
            r#"{"filter": "{\"field\": \"x\", \"max\": \"three\"}"}"#,
            "`filter.max`: expected integer from 0 to 4294967295, got string \"three\"",
        ),
        (
            r#"{"whole": 123456789012345678901}"#,
            "`whole`: expected integer, got number 123456789012345678901",
        ),
        (r#"{"whole": null, "whole": 2}"#, "`whole`: given twice; give it once"),
    ] {
        let error = call_numbers(arguments).await.expect_err(arguments);
        assert_eq!(error.message(), format!("Error validating JSON arguments: {message}"));
    }
}

macro_rules! many {
    ($($name:ident)*) => {
        /// Takes more parameters than most.
        #[tool(namespace = "numbers")]
        #[allow(clippy::too_many_arguments)]
        fn many($($name: u8),*) -> usize {
            [$($name),*].iter().map(|n| usize::from(*n)).sum()
        }

        const MANY: &[&str] = &[$(stringify!($name)),*];
    };
}

many! {
    p00 p01 p02 p03 p04 p05 p06 p07 p08 p09 p10 p11 p12 p13 p14 p15 p16 p17 p18 p19 p20 p21 p22 p23 p24 p25 p26 p27 p28
    p29 p30 p31 p32 p33 p34 p35 p36 p37 p38 p39 p40 p41 p42 p43 p44 p45 p46 p47 p48 p49 p50 p51 p52 p53 p54 p55 p56 p57
    p58 p59 p60 p61 p62 p63 p64 p65 p66 p67 p68 p69
}

#[tokio::test]
async fn a_tool_may_have_any_number_of_parameters() {
    let registry = ToolRegistry::from_tools(tools![many]).expect("one tool");
    let all: Vec<String> = MANY.iter().map(|name| format!(r#""{name}": 1"#)).collect();
    let output =
        registry.call("numbers-many", &format!("{{{}}}", all.join(", "))).await.expect("all are there");
    assert_eq!(output.to_text(), "70");
    let error = registry
        .call("numbers-many", &format!("{{{}}}", all[..64].join(", ")))
        .await
        .expect_err("six are missing");
    assert_eq!(error.violations().len(), 6);
    assert_eq!(error.violations()[5].path, "p69");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum Shape {
    Circle(f64),
    Square { side: f64 },
}

/// Takes a variant.
#[tool(namespace = "numbers")]
fn area(shape: Shape, letter: Option<char>) -> String {
    let area = match shape {
        Shape::Circle(radius) => radius * radius * 3.0,
        Shape::Square { side } => side * side,
    };
    format!("{area} {letter:?}")
}

#[tokio::test]
async fn variants_and_rules_of_types_are_explained() {
    let registry = ToolRegistry::from_tools(tools![area]).expect("one tool");
    for (arguments, message) in [
        (r#"{}"#, "`shape`: required, but missing; expected object with one of `Circle`, `Square`"),
        (
            r#"{"shape": "Circle"}"#,
            "`shape`: expected object with one of `Circle`, `Square`, got string \"Circle\"",
        ),
        (
            r#"{"shape": {"Circel": 1}}"#,
            r#"`shape`: expected object with one of `Circle`, `Square`, got object {"Circel": 1}"#,
        ),
        (
            r#"{"shape": {"Circle": 1}, "letter": "\ud83d"}"#,
            r#"`letter`: write the character itself, not half of a surrogate pair, got string "\ud83d""#,
        ),
        (
            r#"{"shape": {"Circle": 1}, "letter": "xx"}"#,
            "`letter`: expected string of 1 character, got string \"xx\"",
        ),
    ] {
        let error = registry.call("numbers-area", arguments).await.expect_err(arguments);
        assert_eq!(error.message(), format!("Error validating JSON arguments: {message}"));
    }
}

/// Takes a ratio and a text.
#[tool(namespace = "numbers")]
fn ratio(ratio: Option<f64>, text: Option<String>) -> String {
    format!("{ratio:?} {text:?}")
}

#[test]
fn malformed_json_comes_with_advice() {
    for (text, advice) in [
        ("{'ratio': 1}", "use double quotes"),
        ("{\"text\":\n 'a'}", "use double quotes"),
        ("{\"ratio\": 1,}", "remove the comma"),
        ("{\"ratio\": [1, 2,\n]}", "remove the comma"),
        ("{\"ratio\": 1}\n{\"ratio\": 2}", "make a call for each object"),
        ("{\"ratio\": 1}}", "remove the text after the object"),
        ("{\"ratio\": 1", "write the object up to its end"),
        ("{\"text\": \"a", "write the object up to its end"),
        ("{\"ratio\": 1, // half\n}", "remove the comment"),
        ("Here: {\"ratio\": 1}", "begin with `{`"),
        ("{ratio: 1}", "use double quotes"),
        ("{\"text\": \"He said \"hello\".\"}", "write a quote within a string as `\\\"`"),
        ("{\"ratio\": None}", "write `null`"),
        ("{\"ratio\": [True]}", "write `true`"),
    ] {
        let message = calling::call(&ratio::tool(), text).expect_err("it is no JSON");
        assert!(message.contains(&format!("; {advice}; the arguments")), "{message}");
    }
}
