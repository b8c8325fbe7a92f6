//! Schema and decoder agree, over random types and values: what the schema allows, the decoder accepts, and
//! what the schema forbids, the decoder refuses.

use toolkit::prelude::*;
use toolkit::{ClosureTool, FunctionTool};

mod beyond;
mod equal;
mod made;
mod random;
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
