//! Calls have one normal form exactly if they decode alike, over random types.

use super::made;
use super::random::Random;
use super::reader::Reader;
use super::values::{Values, resolve};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Builder;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Map, Value};

/// The values for each tool.
const VALUES: usize = 12;

/// The texts for each value.
const TEXTS: usize = 6;

/// The changed values for each value.
const SPOILED: usize = 10;

/// Writes a value in one of the ways that mean the same.
pub(super) struct Writer<'a> {
    pub(super) root: &'a Value,
    pub(super) random: Random,
}

impl<'a> Writer<'a> {
    pub(super) fn call(&mut self, value: &Value) -> String {
        let text = self.write(self.root, value);
        let text = match self.random.below(8) {
            0 => format!("[{}{text}]", self.space()),
            _ => text,
        };
        match self.random.below(8) {
            0 => Value::from(text).to_string(),
            1 => format!("```json\n{text}\n```"),
            2 => format!("```\n{text}```"),
            3 => format!(" \n{text}\t"),
            _ => text,
        }
    }

    fn space(&mut self) -> &'static str {
        self.random.one(&["", "", " ", "\n  "])
    }

    fn write(&mut self, schema: &'a Value, value: &Value) -> String {
        let schema = resolve(self.root, schema);
        let kind = schema.get("type").and_then(Value::as_str);
        // A member's spelling may tell branches apart.
        if schema.get("anyOf").is_some() || schema.get("oneOf").is_some() {
            return value.to_string();
        }
        match (value, kind) {
            (Value::Number(number), Some("integer")) => {
                let way = self.random.one(&["{}", "{}", "{}.0", "{}e0", "\"{}\"", "\" {}.00\""]);
                way.replace("{}", &number.to_string())
            }
            (Value::Number(number), Some("number")) => {
                let text = if number.is_f64() { number.to_string() } else { format!("{number}.0") };
                self.random.one(&["{}", "{}", "\"{}\""]).replace("{}", &text)
            }
            (Value::Bool(value), Some("boolean")) => {
                let word =
                    if *value { ["true", "\"True\"", "\"yes\""] } else { ["false", "\"FALSE\"", "\"no\""] };
                self.random.one(&word).to_owned()
            }
            (Value::String(text), _) => match schema.get("enum").and_then(Value::as_array) {
                Some(words) if self.random.once_in(2) => in_other_case(words, text),
                _ if self.random.once_in(4) => escaped(text),
                _ => value.to_string(),
            },
            (Value::Array(items), Some("array")) => {
                let text = self.array(schema, items);
                self.in_string(schema, text)
            }
            (Value::Object(members), Some("object")) => {
                let text = self.object(schema, members);
                self.in_string(schema, text)
            }
            (Value::Object(members), _) => self.object(schema, members),
            (value, _) => value.to_string(),
        }
    }

    /// Sometimes writes a list or object as a string, plain or in a fence.
    fn in_string(&mut self, schema: &Value, text: String) -> String {
        if std::ptr::eq(schema, self.root) {
            return text;
        }
        match self.random.below(24) {
            0 => Value::from(text).to_string(),
            1 => Value::from(format!("```json\n{text}\n```")).to_string(),
            _ => text,
        }
    }

    fn array(&mut self, schema: &'a Value, items: &[Value]) -> String {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let written = items.iter().enumerate().map(|(index, item)| {
            let of_item = first.and_then(|first| first.get(index)).or(schema.get("items"));
            let text = of_item.map_or_else(|| item.to_string(), |of_item| self.write(of_item, item));
            text + self.space()
        });
        format!("[{}]", written.collect::<Vec<_>>().join(","))
    }

    fn object(&mut self, schema: &'a Value, members: &Map<String, Value>) -> String {
        let properties = schema.get("properties").and_then(Value::as_object);
        let property = |name: &str| properties.and_then(|properties| properties.get(name));
        let mut written = Vec::new();
        for (name, value) in members {
            let of_member =
                property(name).or_else(|| schema.get("additionalProperties").filter(|it| it.is_object()));
            let is_default = of_member.is_some_and(|of_member| of_member.get("default") == Some(value));
            if !is_default || !self.random.once_in(2) {
                let text = of_member.map_or_else(|| value.to_string(), |schema| self.write(schema, value));
                written.push((name.clone(), text));
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|own| own == name));
        for (name, of_member) in properties.into_iter().flatten() {
            // A default stands for an absent member, as does `null` where it is no value.
            let kind = resolve(self.root, of_member).get("type");
            let absent = match of_member.get("default") {
                Some(default) => self.write(of_member, default),
                None if kind.is_none_or(|kind| kind.to_string().contains("null")) => continue,
                None => "null".to_owned(),
            };
            if !members.contains_key(name) && !is_required(name) && self.random.once_in(2) {
                written.push((name.clone(), absent));
            }
        }
        for last in (1..written.len()).rev() {
            let other = self.random.below(last + 1);
            written.swap(last, other);
        }
        let mut text = Vec::new();
        for (name, value) in written {
            text.push(format!("{}{}:{}{value}", self.space(), escaped(&name), self.space()));
        }
        format!("{{{}{}}}", text.join(","), self.space())
    }
}

