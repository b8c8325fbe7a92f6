//! Schema and decoder agree, over random types and values: what the schema allows, the decoder accepts, and
//! what the schema forbids, the decoder refuses.

use jsonschema::Validator;
use toolkit::prelude::*;
use toolkit::serde_json::Value;
use toolkit::{ClosureTool, FunctionTool};

mod beyond;
mod equal;
mod random;
mod unions;
mod values;

use values::Values;

/// How many calls each tool gets.
const CALLS: u64 = 200;

#[allow(dead_code, unused_variables, clippy::all)]
mod made {
    /// A closure with the type as its parameter, if the type is written as an object.
    fn take<T: toolkit::ToolParams + std::fmt::Debug + 'static>() -> Option<toolkit::ClosureTool> {
        let tool = toolkit::ClosureTool::new("take", "", |it: T| format!("{it:?}")).ok()?;
        Some(tool.with_metadata(|metadata| metadata.with_coerce(false)))
    }

    /// Whether the values of a type are within the limits of their variant.
    pub(super) trait KeepsLimits {
        fn keeps_limits(&self) -> bool;
    }

    /// The value that a type itself decodes from a text, in the words of `Debug`, and whether it keeps its limits.
    pub(super) type Decode = fn(&str) -> Option<(String, bool)>;

    /// The limit of another field makes the tool check all arguments.
    #[derive(Debug, toolkit::ToolParams)]
    struct BesideLimit<T> {
        it: T,
        #[param(range = ..=5)]
        limited: Option<u8>,
    }

    fn beside_serde<T>() -> (toolkit::ClosureTool, Decode)
    where
        T: toolkit::ToolParams + KeepsLimits + std::fmt::Debug + 'static,
    {
        let tool = take::<BesideLimit<T>>().expect("an object");
        (tool, |text| {
            let decoded: BesideLimit<T> = serde_json::from_str(text).ok()?;
            Some((format!("{decoded:?}"), decoded.it.keeps_limits()))
        })
    }

    include!(concat!(env!("OUT_DIR"), "/agreement.rs"));
}

fn validator(schema: &Value) -> Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("the schema is one")
}

/// Returns the disagreement about a call, if there is one.
fn disagreement(tool: &dyn Tool, validator: &Validator, arguments: &Value) -> Option<String> {
    let schema = &tool.definition().parameters;
    let context = ToolContext::new(tool.definition().name.clone());
    let text = arguments.to_string();
    let outcome = tool.call(&text, &context).try_ready().expect("the tool is synchronous");
    let valid = validator.is_valid(arguments);
    match outcome {
        Ok(_) if valid || validator.is_valid(&beyond::plainly(schema, schema, arguments)) => None,
        Ok(_) => Some("taken, though the schema refuses it".to_owned()),
        // If the schema allows other members, it cannot see that a member is an alias of a property.
        Err(error)
            if valid && beyond::with_own_names(arguments).is_some_and(|own| validator.is_valid(&own)) =>
        {
            Some(format!("refused, though the schema allows it: {error}"))
        }
        Err(error) if error.violations().is_empty() => Some(format!("refused without a violation: {error}")),
        Err(_) => None,
    }
}

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
    check::<ClosureTool>(&made::types());
}
