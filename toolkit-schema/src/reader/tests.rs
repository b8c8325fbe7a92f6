//! Tests that the reader agrees with `serde_json`, also in messages.

use super::Reader;
use crate::contract::Contract;
use proptest::prelude::*;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    Reader::unchecked(text).decode().map_err(|error| error.to_string())
}

/// Asserts that both agree, and returns the message of a refusal.
fn agree<T: DeserializeOwned + Debug>(text: &str) -> Option<String> {
    let expected = serde_json::from_str::<T>(text).map_err(|error| error.to_string());
    let read = read::<T>(text);
    assert_eq!(format!("{:?}", read.as_ref().ok()), format!("{:?}", expected.as_ref().ok()), "{text}");
    read.err()
}

fn agree_on_message<T: DeserializeOwned + Debug>(text: &str) {
    let expected = serde_json::from_str::<T>(text).unwrap_err().to_string();
    let message = agree::<T>(text).unwrap_or_default();
    assert_eq!(message, expected.split(" at line ").next().unwrap_or_default(), "{text}");
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "the values are printed and compared")]
struct Every {
    #[serde(default)]
    small: i8,
    #[serde(default)]
    wide: u128,
    #[serde(default)]
    single: f32,
    #[serde(default, deserialize_with = "doubled")]
    double: f64,
    letter: Option<char>,
    unit: Option<()>,
    tuple: Option<(u8, String)>,
    #[serde(default)]
    bytes: Vec<u8>,
    level: Option<Level>,
    shape: Option<Shape>,
    either: Option<Either>,
    tagged: Option<Tagged>,
    wrapped: Option<Wrapped>,
    boxed: Option<Box<Self>>,
    counts: Option<BTreeMap<u64, bool>>,
    levels: Option<BTreeMap<Level, i64>>,
    any: Option<Value>,
    raw: Option<Box<RawValue>>,
    number: Option<Number>,
    dropped: Option<IgnoredAny>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

fn doubled<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    f64::deserialize(deserializer).map(|number| number * 2.0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "the values are printed and compared")]
enum Shape {
    Point,
    Circle(f64),
    Line(i32, i32),
    Area { width: u32, height: Option<u32> },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(dead_code, reason = "the values are printed and compared")]
enum Either {
    Whole(i64),
    Words { words: Vec<String> },
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "the values are printed and compared")]
enum Tagged {
    Mail { to: String, copies: Option<u16> },
    Wait,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "the values are printed and compared")]
struct Wrapped(Vec<f32>);

#[test]
fn values_of_every_form_are_read_as_serde_json_reads_them() {
    let accepted = [
        r#"{}"#,
        r#" { "small" : -128 , "wide":340282366920938463463374607431768211455,"single":16777217,"double":0.1 } "#,
        r#"{"letter":"ß","unit":null,"tuple":[7,"\u00e9\ud83d\ude00"],"bytes":[1,2,255]}"#,
        r#"{"level":"high","shape":"Point"}"#,
        r#"{"shape":{"Circle":1e2}}"#,
        r#"{"shape":{"Line":[1,-2]}}"#,
        r#"{"shape":{"Area":{"width":3,"height":null}}}"#,
        r#"{"shape":{"Area":[3,4]}}"#,
        r#"{"shape":{"Point":null}}"#,
        r#"{"either":5}"#,
        r#"{"either":{"words":["a"]}}"#,
        r#"{"either":"a"}"#,
        r#"{"tagged":{"copies":2,"kind":"Mail","to":"ada"}}"#,
        r#"{"tagged":{"kind":"Wait","more":[1]}}"#,
        r#"{"wrapped":[0.1,16777217.5,1]}"#,
        r#"{"boxed":{"boxed":{"small":1}}}"#,
        r#"{"counts":{"18446744073709551615":true,"0":false}}"#,
        r#"{"levels":{"low":1,"high":2}}"#,
        r#"{"any":{"b":[1,2.50,-0,18446744073709551616,null],"a":"\n"}}"#,
        r#"{"raw": { "kept" : [ 1.50 ] } }"#,
        r#"{"number":-0.0}"#,
        r#"{"dropped":[{"a":"\ud800"}, 1e999]}"#,
        r#"{"unknown":{"deep":[[[]]]},"more":1.0}"#,
        r#"{"any":1e-400,"double":123456789012345678901234567890}"#,
        r#"{"double":-0,"single":1e38}"#,
    ];
    for text in accepted {
        assert_eq!(agree::<Every>(text), None, "{text}");
    }
}

