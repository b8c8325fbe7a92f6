//! Values of unions: the constraints of the branch that a value is of, however the type reads it.

#![allow(dead_code, reason = "only `Debug` reads the fields")]

use super::argument_promises::call;
use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::prelude::*;
use toolkit::{ClosureTool, ToolParams};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct UpTo4(#[schemars(range(max = 4))] u8);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct UpTo99(#[schemars(range(max = 99))] u8);

#[derive(Debug, ToolParams)]
#[serde(untagged)]
enum ByCode {
    ByCode {
        #[param(pattern = "^[A-Z]+$")]
        code: String,
    },
    ById {
        code: u64,
    },
}

#[derive(Debug, ToolParams)]
#[serde(untagged)]
enum Flag {
    Text(#[param(length = ..=2)] String),
    Flag(bool),
}

#[derive(Debug, ToolParams)]
#[serde(untagged)]
enum Lists {
    Texts(#[param(length = ..=1)] Vec<String>),
    Numbers(Vec<u32>),
}

#[derive(Debug, ToolParams)]
#[serde(untagged)]
enum Point {
    Point { x: u8 },
    Data(#[param(items(range = ..=4))] Vec<u8>),
}

#[derive(Debug, ToolParams)]
#[serde(tag = "kind")]
enum Kinds {
    A {
        #[param(range = ..=4)]
        x: u8,
    },
    B {
        #[param(range = ..=100)]
        y: u8,
    },
}

#[derive(Debug, ToolParams)]
#[serde(tag = "outer")]
enum Outer {
    Inner(Kinds),
}

#[derive(Debug, ToolParams)]
#[serde(tag = "kind", content = "of")]
enum Adjacent {
    C(UpTo4),
    D(UpTo99),
}

/// Takes unions with constraints.
#[tool(register = false)]
#[allow(clippy::too_many_arguments)]
fn lenient(
    code: Option<ByCode>,
    flag: Option<Flag>,
    lists: Option<Lists>,
    point: Option<Point>,
    kinds: Option<Kinds>,
    outer: Option<Outer>,
    adjacent: Option<Adjacent>,
    result: Option<Result<UpTo4, UpTo99>>,
) -> String {
    format!("{code:?} {flag:?} {lists:?} {point:?} {kinds:?} {outer:?} {adjacent:?} {result:?}")
}

/// Returns the same tool without coercion.
fn strict() -> impl Tool {
    lenient::tool().with_metadata(|metadata| metadata.with_coerce(false))
}

#[test]
fn no_other_branch_excuses_a_constraint() {
    for arguments in [
        r#"{"code": {"code": "12"}}"#,
        r#"{"code": {"code": "1.0"}}"#,
        r#"{"flag": "yes"}"#,
        r#"{"flag": "true"}"#,
        r#"{"lists": ["1", "2"]}"#,
        r#"{"point": [9]}"#,
        r#"{"kinds": ["A", 9]}"#,
        r#"{"kinds": ["B", 101]}"#,
        r#"{"kinds": {"kind": "A", "x": 9}}"#,
        r#"{"outer": ["Inner", "A", 9]}"#,
        r#"{"adjacent": ["C", 9]}"#,
        r#"{"result": {"Ok": 9}}"#,
        r#"{"result": {"Err": 100}}"#,
    ] {
        let error = call(&strict(), arguments).expect_err(arguments);
        let parameter = arguments.split('"').nth(1).unwrap_or_default();
        assert!(error.contains(&format!("`{parameter}")), "{arguments}: {error}");
        // A near miss may be coerced to a value of another branch.
        let output = call(&lenient::tool(), arguments).unwrap_or_default();
        let violating = ["ByCode {", "Text(", "Texts(", "Data(", "Kinds", "A {", "B {", "C(", "Ok(", "Err("];
        assert!(violating.iter().all(|branch| !output.contains(branch)), "{arguments}: {output}");
    }
}

#[test]
fn values_of_a_branch_are_taken() {
    for arguments in [
        r#"{"code": {"code": "AB"}}"#,
        r#"{"code": {"code": 12}}"#,
        r#"{"flag": "no"}"#,
        r#"{"flag": true}"#,
        r#"{"lists": ["1"]}"#,
        r#"{"lists": [1, 2]}"#,
        r#"{"point": [4]}"#,
        r#"{"point": {"x": 9}}"#,
        r#"{"kinds": {"kind": "B", "y": 100}}"#,
        r#"{"outer": {"outer": "Inner", "kind": "A", "x": 4}}"#,
        r#"{"adjacent": {"kind": "C", "of": 4}}"#,
        r#"{"result": {"Ok": 4}}"#,
        r#"{"result": {"Err": 99}}"#,
    ] {
        call(&strict(), arguments).expect(arguments);
        call(&lenient::tool(), arguments).expect(arguments);
    }
}

#[derive(Debug, ToolParams)]
enum Word {
    First,
    #[serde(alias = "2nd")]
    Second,
}

#[derive(Debug, ToolParams)]
struct Numbered {
    number: u8,
}

#[derive(Debug, ToolParams)]
struct Worded {
    number: i64,
    words: Vec<Word>,
}

/// `Plain` has only the bounds of its types, which the type itself enforces.
#[derive(Debug, ToolParams)]
#[serde(untagged)]
enum Bounded {
    Plain {
        number: u8,
        text: String,
    },
    Alias {
        number: i64,
        text: Word,
    },
    Limited {
        #[param(range = ..=9)]
        limited: u8,
    },
    Word {
        limited: i64,
        word: Word,
    },
    Lists {
        list: Vec<Numbered>,
    },
    Other {
        list: Vec<Worded>,
    },
}

/// Takes a union with the bounds of types, and with aliases that the schema does not list.
#[tool(register = false, coerce = false)]
fn bounded(it: Bounded) -> String {
    format!("{it:?}")
}

#[test]
fn a_bound_of_a_type_does_not_hold_a_value_to_a_variant_that_the_type_refuses() {
    for (it, expected) in [
        (r#"{"number": -1, "text": "2nd"}"#, "Alias { number: -1, text: Second }"),
        (r#"{"number": 1, "text": "2nd"}"#, r#"Plain { number: 1, text: "2nd" }"#),
        (r#"{"limited": 256, "word": "2nd"}"#, "Word { limited: 256, word: Second }"),
        (
            r#"{"list": [{"number": 1, "words": []}, {"number": -1, "words": ["2nd"]}]}"#,
            "Other { list: [Worded { number: 1, words: [] }, Worded { number: -1, words: [Second] }] }",
        ),
    ] {
        let output = call(&bounded::tool(), &format!(r#"{{"it": {it}}}"#)).expect(it);
        assert_eq!(output, expected, "{it}");
    }
    // The type takes this value as `Limited`, whose limit it does not know.
    let error = call(&bounded::tool(), r#"{"it": {"limited": 10, "word": "2nd"}}"#).expect_err("a limit");
    assert!(error.contains("`it.limited`: expected integer from 0 to 9"), "{error}");
}

#[test]
fn a_limit_is_that_of_the_branch() {
    let error = call(&strict(), r#"{"result": {"Err": 100}}"#).expect_err("beyond the limit");
    assert!(error.contains("`result.Err`: expected integer from 0 to 99"), "{error}");
}

#[test]
fn a_union_does_not_hinder_the_coercion_of_its_neighbours() {
    let arguments = r#"{"a": "5", "result": {"Ok": 1}, "text": 5}"#;
    let output = call(&neighbours::tool(), arguments).expect("a string for an integer");
    assert_eq!(output, r#"5 Ok(UpTo4(1)) "5""#);
}

/// Takes a union between other parameters.
#[tool(register = false)]
fn neighbours(a: i8, result: Result<UpTo4, UpTo99>, text: String) -> String {
    format!("{a} {result:?} {text:?}")
}

#[test]
fn a_list_for_a_tagged_union_is_refused_within_a_whole_type_too() {
    #[derive(Debug, ToolParams)]
    struct Whole {
        kinds: Vec<Kinds>,
    }
    let tool = ClosureTool::new("whole", "", |it: Whole| format!("{it:?}")).expect("a tool");
    call(&tool, r#"{"kinds": [{"kind": "A", "x": 4}]}"#).expect("a value of the union");
    let error = call(&tool, r#"{"kinds": [["A", 4]]}"#).expect_err("a list");
    assert!(error.contains("`kinds[0]`: expected "), "{error}");
}
