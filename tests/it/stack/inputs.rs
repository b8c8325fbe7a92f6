//! Random schemas, values and payloads: deep, wide and cyclic.

use crate::agreement::random::Random;
use proptest::prelude::*;
use toolkit_ai::serde_json::{Map, Value, json};

/// The size and shape of an input, whose rest follows from the seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input {
    pub(super) seed: u64,
    /// The number of definitions.
    pub(super) definitions: usize,
    nesting: usize,
    pub(super) levels: usize,
    /// The number of equal items or members at the top.
    width: usize,
}

pub(super) fn inputs() -> impl Strategy<Value = Input> {
    let definitions = prop::sample::select(vec![1_usize, 1, 2, 2, 3, 3, 6, 6, 25, 60, 60, 1000]);
    let nesting = prop::sample::select(vec![0_usize, 0, 2, 20, 60, 100, 600]);
    let levels = prop::sample::select(vec![0_usize, 1, 3, 40, 124, 600]);
    let width = prop::sample::select(vec![1_usize, 1, 1, 40, 300]);
    (any::<u64>(), definitions, nesting, levels, width).prop_map(
        |(seed, definitions, nesting, levels, width)| Input { seed, definitions, nesting, levels, width },
    )
}

const KEYWORDS: &str = "$ref $ref allOf anyOf oneOf not if then else properties properties patternProperties \
    additionalProperties propertyNames unevaluatedProperties dependentSchemas items items prefixItems \
    unevaluatedItems contains contentSchema";
const TYPES: [&str; 6] = ["integer", "string", "object", "array", "null", "boolean"];

fn holding(keyword: &str, inner: Value) -> Value {
    match (keyword, inner) {
        ("$ref", inner) => inner.get("$ref").cloned().unwrap_or_default(),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", inner) => Value::Array(vec![inner]),
        ("properties" | "patternProperties" | "dependentSchemas", inner) => member("a", inner),
        (_, inner) => inner,
    }
}

/// Returns an object with one member, without cloning.
fn member(name: &str, value: Value) -> Value {
    Value::Object([(name.to_owned(), value)].into_iter().collect())
}

impl Input {
    pub(super) fn schema(&self) -> Value {
        let mut random = Random(self.seed);
        let all: Vec<&str> = KEYWORDS.split_whitespace().collect();
        let palette: Vec<&str> = (0..1 + random.below(6)).map(|_| random.one(&all)).collect();
        let order = random.below(3);
        let is_typed = random.once_in(2);
        let mut definition = |index: usize| {
            let mut keywords = Map::new();
            if is_typed && random.once_in(2) {
                keywords.insert("type".to_owned(), random.one(&TYPES).into());
            }
            for _ in 0..1 + random.below(3) {
                let target = match order {
                    0 => index + 1,
                    1 => (index + self.definitions - 1) % self.definitions,
                    _ => random.below(self.definitions + 1),
                };
                let inner = match random.below(6) {
                    0 => json!({"type": random.one(&TYPES)}),
                    1 => json!(random.once_in(2)),
                    _ => json!({"$ref": format!("#/$defs/{target}")}),
                };
                let keyword = random.one(&palette);
                match keywords.get_mut(keyword) {
                    Some(Value::Array(list)) => list.push(inner),
                    _ => drop(keywords.insert(keyword.to_owned(), holding(keyword, inner))),
                }
            }
            keywords
        };
        let mut definitions: Map<String, Value> =
            (0..self.definitions).map(|index| (index.to_string(), definition(index).into())).collect();
        definitions.insert(self.definitions.to_string(), json!({"type": "integer", "enum": [1, [[2]]]}));
        let mut root = json!({"$ref": "#/$defs/0"});
        for _ in 0..self.nesting {
            let keyword = random.one(&palette);
            root = member(keyword, holding(keyword, root));
        }
        if let Value::Object(keywords) = &mut root {
            keywords.insert("$defs".to_owned(), definitions.into());
            keywords.insert("type".to_owned(), "object".into());
        }
        root
    }

    /// Returns a value of at most `deepest` levels, with JSON in strings too.
    pub(super) fn value(&self, deepest: usize) -> Value {
        let mut random = Random(!self.seed);
        let leaf = random.one(&[json!(5), json!("5"), json!(null), json!("x"), json!({}), json!("[\"1\"]")]);
        let kind = random.below(3);
        let mut value = leaf;
        for level in 0..self.levels.min(deepest) {
            value = match (kind, level % 2) {
                (0, _) | (2, 0) => Value::Array(vec![value]),
                _ => member("a", value),
            };
        }
        if random.once_in(3) && self.levels < deepest {
            value = value.to_string().into();
        }
        // The number of values is the same at any depth.
        let width = self.width / (1 + self.levels.min(deepest));
        let name = |index: usize| if index == 0 { "a".to_owned() } else { format!("a{index}") };
        match kind {
            _ if width < 2 => value,
            0 => vec![value; width].into(),
            _ => (0..width).map(|index| (name(index), value.clone())).collect::<Map<_, _>>().into(),
        }
    }

    /// Returns a payload's part, with names of fields and types of all APIs anywhere.
    pub(super) fn payload(&self, random: &mut Random, levels: usize) -> Value {
        const FIELDS: &str = "choices candidates content output message tool_calls toolUse delta steps tools \
            messages input contents arguments functionCall function parts response item usage error text id name role \
            args tool_use result parameters schema index call_id type";
        const WORDS: &str = "function function_call tool_use tool_call tool_result text assistant user message \
            content_block_delta response.output_item.done response.completed input_json_delta message_start model 0 c";
        let fields: Vec<&str> = FIELDS.split_whitespace().collect();
        let words: Vec<&str> = WORDS.split_whitespace().collect();
        if levels == 0 {
            return self.value(2);
        }
        let mut members = Map::new();
        members.insert("type".to_owned(), random.one(&words).into());
        members.insert(random.one(&fields).to_owned(), random.one(&words).into());
        let inner = self.payload(random, levels - 1);
        let inner = if random.once_in(2) { vec![inner].into() } else { inner };
        members.insert(random.one(&fields).to_owned(), inner);
        members.into()
    }
}
