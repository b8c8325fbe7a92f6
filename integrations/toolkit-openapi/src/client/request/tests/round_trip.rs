//! What is written is read back, by a reader that knows only the raw text, and no argument leaves its place.

use super::*;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

/// Reads items as a list, or as an object if `is_object`.
fn of_items(items: Vec<String>, is_object: bool) -> Value {
    if !is_object {
        return items.into();
    }
    let pairs = items.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone().into()));
    Value::Object(pairs.collect())
}

fn of_equations<'a>(equations: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    let split = |text: &'a str| text.split_once('=').unwrap_or((text, ""));
    equations.map(split).map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn of_pairs(pairs: Vec<(String, String)>, is_object: bool) -> Value {
    if is_object {
        return Value::Object(pairs.into_iter().map(|(name, value)| (name, value.into())).collect());
    }
    pairs.into_iter().map(|(_, value)| Value::String(value)).collect()
}

fn read_query(query: &str, style: Style, explode: bool, is_object: bool) -> Value {
    if style == Style::DeepObject {
        let inside =
            |name: &str| name.strip_prefix("x%5B").and_then(|name| name.strip_suffix("%5D")).map(decoded);
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
        return Value::Object(
            pairs.map(|(name, value)| (inside(name).unwrap(), decoded(value).into())).collect(),
        );
    }
    if explode {
        return of_pairs(of_equations(query.split('&')), is_object);
    }
    let delimiter = match style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::Tab => "%09",
        _ => ",",
    };
    let value = query.strip_prefix("x=").unwrap();
    of_items(value.split(delimiter).map(decoded).collect(), is_object)
}

fn read_segment(segment: &str, style: Style, explode: bool, is_object: bool) -> Value {
    let (value, delimiter) = match style {
        Style::Label => (segment.strip_prefix('.').unwrap(), if explode { "." } else { "," }),
        Style::Matrix if explode => (segment.strip_prefix(';').unwrap(), ";"),
        Style::Matrix => (segment.strip_prefix(";x").unwrap().trim_start_matches('='), ","),
        _ => (segment, ","),
    };
    match (style, explode, is_object) {
        (Style::Matrix, true, _) | (_, true, true) => {
            of_pairs(of_equations(value.split(delimiter)), is_object)
        }
        _ => of_items(value.split(delimiter).map(decoded).collect(), is_object),
    }
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z]{0,3}", r"[ %&=?#/\\.,;:|\[\]+\t\r\n]{0,3}", ".{0,3}"];
    let key = prop_oneof!["[a-z]{1,3}", r"[ %&=?#/.,;|\[\]+]{1,2}"];
    prop_oneof![
        vec(text.clone(), 1..4).prop_map(|items| json!(items)),
        btree_map(key, text, 1..4).prop_map(|members| json!(members)),
    ]
}

/// Whether an item has a delimiter that its place does not encode.
fn is_ambiguous(value: &Value, delimiter: char) -> bool {
    let mut texts: Vec<&str> = Vec::new();
    match value {
        Value::Array(items) => texts.extend(items.iter().filter_map(Value::as_str)),
        Value::Object(members) => {
            texts.extend(members.iter().flat_map(|(key, value)| [key.as_str(), value.as_str().unwrap()]));
        }
        _ => {}
    }
    texts.iter().any(|text| text.contains(delimiter))
}

fn serialized(style: Style, explode: bool, allow_reserved: bool) -> Serialization {
    Serialization::Style { style, explode, allow_reserved }
}

/// A value of objects and lists inside of each other, none of them empty.
fn nested() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z]{0,3}", r"[ %&=?#/.,;|\[\]+]{0,2}"];
    text.prop_map(Value::from).prop_recursive(3, 12, 3, |inside| {
        let key = prop_oneof!["[a-z]{1,2}", r"[ %&=\[\]+.;]{1,2}"];
        prop_oneof![
            vec(inside.clone(), 1..4).prop_map(Value::from),
            btree_map(key, inside, 1..4).prop_map(|members| json!(members)),
        ]
    })
}

