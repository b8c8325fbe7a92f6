//! Lists and ranges of types with rules of their own: each value that a tool takes is allowed by its schema.

#![allow(dead_code, reason = "only `Debug` reads the fields")]

use super::argument_promises::call;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use toolkit::ClosureTool;
use toolkit::ToolParams;
use toolkit::prelude::*;

#[derive(Debug, Deserialize, JsonSchema)]
enum Two {
    First,
    Second,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Three {
    First,
    Second,
    Third,
}

/// The names of the type, declared by the derive.
#[derive(Debug, ToolParams)]
enum Declared {
    First,
    #[serde(alias = "2nd")]
    Second,
    #[serde(alias = "3rd")]
    Third,
}

#[derive(Debug, ToolParams)]
enum DeclaredTwo {
    First,
    #[serde(alias = "2nd")]
    Second,
}

/// Three uppercase letters.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Currency(String);

impl TryFrom<String> for Currency {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
            true => Ok(Self(text)),
            false => Err("expected three uppercase letters"),
        }
    }
}

impl JsonSchema for Currency {
    fn schema_name() -> Cow<'static, str> {
        "Currency".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

/// A multiple of ten.
#[derive(Debug, Deserialize)]
#[serde(try_from = "i64")]
struct Tens(i64);

impl TryFrom<i64> for Tens {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        if number % 10 == 0 { Ok(Self(number)) } else { Err("expected a multiple of ten") }
    }
}

/// A word, or an object with the word in a member. The visitor says what serde's enums say.
#[derive(Debug)]
struct TextOrMap(String);

impl<'de> Deserialize<'de> for TextOrMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = TextOrMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("string or map")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<TextOrMap, E> {
                Ok(TextOrMap(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TextOrMap, A::Error> {
                let mut word = None;
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if name == "word" {
                        word = value.as_str().map(str::to_owned);
                    }
                }
                word.map(TextOrMap).ok_or_else(|| A::Error::missing_field("word"))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for TextOrMap {
    fn schema_name() -> Cow<'static, str> {
        "TextOrMap".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "string", "enum": ["one", "two"]},
            {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        ]})
    }
}

/// A variant of an enum, or any other text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum WordOrText {
    Word(Two),
    Text(String),
}

/// The model is not told of the last variant.
#[derive(Debug, Deserialize, JsonSchema)]
enum Hiding {
    First,
    #[schemars(skip)]
    Second,
}

/// The names contain what separates names in a list.
#[derive(Debug, Deserialize, JsonSchema)]
enum Separated {
    #[serde(rename = "a, b")]
    First,
    #[serde(rename = "c` or `d")]
    Second,
    #[serde(rename = "e`, `f")]
    Third,
}

/// A byte, or the number 1000.
#[derive(Debug, Deserialize)]
#[serde(try_from = "i64")]
struct ByteOrThousand(i64);

