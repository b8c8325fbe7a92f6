//! Ranges and lists of values: checked unless the type itself refuses all other values.

#![allow(dead_code, reason = "only `Debug` reads the fields")]

use super::argument_promises::call;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use toolkit::ToolParams;
use toolkit::prelude::*;

#[derive(Debug, ToolParams)]
enum Word {
    First,
    #[serde(alias = "2nd")]
    Second,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Plain {
    First,
    #[serde(alias = "2nd")]
    Second,
}

#[derive(Debug, ToolParams)]
enum Open {
    Known,
    #[serde(other)]
    Rest,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum PlainOpen {
    Known,
    #[serde(other)]
    Rest,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Documented {
    /// Is known.
    Known,
    /// Is anything else.
    #[serde(other)]
    Rest,
}

/// The schemas of these fields say more than their types.
#[derive(Debug, Deserialize, JsonSchema)]
struct Narrow {
    #[schemars(with = "Option<i32>")]
    wide: Option<i64>,
    #[schemars(with = "Option<Plain>")]
    text: Option<String>,
    #[schemars(with = "Option<Documented>")]
    documented: Option<String>,
}

/// The list is in a variant, and the type takes any text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Query {
    Get {
        #[schemars(with = "Plain")]
        mode: String,
        count: u8,
    },
    List {
        page: u8,
    },
}

/// The list comes from a type with descriptions, and the type takes any text.
#[derive(Debug, Deserialize, JsonSchema)]
struct Beside {
    #[schemars(with = "Word")]
    text: String,
    count: u8,
}

/// The rules are below patterns of names.
#[derive(Debug, Deserialize, JsonSchema)]
struct Keys {
    #[schemars(with = "Option<BTreeMap<u32, u8>>")]
    bytes: Option<BTreeMap<u32, i64>>,
    #[schemars(with = "Option<BTreeMap<u32, Plain>>")]
    words: Option<BTreeMap<u32, String>>,
}

/// A repeated name is refused by the first variant, and ignored by the second.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Target {
    One { id: u8 },
    All {},
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Envelope {
    count: u8,
    /// Anything.
    payload: serde_json::Value,
}

/// Takes values with ranges and lists.
#[tool(register = false, coerce = false)]
#[allow(clippy::too_many_arguments)]
fn rules(
    word: Option<Word>,
    plain: Option<Plain>,
    #[param(one_of = ["First"])] only: Option<Word>,
    #[param(one_of = ["First"])] only_plain: Option<Plain>,
    open: Option<Open>,
    plain_open: Option<PlainOpen>,
    documented: Option<Documented>,
    narrow: Option<Narrow>,
    numbers: Option<BTreeMap<u32, i64>>,
    byte: Option<u8>,
    query: Option<Query>,
    beside: Option<Beside>,
    keys: Option<Keys>,
    target: Option<Target>,
    envelope: Option<Envelope>,
) -> &'static str {
    let _ = (word, plain, only, only_plain, open, plain_open, documented, narrow, numbers, byte);
    let _ = (query, beside, keys, target, envelope);
    "taken"
}

#[test]
fn a_range_or_a_list_holds_whether_the_type_enforces_it_or_not() {
    for (argument, fits) in [
        (r#""word": "Second""#, true),
        (r#""word": "2nd""#, true),
        (r#""word": "Third""#, false),
        (r#""plain": "2nd""#, false),
        (r#""plain": "Second""#, true),
        (r#""plain": "Third""#, false),
        (r#""only": "First""#, true),
        (r#""only": "Second""#, false),
        (r#""only": "2nd""#, false),
        (r#""only_plain": "First""#, true),
        (r#""only_plain": "Second""#, false),
        (r#""open": "anything""#, true),
        (r#""plain_open": "anything""#, true),
        (r#""documented": "anything""#, true),
        (r#""narrow": {"wide": 2147483647}"#, true),
        (r#""narrow": {"wide": 2147483648}"#, false),
        (r#""narrow": {"text": "First"}"#, true),
        (r#""narrow": {"text": "anything"}"#, false),
        (r#""narrow": {"documented": "Known"}"#, true),
        (r#""narrow": {"documented": "anything"}"#, false),
        (r#""numbers": {"1": 1, "2": 1}"#, true),
        (r#""numbers": {"1": 1, "1": 2}"#, false),
        (r#""byte": 255"#, true),
        (r#""byte": 256"#, false),
        (r#""query": {"kind": "Get", "mode": "First", "count": 1}"#, true),
        (r#""query": {"kind": "Get", "mode": "anything", "count": 1}"#, false),
        (r#""query": {"kind": "List", "page": 1}"#, true),
        (r#""beside": {"text": "Second", "count": 1}"#, true),
        (r#""beside": {"text": "anything", "count": 1}"#, false),
        (r#""keys": {"bytes": {"1": 255}}"#, true),
        (r#""keys": {"bytes": {"1": 256}}"#, false),
        (r#""keys": {"words": {"1": "First"}}"#, true),
        (r#""keys": {"words": {"1": "anything"}}"#, false),
        (r#""target": {"id": 1}"#, true),
        (r#""target": {"id": 1, "id": 2}"#, false),
        (r#""envelope": {"count": 1, "payload": {"a": 1}}"#, true),
        (r#""envelope": {"count": 1, "payload": {"a": 1, "a": 2}}"#, false),
    ] {
        let outcome = call(&rules::tool(), &format!("{{{argument}}}"));
        assert_eq!(outcome.is_ok(), fits, "{argument}: {outcome:?}");
    }
    assert!(!rules::tool().definition().parameters.to_string().contains("x-"));
}
