//! Values that fit a schema, and changes that mostly do not.

use super::random::Random;
use toolkit_ai::serde_json::{Map, Value, json};

pub(super) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str);
    target.and_then(|target| root.pointer(target.strip_prefix('#')?)).unwrap_or(schema)
}

pub(super) struct Values<'a> {
    root: &'a Value,
    random: Random,
    /// The schema's names, allowed values and bounds, with neighbours.
    near: Vec<Value>,
}

impl<'a> Values<'a> {
    pub(super) fn new(root: &'a Value, seed: u64) -> Self {
        let mut near = vec![
            json!(null),
            json!(true),
            json!(0),
            json!(1),
            json!(-1),
            json!(70),
            json!(256),
            json!(-129),
            json!(65536),
            json!(4_294_967_296_u64),
            json!(i64::MIN),
            json!(0.5),
            json!(-0.25),
            json!(1e-7),
            json!(""),
            json!("a"),
            json!("b5"),
            json!("abc"),
            json!("日本"),
            json!("1"),
            json!("[1]"),
            json!("2024-02-30"),
            json!([]),
            json!({}),
            json!([1, 1]),
            json!(["a"]),
            json!([null, "a"]),
            json!({"a": 1}),
            json!({"kind": "V0"}),
            json!({"V0": null}),
        ];
        // Names of enums, which a schema may hide.
        let names = ["one", "two", "three", "a, b", "c` or `d", "e`, `f"].into_iter();
        near.extend(
            names.flat_map(|name| [json!(name), json!(format!("{name}-alias")), json!(format!("{name}~"))]),
        );
        near.extend([json!("A"), json!("BB"), json!({"two": null})]);
        collect_near(root, &mut near);
        let mut different: Vec<Value> = Vec::new();
        for value in near {
            if !different.contains(&value) && !is_whole_float(&value) {
                different.push(value);
            }
        }
        Self { root, random: Random(seed), near: different }
    }

    /// Returns a value that fits, as far as this needs no trials.
    pub(super) fn fitting(&mut self, schema: &Value, depth: usize) -> Value {
        let schema = resolve(self.root, schema);
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        let list =
            |keyword: &str| schema.get(keyword).and_then(Value::as_array).filter(|list| !list.is_empty());
        if let Some(values) = list("enum") {
            return self.random.one(values);
        }
        if let Some(branches) = list("anyOf").or_else(|| list("oneOf")) {
            let branch = self.random.one(branches);
            let value = self.fitting(&branch, depth);
            return match (self.object(schema, depth), value) {
                (Value::Object(mut own), Value::Object(of_branch)) => {
                    own.extend(of_branch);
                    own.into()
                }
                (_, value) => value,
            };
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => Some(self.random.one(kinds)),
            kind => kind.cloned(),
        };
        match kind.as_ref().and_then(Value::as_str) {
            Some("null") => Value::Null,
            Some("boolean") => self.random.once_in(2).into(),
            Some("integer") => self.integer(schema),
            Some("number") => self.number(schema),
            Some("string") => self.text(schema).into(),
            Some("array") => self.array(schema, depth),
            Some("object") => self.object(schema, depth),
            _ => self.random.one(&self.near),
        }
    }

    fn integer(&mut self, schema: &Value) -> Value {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
        let least = bound("minimum");
        let most = bound("maximum");
        if (least, most) == (Some(0), None) && self.random.once_in(4) {
            return u64::MAX.into();
        }
        let least = least.or(most.map(|most| most.saturating_sub(9))).unwrap_or(-3);
        let most = most.unwrap_or(least + 9);
        let some = least.saturating_add(i64::try_from(self.random.below(9)).unwrap_or_default()).min(most);
        let step = bound("multipleOf").unwrap_or(1);
        let any = self.random.one(&[least, some, some, most]);
        (any / step * step).into()
    }

