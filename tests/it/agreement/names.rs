//! Permissions read arguments under the parameters' own names, however the call spells them, over random types.
//!
//! Names get an alias or another case, values become JSON in strings, and structs become lists. Where the tool still
//! decodes the same values, it must show the same arguments.

use super::made;
use super::random::Random;
use super::reader::Reader;
use super::values::Values;
use std::sync::Arc;
use tokio::runtime::Builder;
use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value};

/// How many values are made for each tool.
const VALUES: usize = 25;

/// How many spellings are tried for each value.
const SPELLINGS: usize = 12;

/// Writes values in other words. The writer does not know the schema, so a tool may refuse a spelling.
struct Speller(Random);

impl Speller {
    fn arguments(&mut self, arguments: &Map<String, Value>) -> Value {
        // At least one change deep inside: a call of many changes is seldom accepted.
        arguments
            .iter()
            .map(|(name, value)| (self.name(name), self.value(value)))
            .collect::<Map<_, _>>()
            .into()
    }

    /// Returns another spelling of a name. The names of parameters are not unique: in another tool, the alias of a
    /// parameter may be an unknown name.
    fn name(&mut self, name: &str) -> String {
        match self.0.below(6) {
            0 if !name.starts_with('p') && made::ALIASES.contains(&&*format!("{name}-alias")) => {
                format!("{name}-alias")
            }
            // A field in another case is an unknown member, which a struct may ignore.
            1 if self.0.once_in(3) && !name.starts_with('T') => name.to_lowercase(),
            _ => name.to_owned(),
        }
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let name = self.name(text);
                // A variant without data may be written as an object.
                if self.0.once_in(12) { Map::from_iter([(name, Value::Null)]).into() } else { name.into() }
            }
            Value::Array(items) => {
                let items: Value = items.iter().map(|item| self.value(item)).collect();
                self.in_string(items)
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (self.name(name), self.value(value)));
                let members: Map<String, Value> = members.collect();
                match self.0.below(10) {
                    0 => members.into_values().collect::<Vec<_>>().into(),
                    _ => self.in_string(members.into()),
                }
            }
            value => value.clone(),
        }
    }

    fn in_string(&mut self, value: Value) -> Value {
        match self.0.below(10) {
            0 => value.to_string().into(),
            1 => format!("```json\n{value}\n```").into(),
            _ => value,
        }
    }
}

#[test]
fn every_spelling_shows_the_same_arguments() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let functions = made::functions().into_iter().map(|it| it.with_metadata(|it| it.with_coerce(true)));
    let closures = made::types().into_iter().map(|(it, _)| it).chain(made::choices());
    let closures = closures.map(|it| it.with_metadata(|it| it.with_coerce(true)));
    let functions = functions.map(|tool| Arc::new(tool) as Arc<dyn Tool>);
    let tools = functions.chain(closures.map(|tool| Arc::new(tool) as Arc<dyn Tool>));
    let (mut found, mut same, mut aliased) = (Vec::new(), 0, 0);
    for (seed, tool) in (0_u64..).zip(tools) {
        let schema = tool.definition().parameters.clone();
        // The values of a hash set have no order.
        if schema.to_string().contains("uniqueItems") {
            continue;
        }
        let reader = Reader::new(tool, &runtime);
        let mut values = Values::new(&schema, seed);
        let mut speller = Speller(Random(seed));
        let mut wrong = Vec::new();
        for _ in 0..VALUES {
            let value = values.fitting(&schema, 4);
            let (Some(members), plain) = (value.as_object(), value.to_string()) else { continue };
            let Some(decoded) = reader.decoded(&plain) else { continue };
            let read = reader.read(&plain);
            for _ in 0..SPELLINGS {
                let spelled = speller.arguments(members);
                let text = spelled.to_string();
                if spelled == value || reader.decoded(&text).as_ref() != Some(&decoded) {
                    continue;
                }
                same += 1;
                aliased += usize::from(text.contains("-alias"));
                let other = reader.read(&text);
                if other != read {
                    wrong.push(format!("{text}\n  {other:?}\n  {plain}\n  {read:?}"));
                }
            }
        }
        let count = wrong.len();
        found.extend(wrong.first().map(|wrong| format!("{count}: {wrong}\n  {schema}")));
    }
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    assert!(same > 1_000 && aliased > 200, "{same} spellings, {aliased} with aliases");
}