impl TryFrom<i64> for ByteOrThousand {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        if (0..=255).contains(&number) || number == 1000 { Ok(Self(number)) } else { Err("expected a byte") }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Fields {
    #[schemars(with = "Option<Two>")]
    plain_with: Option<Three>,
    #[schemars(extend("enum" = ["First", "Second"]))]
    plain_extended: Option<Three>,
    #[schemars(extend("const" = "First"))]
    plain_const: Option<Three>,
    hiding: Option<Hiding>,
    separated: Option<Separated>,
    #[schemars(extend("enum" = ["a, b", "e`, `f"]))]
    separated_extended: Option<Separated>,
    #[schemars(with = "Option<u8>")]
    thousand: Option<ByteOrThousand>,
    #[schemars(extend("enum" = ["auto", true, false]))]
    mixed: Option<Value>,
    #[schemars(extend("enum" = ["First", "Second"]))]
    word_or_text: Option<WordOrText>,
    #[schemars(with = "Option<DeclaredTwo>")]
    with_declared: Option<Three>,
    #[schemars(extend("enum" = ["First", "Second"]))]
    declared: Option<Declared>,
    whole: Option<Declared>,
    #[schemars(extend("const" = true))]
    only_true: Option<bool>,
    #[schemars(extend("enum" = [true]))]
    listed_true: Option<bool>,
    #[schemars(extend("enum" = ["USD", "EUR"]))]
    currency: Option<Currency>,
    #[schemars(extend("const" = "USD"))]
    dollars: Option<Currency>,
    #[schemars(with = "Option<u8>")]
    byte: Option<Tens>,
    #[schemars(range(min = 0, max = 50))]
    #[schemars(with = "Option<i32>")]
    limited: Option<Tens>,
    either: Option<TextOrMap>,
    #[schemars(with = "Option<String>")]
    text: Option<TextOrMap>,
}

/// The same fields, with the derive of the framework.
#[derive(Debug, ToolParams)]
struct Derived {
    #[schemars(with = "Option<Two>")]
    with: Option<Three>,
    #[schemars(extend("enum" = ["First", "Second"]))]
    extended: Option<Three>,
    #[schemars(extend("enum" = ["First", "Second"]))]
    declared: Option<Declared>,
    whole: Option<Declared>,
    #[schemars(extend("const" = true))]
    only_true: Option<bool>,
    #[schemars(extend("enum" = ["USD", "EUR"]))]
    currency: Option<Currency>,
}

/// No sample of the code is known, so the type cannot be asked about any of its fields.
#[derive(Debug, Deserialize, JsonSchema)]
struct Unasked {
    #[schemars(extend("const" = "USD"))]
    dollars: Option<Currency>,
    #[schemars(extend("const" = "First"))]
    first: Option<Three>,
    #[serde(default = "code")]
    code: Currency,
    #[schemars(extend("const" = true))]
    only_true: Option<bool>,
    #[schemars(extend("enum" = ["USD", "EUR"]))]
    currency: Option<Currency>,
    #[schemars(with = "Option<u8>")]
    byte: Option<Tens>,
    #[schemars(with = "Option<i32>")]
    #[schemars(extend("enum" = [10, 20]))]
    limited: Option<Tens>,
    #[schemars(with = "Option<i8>")]
    signed: Option<Tens>,
    whole: Option<Declared>,
    three: Option<Three>,
}

fn code() -> Currency {
    Currency("ABC".to_owned())
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Around<T> {
    it: Option<T>,
    list: Option<Vec<T>>,
    pair: Option<(u8, T)>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged<T> {
    One { it: T },
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct InTag<T> {
    it: Option<Tagged<T>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Flat<T> {
    #[serde(flatten)]
    it: T,
    other: Option<u8>,
}

/// The fields of the struct with the derive of the framework.
const LISTED: [(&str, &str, bool); 4] = [
    ("with", r#""Second""#, true),
    ("with", r#""Third""#, false),
    ("extended", r#""First""#, true),
    ("extended", r#""Third""#, false),
];

const FIELDS: [(&str, &str, bool); 54] = [
    ("plain_with", r#""Second""#, true),
    ("plain_with", r#""Third""#, false),
    ("plain_with", r#"{"Third": null}"#, false),
    ("plain_extended", r#""Second""#, true),
    ("plain_extended", r#""Third""#, false),
    ("plain_const", r#""First""#, true),
    ("plain_const", r#""Second""#, false),
    ("hiding", r#""First""#, true),
    ("hiding", r#""Second""#, false),
    ("separated", r#""a, b""#, true),
    ("separated", r#""c` or `d""#, true),
    ("separated", r#""a""#, false),
    ("separated_extended", r#""e`, `f""#, true),
    ("separated_extended", r#""c` or `d""#, false),
    ("thousand", "255", true),
    ("thousand", "256", false),
    ("thousand", "1000", false),
    ("thousand", "-1", false),
    ("mixed", r#""auto""#, true),
    ("mixed", "false", true),
    ("mixed", r#""banana""#, false),
    ("word_or_text", r#""First""#, true),
    ("word_or_text", r#""anything""#, false),
    ("with_declared", r#""Second""#, true),
    ("with_declared", r#""Third""#, false),
    ("declared", r#""Second""#, true),
    ("declared", r#""Third""#, false),
    ("declared", r#""3rd""#, false),
    ("whole", r#""Third""#, true),
    ("whole", r#""3rd""#, true),
    ("whole", r#""4th""#, false),
    ("only_true", "true", true),
    ("only_true", "false", false),
    ("listed_true", "true", true),
    ("listed_true", "false", false),
    ("currency", r#""EUR""#, true),
    ("currency", r#""GBP""#, false),
    ("currency", r#""x""#, false),
    ("dollars", r#""USD""#, true),
    ("dollars", r#""EUR""#, false),
    ("byte", "250", true),
    ("byte", "260", false),
    ("byte", "300", false),
    ("byte", "-10", false),
    ("limited", "50", true),
    ("limited", "60", false),
    ("either", r#""one""#, true),
    ("either", r#""three""#, false),
    ("either", r#"{"word": "three"}"#, true),
    ("either", r#"{"text": "three"}"#, false),
    ("either", "97", false),
    ("text", r#""three""#, true),
    ("text", r#"{"word": "three"}"#, false),
    ("text", "{}", false),
];

/// Calls a tool for each field and each place. A value is taken if and only if the schema of the field allows
/// it.
fn check<T: ToolParams + fmt::Debug + 'static>(
    fields: &[(&str, &str, bool)],
    place: impl Fn(String) -> String,
) {
    for coerce in [false, true] {
        let tool = ClosureTool::new("take", "", |it: T| format!("{it:?}")).expect("an object");
        let tool = tool.with_metadata(|metadata| metadata.with_coerce(coerce));
        assert!(!tool.definition().parameters.to_string().contains("x-"), "{:?}", tool.definition());
        for (field, value, fits) in fields {
            let arguments = place(format!(r#"{{"{field}": {value}}}"#));
            let outcome = call(&tool, &arguments);
            assert_eq!(outcome.is_ok(), *fits, "{arguments}, coerce: {coerce}: {outcome:?}");
        }
    }
}

/// The constants are no tags: they are constants of fields.
#[derive(Debug, Deserialize, JsonSchema)]
struct Constants {
    #[schemars(with = "Option<i32>")]
    number: Option<f64>,
    result: Option<Result<String, Dollars>>,
    untagged: Option<Untagged>,
    tagged: Option<Paid>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("const" = "USD"))]
struct Dollars(Currency);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    One { dollars: Dollars },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Paid {
    Free,
    In { dollars: Dollars },
}

#[test]
fn a_constant_of_a_field_is_no_tag() {
    let fields = [
        ("number", "5", true),
        ("number", "1.5", false),
        ("result", r#"{"Err": "USD"}"#, true),
        ("result", r#"{"Err": "EUR"}"#, false),
        ("untagged", r#"{"dollars": "USD"}"#, true),
        ("untagged", r#"{"dollars": "EUR"}"#, false),
        ("tagged", r#"{"kind": "In", "dollars": "USD"}"#, true),
        ("tagged", r#"{"kind": "In", "dollars": "EUR"}"#, false),
        ("tagged", r#"{"kind": "Free"}"#, true),
    ];
    check::<Constants>(&fields, |it| it);
    check::<Around<Constants>>(&fields, |it| format!(r#"{{"list": [{it}]}}"#));
}

#[test]
fn lists_and_ranges_of_types_with_other_rules_hold_at_every_depth() {
    check::<Fields>(&FIELDS, |it| it);
    check::<Around<Fields>>(&FIELDS, |it| format!(r#"{{"it": {it}}}"#));
    check::<Around<Fields>>(&FIELDS, |it| format!(r#"{{"list": [{{}}, {it}]}}"#));
    check::<Around<Fields>>(&FIELDS, |it| format!(r#"{{"pair": [1, {it}]}}"#));
    check::<InTag<Fields>>(&FIELDS, |it| format!(r#"{{"it": {{"kind": "One", "it": {it}}}}}"#));
    check::<Flat<Fields>>(&FIELDS, |it| it);
}

#[test]
fn lists_of_derived_types_hold_at_every_depth() {
    let is_field =
        |field: &&(&str, &str, bool)| ["declared", "whole", "only_true", "currency"].contains(&field.0);
    let fields: Vec<_> = FIELDS.iter().filter(is_field).chain(&LISTED).copied().collect();
    check::<Derived>(&fields, |it| it);
    check::<Around<Derived>>(&fields, |it| format!(r#"{{"list": [{it}]}}"#));
    check::<Flat<Derived>>(&fields, |it| it);
}

#[test]
fn lists_of_types_that_cannot_be_asked_hold() {
    let fields = [
        ("only_true", "true", true),
        ("only_true", "false", false),
        ("currency", r#""EUR""#, true),
        ("currency", r#""GBP""#, false),
        ("dollars", r#""USD""#, true),
        ("dollars", r#""EUR""#, false),
        ("first", r#""First""#, true),
        ("first", r#""Second""#, false),
        ("byte", "250", true),
        ("byte", "300", false),
        ("signed", "-120", true),
        ("signed", "-130", false),
        ("signed", "130", false),
        ("limited", "10", true),
        ("limited", "30", false),
        ("whole", r#""3rd""#, true),
        ("whole", r#""4th""#, false),
        ("three", r#""Third""#, true),
        ("code", r#""XYZ""#, true),
        ("code", r#""x""#, false),
    ];
    check::<Unasked>(&fields, |it| it);
    check::<Around<Unasked>>(&fields, |it| format!(r#"{{"list": [{it}]}}"#));
}

/// Takes parameters of its own.
#[tool(register = false, coerce = false)]
fn parameters(
    three: Option<Three>,
    declared: Option<Declared>,
    #[param(one_of = ["First"])] first: Option<Declared>,
    either: Option<TextOrMap>,
    either_again: Option<Vec<TextOrMap>>,
) -> &'static str {
    let _ = (three, declared, first, either, either_again);
    "taken"
}

#[test]
fn a_type_for_text_or_map_is_no_enum() {
    for (argument, fits) in [
        (json!({"either": "one"}), true),
        (json!({"either": "three"}), false),
        (json!({"either": {"word": "three"}}), true),
        (json!({"either": {"one": null}}), false),
        (json!({"either_again": ["two", {"word": "x"}]}), true),
        (json!({"either_again": ["two", "three"]}), false),
        (json!({"three": "Third"}), true),
        (json!({"declared": "3rd"}), true),
        (json!({"first": "3rd"}), false),
    ] {
        let outcome = call(&parameters::tool(), &argument.to_string());
        assert_eq!(outcome.is_ok(), fits, "{argument}: {outcome:?}");
    }
}