    fn number(&mut self, schema: &Value) -> Value {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let least = bound("minimum").unwrap_or(-1.5);
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - 0.5));
        let most = most.unwrap_or(least + 3.0);
        let candidates = [json!(least), json!(most), json!(1), json!(2.0), json!(1.5), json!(least + 0.25)];
        self.random.one(&candidates)
    }

    fn text(&mut self, schema: &Value) -> String {
        let said = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let known: &[&str] = match (said("pattern"), said("format")) {
            (Some("^[a-c]+$"), _) => &["a", "abc", "cab"],
            (Some("[0-9]"), _) => &["0", "a5", "b5"],
            (_, Some("ipv4")) => &["127.0.0.1", "10.20.30.40", "1.2.3"],
            (_, Some("date")) => &["2024-02-29", "1999-12-31", "2023-02-29"],
            _ => &[],
        };
        if !known.is_empty() {
            return self.random.one(known).to_owned();
        }
        let bound = |keyword: &str| schema.get(keyword)?.as_u64()?.try_into().ok();
        let least: usize = bound("minLength").unwrap_or(0);
        let most = bound("maxLength").unwrap_or(least + 3);
        let length = least + self.random.below(most.saturating_sub(least) + 1);
        (0..length).map(|_| self.random.one(&['a', 'b', '5', '日', '"'])).collect()
    }

    fn count(&mut self, schema: &Value, least: &str, most: &str, depth: usize) -> usize {
        let bound = |keyword: &str| schema.get(keyword)?.as_u64()?.try_into().ok();
        let least: usize = bound(least).unwrap_or(0);
        let more = if depth == 0 { 0 } else { self.random.below(3) };
        bound(most).map_or(least + more, |most: usize| most.min(least + more))
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let count = self.count(schema, "minItems", "maxItems", depth);
        let mut items: Vec<Value> = Vec::new();
        for index in 0..count {
            let item =
                first.and_then(|first| first.get(index)).or(schema.get("items")).unwrap_or(&Value::Null);
            let item = self.fitting(item, depth.saturating_sub(1));
            if schema.get("uniqueItems").is_none() || !items.contains(&item) {
                items.push(item);
            }
        }
        items.into()
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut members = Map::new();
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let required = required.is_some_and(|required| required.iter().any(|required| required == name));
            if required || (depth > 0 && self.random.once_in(2)) {
                members.insert(name.clone(), self.fitting(property, depth.saturating_sub(1)));
            }
        }
        if let Some(others) = schema.get("additionalProperties").filter(|others| others.is_object()) {
            for index in 0..self.count(schema, "minProperties", "maxProperties", depth) {
                members.insert(format!("k{index}"), self.fitting(others, depth.saturating_sub(1)));
            }
        }
        members.into()
    }

    pub(super) fn spoil(&mut self, value: &mut Value) {
        let mut places = Vec::new();
        collect_places(value, String::new(), &mut places);
        let other = self.random.one(&self.near);
        let place = self.random.one(&places);
        let Some(found) = value.pointer_mut(&place) else { return };
        match found {
            Value::Object(members) if self.random.once_in(8) && !members.values().any(is_whole_float) => {
                *found = members.values().cloned().collect();
            }
            Value::Object(members) if !self.random.once_in(4) => {
                let names: Vec<String> = members.keys().cloned().collect();
                let near: Vec<&str> = self.near.iter().filter_map(Value::as_str).collect();
                match (self.random.below(3), names.is_empty()) {
                    (0, false) => drop(members.shift_remove(&self.random.one(&names))),
                    (1, false) => {
                        let old = self.random.one(&names);
                        let new = if self.random.once_in(2) {
                            format!("{old}-alias")
                        } else {
                            self.random.one(&near).to_owned()
                        };
                        let moved = members.shift_remove(&old);
                        members.insert(new, moved.unwrap_or_default());
                    }
                    _ => drop(members.insert(self.random.one(&near).to_owned(), other)),
                }
            }
            Value::Array(items) if !self.random.once_in(4) => {
                match (self.random.below(3), items.last().cloned()) {
                    (0, Some(last)) if !is_whole_float(&last) => items.push(last),
                    (1, Some(_)) => drop(items.pop()),
                    _ => items.push(other),
                }
            }
            found => *found = other,
        }
    }
}

/// Returns whether an integer has a fraction, as 5.0.
fn is_whole_float(value: &Value) -> bool {
    value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Returns the JSON pointers to a value and all inside.
fn collect_places(value: &Value, here: String, places: &mut Vec<String>) {
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(name, value)| collect_places(value, format!("{here}/{}", escaped(name)), places));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| collect_places(item, format!("{here}/{at}"), places));
        }
        _ => {}
    }
    places.push(here);
}

/// Returns properties' names and other keywords' values, and neighbours of numbers.
fn collect_near(schema: &Value, near: &mut Vec<Value>) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), value) {
                    ("properties" | "$defs", Value::Object(named)) => {
                        near.extend(named.keys().cloned().map(Value::from));
                        named.values().for_each(|schema| collect_near(schema, near));
                    }
                    ("type" | "$ref" | "description", _) => {}
                    (_, value) => collect_near(value, near),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_near(item, near)),
        Value::Number(number) => {
            let whole = number.as_i64();
            let beside =
                [whole.and_then(|whole| whole.checked_sub(1)), whole.and_then(|whole| whole.checked_add(1))];
            near.extend(beside.into_iter().flatten().map(Value::from));
            near.push(schema.clone());
        }
        other => near.push(other.clone()),
    }
}
