//! Schema and decoder agree: what the one allows the other takes, and what the one refuses the other refuses.
//!
//! The values leave out what is taken beyond the schema on purpose or by serde: `null` for nothing, items
//! that stand twice in a set, and a list of values in the place of a structure.

use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, HashSet};
use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Documented.
    Fast,
    VerySlow,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Inner {
    #[serde(rename = "n")]
    _n: i16,
    #[serde(rename = "mode")]
    _mode: Option<Mode>,
    #[serde(default, rename = "list")]
    _list: Vec<u8>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(dead_code)]
enum Tagged {
    A { inner: Box<Inner> },
    B { size: u64 },
}

/// Takes a bit of everything.
#[tool(namespace = "agreement", coerce = false)]
#[allow(clippy::too_many_arguments)]
fn take(
    #[param(length = 1..=5)] text: String,
    #[param(range = 1..=200)] small: u8,
    #[param(multiple_of = 1)] signed: i32,
    big: Option<u64>,
    real: Option<f64>,
    #[param(default)] flag: bool,
    list: Option<Vec<i8>>,
    map: Option<BTreeMap<String, u16>>,
    set: Option<HashSet<String>>,
    pair: Option<(bool, String)>,
    mode: Option<Mode>,
    inner: Option<Inner>,
    tagged: Option<Tagged>,
) -> usize {
    let counts = [list.map(|list| list.len()), map.map(|map| map.len()), set.map(|set| set.len())];
    let rest = [mode.is_some(), inner.is_some(), tagged.is_some(), flag, real.is_some(), pair.is_some()];
    text.len()
        + usize::from(small)
        + signed.unsigned_abs() as usize
        + usize::from(big.is_some())
        + counts.into_iter().flatten().sum::<usize>()
        + rest.into_iter().filter(|there| *there).count()
}

const NAMES: &[&str] = &[
    "text", "small", "signed", "big", "real", "flag", "list", "map", "set", "pair", "mode", "inner",
    "tagged", "other",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
        select(vec![0.5, -1.25, 1e-3]).prop_map(Value::from),
        select(vec!["", "a", "fast", "very-slow", "Fast", "hello world", "日本", "5", "[1]", "true", "null"])
            .prop_map(Value::from),
    ]
}

fn inner() -> impl Strategy<Value = Value> {
    (
        select(vec![json!(5), json!(-32768), json!(40000), json!("x")]),
        select(vec![None, Some(json!("fast")), Some(json!("slow"))]),
        select(vec![None, Some(json!([1, 2])), Some(json!([256])), Some(json!({}))]),
        any::<bool>(),
    )
        .prop_map(|(n, mode, list, extra)| {
            let mut inner = Map::new();
            inner.insert("n".to_owned(), n);
            inner.extend(mode.map(|mode| ("mode".to_owned(), mode)));
            inner.extend(list.map(|list| ("list".to_owned(), list)));
            inner.extend(extra.then(|| ("extra".to_owned(), json!(1))));
            Value::Object(inner)
        })
}

fn value() -> impl Strategy<Value = Value> {
    let tagged = prop_oneof![
        inner().prop_map(|inner| json!({"kind": "a", "inner": inner})),
        scalar().prop_map(|size| json!({"kind": "b", "size": size})),
        scalar().prop_map(|kind| json!({"kind": kind, "size": 1})),
    ];
    prop_oneof![
        4 => scalar(),
        1 => prop::collection::vec(scalar(), 0..4).prop_map(distinct),
        1 => prop::collection::btree_map("[a-c]", scalar(), 0..3).prop_map(|map| json!(map)),
        1 => inner(),
        1 => tagged,
        1 => select(vec![json!([true, "x"]), json!([true]), json!([true, "x", 1]), json!([])]),
    ]
}

fn distinct(items: Vec<Value>) -> Value {
    let mut distinct: Vec<Value> = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    Value::Array(distinct)
}

/// Arguments that are often right: a right value for each parameter, some of them replaced.
fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let right = json!({
        "text": "t", "small": 1, "signed": -1, "big": 1, "real": 0.5, "flag": true, "list": [1], "map": {"a": 1},
        "set": ["a"], "pair": [true, "x"], "mode": "fast", "inner": {"n": 1}, "tagged": {"kind": "b", "size": 1},
    });
    let right = right.as_object().cloned().unwrap_or_default();
    let replaced = prop::collection::vec((select(NAMES), value()), 0..4);
    let removed = prop::collection::vec(select(NAMES), 0..4);
    (replaced, removed).prop_map(move |(replaced, removed)| {
        let mut arguments = right.clone();
        arguments.extend(replaced.into_iter().map(|(name, value)| (name.to_owned(), value)));
        removed.into_iter().for_each(|name| drop(arguments.remove(name)));
        arguments
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn schema_and_decoder_agree(arguments in arguments()) {
        prop_assume!(!["inner", "tagged"].iter().any(|name| arguments.get(*name).is_some_and(Value::is_array)));
        let tool = take::tool();
        let arguments = Value::Object(arguments);
        let validator = jsonschema::validator_for(&tool.definition().parameters).expect("the schema is one");
        let context = ToolContext::new(tool.definition().name.clone());
        let text = arguments.to_string();
        let outcome = tool.call(&text, &context).try_ready().expect("the tool is synchronous");
        prop_assert_eq!(outcome.is_ok(), validator.is_valid(&arguments), "{}\n{:?}", text, outcome);
        if let Err(error) = outcome {
            prop_assert!(!error.violations().is_empty());
        }
    }
}