/// Adds the texts of a value by their names: those of members, and the indices of items.
fn add_texts(value: &Value, names: &[String], texts: &mut BTreeMap<Vec<String>, String>) {
    let within = |name: String| [names, &[name]].concat();
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| add_texts(item, &within(i.to_string()), texts));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| add_texts(value, &within(name.clone()), texts));
        }
        text => drop(texts.insert(names.to_vec(), text.as_str().unwrap().to_owned())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_query_is_read_back(value in value(), style in 0..5_usize, explode: bool, allow_reserved: bool) {
        let style =
            [Style::Form, Style::SpaceDelimited, Style::PipeDelimited, Style::Tab, Style::DeepObject][style];
        prop_assume!(style != Style::DeepObject || value.is_object());
        let serialization = serialized(style, explode, allow_reserved);
        let operation = operation("/a/b", vec![parameter("x", Location::Query, serialization)]);
        let delimiter = match style {
            Style::SpaceDelimited => ' ',
            Style::PipeDelimited => '|',
            Style::Tab => '\t',
            _ => ',',
        };
        match send(&operation, &json!({"x": value})) {
            Ok(request) => {
                let query = request.uri().query().unwrap();
                prop_assert_eq!(read_query(query, style, explode, value.is_object()), value);
                prop_assert_eq!(request.uri().authority().unwrap().as_str(), "api.example.com");
                prop_assert_eq!(request.uri().path(), "/v1/a/b");
            }
            Err(error) if style == Style::DeepObject => {
                prop_assert!(is_ambiguous(&value, '[') || is_ambiguous(&value, ']'), "{}", error);
            }
            Err(error) => prop_assert!(!explode && is_ambiguous(&value, delimiter), "{}", error),
        }
    }

    #[test]
    fn a_deep_object_is_read_back(value in nested(), allow_reserved: bool) {
        let serialization = serialized(Style::DeepObject, true, allow_reserved);
        let operation = operation("/", vec![parameter("x", Location::Query, serialization)]);
        let mut texts = BTreeMap::new();
        add_texts(&value, &["x".to_owned()], &mut texts);
        let Ok(request) = send(&operation, &json!({"x": value})) else {
            prop_assert!(texts.keys().flatten().any(|name| name.contains(['[', ']'])));
            return Ok(());
        };
        let pairs = of_equations(request.uri().query().unwrap().split('&'));
        prop_assert_eq!(pairs.len(), texts.len());
        for (name, text) in pairs {
            let names = name.split('[').map(|name| name.trim_end_matches(']').to_owned()).collect::<Vec<_>>();
            prop_assert_eq!(texts.get(&names), Some(&text), "{}", name);
        }
    }

    #[test]
    fn a_cookie_is_read_back_and_adds_no_other(value in value(), explode: bool, allow_reserved: bool) {
        let serialization = serialized(Style::Form, explode, allow_reserved);
        let operation = operation("/", vec![parameter("x", Location::Cookie, serialization)]);
        match send(&operation, &json!({"x": value})) {
            Ok(request) => {
                let header = request.headers()["cookie"].to_str().unwrap();
                let is_octet = |c: char| c.is_ascii_graphic() && !";\"\\".contains(c) && (c != ',' || !explode);
                prop_assert!(header.split("; ").all(|pair| pair.chars().all(is_octet)), "{}", header);
                let query = header.replace("; ", "&");
                prop_assert_eq!(read_query(&query, Style::Form, explode, value.is_object()), value);
            }
            Err(error) => prop_assert!(!explode && is_ambiguous(&value, ','), "{}", error),
        }
    }

    #[test]
    fn a_segment_of_a_path_is_read_back_and_stays_one(value in value(), style in 0..3_usize, explode: bool) {
        let style = [Style::Simple, Style::Label, Style::Matrix][style];
        let operation = operation("/a/{x}/b", vec![parameter("x", Location::Path, styled(style, explode))]);
        match send(&operation, &json!({"x": value})) {
            Ok(request) => {
                let segments: Vec<&str> = request.uri().path().split('/').collect();
                prop_assert_eq!((segments.len(), segments[2], segments[4]), (5, "a", "b"));
                prop_assert_eq!(read_segment(segments[3], style, explode, value.is_object()), value);
                prop_assert_eq!(request.uri().authority().unwrap().as_str(), "api.example.com");
                prop_assert_eq!(request.uri().query(), None);
            }
            Err(error) => {
                let is_refused = error.to_string().contains("must not") || style == Style::Label && is_ambiguous(&value, '.');
                prop_assert!(is_refused, "{}", error);
            }
        }
    }

    #[test]
    fn a_header_is_one_line(value in value(), explode: bool) {
        let operation = operation("/", vec![parameter("x", Location::Header, styled(Style::Simple, explode))]);
        if let Ok(request) = send(&operation, &json!({"x": value})) {
            let text = request.headers()["x"].to_str().unwrap();
            let items = text.split(',').map(str::to_owned);
            let read = if explode && value.is_object() {
                let split = |item: String| item.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
                of_pairs(items.map(|item| split(item).unwrap()).collect(), true)
            } else {
                of_items(items.collect(), value.is_object())
            };
            prop_assert_eq!(read, value);
            prop_assert_eq!(request.headers().len(), 2);
        }
    }
}
