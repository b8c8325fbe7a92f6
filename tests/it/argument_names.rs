//! Names given twice in one object: refused at every depth, unless the type ignores the name.

#![allow(dead_code, reason = "only `Debug` reads the fields")]

use super::argument_promises::call;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use toolkit::ClosureTool;
use toolkit::prelude::*;
use toolkit::schema::ViolationKind;
use toolkit::{FunctionTool, ToolParams};

#[derive(Debug, Deserialize, JsonSchema)]
struct Open {
    a: u8,
    #[serde(alias = "bee")]
    b: Option<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    a: u8,
}

/// The limit makes the tool check every argument.
#[derive(Debug, Deserialize, JsonSchema)]
struct Limited {
    #[schemars(range(max = 9))]
    a: u8,
    #[serde(alias = "mm")]
    m: Option<BTreeMap<String, u8>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Rest {
    a: u8,
    #[serde(flatten)]
    rest: HashMap<String, Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Flat {
    #[serde(flatten)]
    open: Open,
    c: Option<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Outside {
    A(u8),
    B { a: u8 },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct FlatEnum {
    #[serde(flatten)]
    of: Outside,
    c: Option<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "k")]
enum Inside {
    One { a: u8 },
    Two { b: u8 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "k", content = "c")]
enum Beside {
    One { a: u8 },
    Two(u8),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    One { a: u8 },
    Two { b: u8 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum UntaggedClosed {
    One { a: u8 },
    Two { b: u8 },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Payload {
    a: u8,
    /// Anything.
    any: Option<Value>,
    #[schemars(extend("type" = "object"))]
    object: Option<Value>,
    map: Option<Map<String, Value>>,
    #[schemars(with = "Option<Open>")]
    as_open: Option<Value>,
}

/// The outcome of a repeated name: a type reads it, or ignores it.
const READ: bool = false;
const IGNORED: bool = true;

/// A type, and texts with a repeated name.
type Row = (fn(bool) -> [ClosureTool; 2], &'static [(&'static str, bool)]);

#[derive(Debug, Deserialize, JsonSchema)]
struct It<T> {
    it: T,
}

/// The other member has to be coerced, or is limited.
#[derive(Debug, ToolParams)]
struct Besides<T> {
    it: T,
    #[param(range = ..=9)]
    other: u8,
}

fn tools<T: ToolParams + Debug + 'static>(coerce: bool) -> [ClosureTool; 2] {
    let plain = ClosureTool::new("plain", "", |it: It<T>| format!("{it:?}")).expect("an object");
    let beside = ClosureTool::new("beside", "", |it: Besides<T>| format!("{it:?}")).expect("an object");
    [plain, beside].map(|tool| tool.with_metadata(|metadata| metadata.with_coerce(coerce)))
}

const ROWS: [Row; 15] = [
    (
        tools::<Open>,
        &[
            (r#"{"a": 1, "a": 1}"#, READ),
            (r#"{"a": 1, "b": 1, "bee": 1}"#, READ),
            (r#"{"a": 1, "x": 1, "x": 2}"#, IGNORED),
            (r#"{"a": 1, "x": {"y": 1, "y": 2}}"#, IGNORED),
        ],
    ),
    (tools::<Closed>, &[(r#"{"a": 1, "a": 1}"#, READ), (r#"{"a": 1, "x": 1, "x": 2}"#, READ)]),
    (
        tools::<Limited>,
        &[
            (r#"{"a": 1, "a": 1}"#, READ),
            (r#"{"a": 1, "m": {"k": 1, "k": 2}}"#, READ),
            (r#"{"a": 1, "mm": {"k": 1, "k": 2}}"#, READ),
            (r#"{"a": 1, "x": 1, "x": 2}"#, IGNORED),
            (r#"{"a": 1, "x": {"y": 1, "y": 2}}"#, IGNORED),
        ],
    ),
    (
        tools::<Rest>,
        &[
            (r#"{"a": 1, "a": 1}"#, READ),
            (r#"{"a": 1, "x": 1, "x": 2}"#, READ),
            (r#"{"a": 1, "x": [{"y": 1, "y": 2}]}"#, READ),
        ],
    ),
    (tools::<Flat>, &[(r#"{"a": 1, "a": 1}"#, READ), (r#"{"a": 1, "x": 1, "x": 2}"#, IGNORED)]),
    (tools::<Outside>, &[(r#"{"A": 1, "A": 2}"#, READ), (r#"{"B": {"a": 1, "a": 2}}"#, READ)]),
    (tools::<FlatEnum>, &[(r#"{"A": 1, "A": 2}"#, READ), (r#"{"A": 1, "c": 2, "c": 1}"#, READ)]),
    (
        tools::<Inside>,
        &[
            (r#"{"k": "One", "k": "Two", "a": 1, "b": 1}"#, READ),
            (r#"{"k": "One", "a": 1, "a": 2}"#, READ),
            (r#"{"k": "One", "a": 1, "b": 1, "b": 2}"#, IGNORED),
        ],
    ),
    (
        tools::<Beside>,
        &[
            (r#"{"k": "Two", "k": "Two", "c": 1}"#, READ),
            (r#"{"k": "Two", "c": 1, "c": 2}"#, READ),
            (r#"{"k": "One", "c": {"a": 1, "a": 2}}"#, READ),
            (r#"{"k": "One", "c": {"a": 1, "x": 1, "x": 2}}"#, IGNORED),
        ],
    ),
    (
        tools::<Untagged>,
        &[
            (r#"{"a": 1, "a": 2}"#, READ),
            (r#"{"a": 1, "a": 2, "b": 1}"#, READ),
            (r#"{"a": 1, "x": 1, "x": 2}"#, IGNORED),
        ],
    ),
    (tools::<UntaggedClosed>, &[(r#"{"a": 1, "a": 2}"#, READ), (r#"{"a": 1, "a": 2, "b": 1}"#, READ)]),
    (
        tools::<Payload>,
        &[
            (r#"{"a": 1, "any": {"x": 1, "x": 2}}"#, READ),
            (r#"{"a": 1, "any": [[{"x": 1, "x": 2}]]}"#, READ),
            (r#"{"a": 1, "object": {"x": 1, "x": 2}}"#, READ),
            (r#"{"a": 1, "map": {"x": 1, "x": 2}}"#, READ),
            (r#"{"a": 1, "map": {"y": {"x": 1, "x": 2}}}"#, READ),
            (r#"{"a": 1, "as_open": {"a": 1, "a": 2}}"#, READ),
            (r#"{"a": 1, "x": {"y": 1, "y": 2}}"#, IGNORED),
        ],
    ),
    (
        tools::<BTreeMap<String, Open>>,
        &[(r#"{"k": {"a": 1}, "k": {"a": 1}}"#, READ), (r#"{"k": {"a": 1, "x": 1, "x": 2}}"#, IGNORED)],
    ),
    (tools::<Vec<Open>>, &[(r#"[{"a": 1, "a": 1}]"#, READ), (r#"[{"a": 1, "x": 1, "x": 2}]"#, IGNORED)]),
    (tools::<Value>, &[(r#"{"a": 1, "a": 1}"#, READ), (r#"[[{"b": {"a": 1, "a": 1}}]]"#, READ)]),
];

#[test]
fn a_repeated_name_is_refused_unless_the_type_ignores_it() {
    for (make, texts) in ROWS {
        for coerce in [false, true] {
            let [plain, beside] = make(coerce);
            for (text, is_taken) in texts {
                let mut calls = vec![
                    (&plain, format!(r#"{{"it": {text}}}"#), *is_taken),
                    (&beside, format!(r#"{{"it": {text}, "other": 1}}"#), *is_taken),
                    (&beside, format!(r#"{{"it": {text}, "other": "1"}}"#), *is_taken && coerce),
                ];
                let quoted = Value::from(*text).to_string();
                calls.push((&beside, format!(r#"{{"it": {quoted}, "other": 1}}"#), *is_taken && coerce));
                for (tool, arguments, is_taken) in calls {
                    let outcome = call(tool, &arguments);
                    if arguments.contains("\\\"") && is_value(tool) {
                        continue;
                    }
                    assert_eq!(outcome.is_ok(), is_taken, "{arguments}, coerce: {coerce}: {outcome:?}");
                    let context = ToolContext::new(tool.definition().name.clone());
                    let validated = tool.validate(&arguments, &context);
                    assert_eq!(validated.is_ok(), is_taken, "{arguments}, coerce: {coerce}: {validated:?}");
                    for violation in validated.err().iter().flat_map(ToolError::violations) {
                        let is_told = violation.message.contains("given twice");
                        assert_eq!(is_told, violation.kind == ViolationKind::Duplicate, "{violation:?}");
                    }
                }
            }
        }
    }
}

/// Returns whether a string is a value of the parameter's type.
fn is_value(tool: &ClosureTool) -> bool {
    tool.definition().parameters["properties"]["it"].get("type").is_none_or(|kind| kind == "string")
        && tool.definition().parameters["properties"]["it"].get("anyOf").is_none()
        && tool.definition().parameters["properties"]["it"].get("oneOf").is_none()
}

/// Takes parameters.
#[tool(register = false)]
fn refusing(a: u8, open: Option<Open>, any: Option<Value>) -> String {
    format!("{a} {open:?} {any:?}")
}

/// Takes parameters, and ignores other arguments.
#[tool(register = false, unknown = "ignore", coerce = false)]
fn ignoring(a: u8, open: Option<Open>, any: Option<Value>) -> String {
    format!("{a} {open:?} {any:?}")
}

#[test]
fn repeated_arguments_of_functions_and_of_dynamic_tools_are_refused() {
    let functions: [(FunctionTool, bool); 2] = [(refusing::tool(), false), (ignoring::tool(), true)];
    for (tool, ignores_unknown) in &functions {
        for (arguments, is_taken) in [
            (r#"{"a": 1, "a": 1}"#, false),
            (r#"{"a": 1, "open": {"a": 1, "a": 1}}"#, false),
            (r#"{"a": 1, "open": {"a": 1, "x": 1, "x": 1}}"#, true),
            (r#"{"a": 1, "any": {"a": 1, "a": 1}}"#, false),
            (r#"{"a": 1, "x": 1, "x": 1}"#, *ignores_unknown),
            (r#"{"a": 1, "x": {"y": 1, "y": 1}}"#, *ignores_unknown),
        ] {
            let outcome = call(tool, arguments);
            assert_eq!(outcome.is_ok(), is_taken, "{arguments}: {outcome:?}");
        }
    }
    #[cfg(feature = "jsonschema")]
    for coerce in [false, true] {
        let schema = serde_json::json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let tool = toolkit::DynamicTool::new("dynamic", "", schema, |it: Value| it.to_string());
        let tool = tool.expect("a schema").with_coerce(coerce);
        for arguments in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": 1, "x": 1, "x": 1}"#,
            r#"{"x": {"y": [{"z": 1, "z": 1}]}}"#,
            r#"{"a": "1", "x": 1, "x": 1}"#,
            r#""{\"a\": 1, \"a\": 1}""#,
        ] {
            let outcome = call(&tool, arguments);
            assert!(outcome.is_err(), "{arguments}: {outcome:?}");
        }
    }
}
