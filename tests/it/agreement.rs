//! Schema and decoder agree, over random types and values: what the schema allows, the decoder accepts, and
//! what the schema forbids, the decoder refuses.

use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value, json};
use toolkit::{ClosureTool, FunctionTool};

mod beyond;
mod equal;
mod lanes;
mod made;
mod names;
pub(crate) mod random;
mod reader;
mod unions;
mod values;

use beyond::{disagreement, other_value, validator};
use values::Values;

/// How many calls each tool gets.
const CALLS: u64 = 200;

#[track_caller]
fn check<T: Tool>(tools: &[T]) {
    let mut found = Vec::new();
    let mut fitting = 0;
    for (seed, tool) in (0_u64..).zip(tools) {
        let schema = &tool.definition().parameters;
        let validator = validator(schema);
        let mut values = Values::new(schema, seed);
        let of_tool = (0..CALLS).find_map(|call| {
            let mut arguments = values.fitting(schema, 4);
            (0..call % 4).for_each(|_| values.spoil(&mut arguments));
            if !arguments.is_object() {
                return None;
            }
            fitting += u64::from(validator.is_valid(&arguments));
            let wrong = disagreement(tool, &validator, &arguments)?;
            Some(format!("{wrong}\n  {arguments}\n  {}: {schema}", tool.definition().name))
        });
        found.extend(of_tool);
    }
    assert!(found.is_empty(), "{} disagreements\n{}", found.len(), found.join("\n"));
    let calls = CALLS * tools.len() as u64;
    assert!(fitting > calls / 4 && fitting < calls * 3 / 4, "{fitting} of {calls} fit: too few of a kind");
}

#[test]
fn functions_agree_with_their_schemas() {
    check::<FunctionTool>(&made::functions());
}

#[test]
fn closures_agree_with_their_schemas() {
    let (tools, _): (Vec<ClosureTool>, Vec<_>) = made::types().into_iter().unzip();
    check(&tools);
}

#[test]
fn closures_get_the_values_that_serde_decodes() {
    let mut found = Vec::new();
    let mut decoded = 0;
    for (seed, (tool, decode)) in (0_u64..).zip(made::types()) {
        let schema = &tool.definition().parameters;
        let mut values = Values::new(schema, seed);
        for call in 0..CALLS {
            let mut arguments = values.fitting(schema, 4);
            (0..call % 3).for_each(|_| values.spoil(&mut arguments));
            let text = arguments.to_string();
            decoded += u64::from(decode(&text).is_some());
            found.extend(
                other_value(&tool, decode, &text).map(|wrong| format!("{wrong}\n  {text}\n  {schema}")),
            );
        }
    }
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    assert!(decoded > CALLS * 10, "{decoded} texts are decoded");
}

/// Returns the output of a tool that decodes its arguments.
#[track_caller]
fn decoded(tool: &FunctionTool, arguments: &Value) -> String {
    let context = ToolContext::new(tool.definition().name.clone());
    let outcome = tool.call(&arguments.to_string(), &context).try_ready().expect("the tool is synchronous");
    let schema = &tool.definition().parameters;
    outcome.unwrap_or_else(|error| panic!("{arguments}: {error}\n{schema}")).to_text().into_owned()
}

/// Returns every schema in `schema` that has a default. The values of keywords are no schemas.
fn with_default<'a>(schema: &'a Value, found: &mut Vec<&'a Value>) {
    let Value::Object(keywords) = schema else { return };
    found.extend(keywords.contains_key("default").then_some(schema));
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("default" | "const" | "enum" | "examples", _) => {}
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values().for_each(|schema| with_default(schema, found));
            }
            (_, Value::Array(list)) => list.iter().for_each(|schema| with_default(schema, found)),
            (_, schema) => with_default(schema, found),
        }
    }
}

#[test]
fn a_published_default_fits_its_schema_at_every_depth() {
    let functions = made::functions().into_iter().chain(made::with_defaults());
    let functions = functions.map(|tool| tool.definition().parameters.clone());
    let closures = made::types().into_iter().map(|(tool, _)| tool.definition().parameters.clone());
    let mut checked = 0;
    for root in functions.chain(closures) {
        let mut schemas = Vec::new();
        with_default(&root, &mut schemas);
        checked += schemas.len();
        for schema in schemas {
            assert!(beyond::fits(&root, schema, &schema["default"]), "{schema}\n{root}");
        }
    }
    assert!(checked > 100, "{checked} defaults");
}

#[test]
fn a_published_default_is_a_valid_argument_with_the_value_of_an_absent_one() {
    for tool in made::with_defaults() {
        let schema = tool.definition().parameters.clone();
        let validator = validator(&schema);
        let of = |name: &str| {
            let default = schema["properties"][name].get("default").cloned();
            default.unwrap_or_else(|| panic!("no default of {name} in {schema}"))
        };
        let holder = values::resolve(&schema, &schema["properties"]["p2"]);
        // The default of `a` is that of `p0`, and the default of `b` that of `p1`. A field with the default `null` has
        // no published default, and need not accept `null`.
        let held = [("a", of("p0")), ("b", of("p1"))].map(|(name, default)| {
            let published = holder["properties"][name].get("default").cloned();
            assert_eq!(published.clone().unwrap_or_default(), default, "{name} in {schema}");
            published.map(|default| (name.to_owned(), default))
        });
        let held: Map<String, Value> = held.into_iter().flatten().collect();
        let given = json!({"p0": of("p0"), "p1": of("p1"), "p2": held});
        assert!(validator.is_valid(&given), "{given}\n{schema}");
        assert_eq!(decoded(&tool, &given), decoded(&tool, &json!({"p2": {}})), "{given}\n{schema}");
        ToolRegistry::from_tools([tool.clone()]).unwrap_or_else(|error| panic!("{error}\n{schema}"));
    }
}