/// An allowed word in another spelling, if it stays unambiguous.
fn in_other_case(words: &[Value], text: &str) -> String {
    let folded = |word: &str| word.replace(['-', '_', ' '], "").to_lowercase();
    let alike = words.iter().filter_map(Value::as_str).filter(|word| folded(word) == folded(text)).count();
    if alike == 1 { Value::from(text.to_lowercase().replace('-', "_")) } else { Value::from(text) }
        .to_string()
}

fn escaped(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next().map(u32::from) {
        Some(first @ 0x20..=0xffff) => {
            let rest = Value::from(characters.as_str()).to_string();
            rest.replacen('"', &format!("\"\\u{first:04x}"), 1)
        }
        _ => Value::from(text).to_string(),
    }
}

#[track_caller]
fn check(tools: Vec<Arc<dyn Tool>>) {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let mut found = Vec::new();
    let mut equal = 0;
    let mut different = 0;
    for (seed, tool) in (0_u64..).zip(&tools) {
        let schema = &tool.definition().parameters;
        // A hash set has no order.
        if schema.to_string().contains("uniqueItems") {
            continue;
        }
        let reader = Reader::new(tool.clone(), &runtime);
        let mut values = Values::new(schema, seed);
        let mut writer = Writer { root: schema, random: Random(seed) };
        let mut meanings: BTreeMap<String, (String, String)> = BTreeMap::new();
        let mut wrong = Vec::new();
        for _ in 0..VALUES {
            let value = values.fitting(schema, 4);
            let plain = value.to_string();
            let Ok(decoded) = reader.decoded(&plain) else { continue };
            let canonical = reader.canonical(&plain);
            for _ in 0..TEXTS {
                let text = writer.call(&value);
                if reader.decoded(&text).ok().as_ref() != Some(&decoded) {
                    wrong.push(format!("decoded otherwise: {plain}\n  {text:?}"));
                } else if reader.canonical(&text) != canonical {
                    let canonical = [canonical.clone(), reader.canonical(&text)];
                    wrong.push(format!("one call, two forms: {plain}\n  {text}\n  {canonical:?}"));
                }
                equal += 1;
            }
            for _ in 0..SPOILED {
                let mut value = value.clone();
                values.spoil(&mut value);
                let text = value.to_string();
                let (Ok(decoded), Some(canonical)) = (reader.decoded(&text), reader.canonical(&text)) else {
                    continue;
                };
                let (known, other) =
                    meanings.entry(canonical).or_insert_with(|| (decoded.clone(), text.clone()));
                if *known != decoded {
                    wrong.push(format!("two calls, one form: {text}\n  {other}\n  {decoded}\n  {known}"));
                }
                different += 1;
            }
        }
        found.extend(wrong.first().map(|wrong| format!("{wrong}\n  {}: {schema}", tool.definition().name)));
    }
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    assert!(
        equal > VALUES * tools.len() && different > VALUES * tools.len() / 2,
        "{equal} and {different} texts"
    );
}

#[test]
fn calls_of_functions_are_equal_if_their_parameters_are() {
    let tools = made::functions().into_iter();
    check(
        tools.map(|tool| Arc::new(tool.map_metadata(|it| it.with_coerce(true))) as Arc<dyn Tool>).collect(),
    );
}

#[test]
fn calls_of_closures_are_equal_if_their_arguments_are() {
    let tools = made::types().into_iter().map(|(tool, _)| tool);
    check(
        tools.map(|tool| Arc::new(tool.map_metadata(|it| it.with_coerce(true))) as Arc<dyn Tool>).collect(),
    );
}