#[test]
fn what_a_type_refuses_is_refused_with_the_same_message() {
    for text in [
        r#"{"small":128}"#,
        r#"{"small":1.5}"#,
        r#"{"small":"1"}"#,
        r#"{"small":null}"#,
        r#"{"small":-0}"#,
        r#"{"double":1e999}"#,
        r#"{"double":[]}"#,
        r#"{"letter":"ab"}"#,
        r#"{"unit":0}"#,
        r#"{"tuple":[7]}"#,
        r#"{"bytes":{}}"#,
        r#"{"level":"middle"}"#,
        r#"{"shape":{"Square":1}}"#,
        r#"{"shape":"Circle"}"#,
        r#"{"shape":{"Area":{}}}"#,
        r#"{"either":[1]}"#,
        r#"{"tagged":{"to":"ada"}}"#,
        r#"{"tagged":{"kind":"Call"}}"#,
        r#"{"boxed":[{}]}"#,
        r#"{"levels":{"middle":1}}"#,
        r#"{"any":"\ud800"}"#,
        r#"{"number":"1"}"#,
        r#"{"small":1,"small":2}"#,
        "[]",
        "7",
        "null",
    ] {
        agree_on_message::<Every>(text);
    }
    // `serde_json` says less here.
    for (text, message) in [
        (r#"{"level":5}"#, "invalid type: integer `5`, expected enum Level"),
        (r#"{"shape":true}"#, "invalid type: boolean `true`, expected enum Shape"),
        (r#"{"wide":-1}"#, "invalid value: integer `-1`, expected u128"),
    ] {
        assert_eq!(agree::<Every>(text).as_deref(), Some(message));
    }
    let mut reader = Reader::unchecked(r#"{"tuple":[1,"a"],"small":"x","single":1}"#);
    assert!(reader.decode::<Every>().is_err());
    assert_eq!(reader.offset(), r#"{"tuple":[1,"a"],"small":"x""#.len());
}

#[test]
fn texts_that_are_no_json_are_refused() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "}",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a" 1}"#,
        "{a:1}",
        "{1:2}",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "NaN",
        "nul",
        "nulll",
        "tru",
        "True",
        "\"",
        "\"\u{1}\"",
        r#""\x""#,
        r#""\u12"#,
        r#""\u12g4""#,
        "1 2",
        "{} {}",
        "'a'",
        "[1]]",
        "\u{a0}1",
        "\u{feff}{}",
        "/*1*/ 1",
    ] {
        assert!(agree::<Value>(text).is_some(), "{text}");
        assert!(agree::<IgnoredAny>(text).is_some(), "{text}");
        assert!(agree::<Box<RawValue>>(text).is_some(), "{text}");
    }
}

#[test]
fn a_text_may_be_as_deep_as_serde_json_takes() {
    for depth in [126, 127, 128, 129] {
        let list = "[".repeat(depth) + &"]".repeat(depth);
        let object = r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        assert_eq!(agree::<Value>(&list).is_none(), depth <= 127, "{depth}");
        assert_eq!(agree::<Value>(&object).is_none(), depth <= 127, "{depth}");
    }
}

#[test]
fn texts_without_escapes_are_borrowed() {
    #[derive(Deserialize)]
    struct Borrowed<'a> {
        plain: &'a str,
        #[serde(borrow)]
        raw: &'a RawValue,
        #[serde(borrow)]
        escaped: Cow<'a, str>,
    }
    let text = r#"{"plain":"a","raw":[1, 2],"escaped":"\n"}"#;
    let read = Borrowed::deserialize(&mut Reader::unchecked(text)).unwrap();
    assert_eq!((read.plain, read.raw.get(), &*read.escaped), ("a", "[1, 2]", "\n"));
    assert!(<&str>::deserialize(&mut Reader::unchecked(r#""\n""#)).is_err());
}

fn value() -> impl Strategy<Value = Value> {
    let name = prop_oneof![Just("a".to_owned()), Just("b\"".to_owned()), "[a-zé\\\\]{0,9}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_read_as_serde_json_reads_it(value in value(), is_pretty: bool) {
        let text = if is_pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert_eq!(agree::<Value>(&text), None);
    }

    #[test]
    fn a_damaged_text_is_refused_where_serde_json_refuses_it(
        value in value(), at: prop::sample::Index, put in r#"[\[\]{},:"\\ 0-9eE.+untf-]"#, length in 0_usize..2,
    ) {
        let text = value.to_string();
        let mut characters: Vec<char> = text.chars().collect();
        let start = at.index(characters.len() + 1);
        let end = (start + length).min(characters.len());
        characters.splice(start..end, put.chars());
        let damaged: String = characters.into_iter().collect();
        agree::<Value>(&damaged);
        agree::<IgnoredAny>(&damaged);
    }

    #[test]
    fn a_float_is_read_bit_for_bit(bits: u64) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let text = format!("{number:e}");
        prop_assert_eq!(read::<f64>(&text).map(f64::to_bits), Ok(bits));
        let single = number as f32;
        if single.is_finite() {
            prop_assert_eq!(read::<f32>(&format!("{single:e}")).map(f32::to_bits), Ok(single.to_bits()));
        }
    }

    #[test]
    fn an_integer_keeps_all_digits(number: i128, unsigned: u128) {
        prop_assert_eq!(read::<i128>(&number.to_string()), Ok(number));
        prop_assert_eq!(read::<u128>(&unsigned.to_string()), Ok(unsigned));
        agree::<i64>(&(number >> 60).to_string());
        agree::<u64>(&(unsigned >> 60).to_string());
    }
}

/// A type that ignores values which it cannot read.
#[derive(Debug, Deserialize)]
struct Lenient {
    #[serde(default, deserialize_with = "or_none")]
    level: Option<i64>,
    #[serde(default, deserialize_with = "or_none")]
    names: Option<Vec<String>>,
}

fn or_none<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(deserializer).ok())
}

#[test]
fn a_type_that_goes_on_after_an_error_hides_no_violation() {
    let contract =
        Contract::foreign(&json!({"type": "object", "additionalProperties": false, "properties": {
            "level": {"type": "integer", "maximum": 10},
            "names": {"type": "array", "items": {"enum": ["a", "b"], "type": "string"}, "maxItems": 2},
        }}))
        .unwrap();
    let accepted: Lenient = contract.reader(r#"{"level": 5, "names": ["a"]}"#).decode().unwrap();
    assert_eq!((accepted.level, accepted.names), (Some(5), Some(vec!["a".to_owned()])));
    for text in [
        r#"{"level": 11}"#,
        r#"{"level": 1.5}"#,
        r#"{"level": "5"}"#,
        r#"{"level": true}"#,
        r#"{"level": null}"#,
        r#"{"names": ["a", "b", "a"]}"#,
        r#"{"names": ["a", "c"]}"#,
        r#"{"names": "a"}"#,
    ] {
        assert!(contract.reader(text).decode::<Lenient>().is_err(), "{text}");
    }
}
