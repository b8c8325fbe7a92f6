//! One contract, over random types and values: tools take what schemas publish, and rules read it and change
//! nothing.

use std::sync::Arc;
use tokio::runtime::Builder;
use toolkit_ai::ClosureTool;
use toolkit_ai::definition::UnknownArguments;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{self, Map, Value};

mod equal;
mod made;
mod oracle;
pub(crate) mod random;
mod reader;
mod values;

use made::Decode;
use oracle::{plain_validator, validator};
use reader::Reader;
use values::Values;

/// The calls for each tool, set by `TOOLKIT_CALLS`.
fn calls() -> u64 {
    std::env::var("TOOLKIT_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(100)
}

/// A tool, and what serde decodes for its type.
type Made = (Arc<dyn Tool>, Option<Decode>);

#[track_caller]
fn check(tools: impl IntoIterator<Item = Made>) {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let mut found = Vec::new();
    let mut fitting = 0;
    let mut excused = 0;
    let mut all = 0;
    for (seed, (tool, decode)) in (0_u64..).zip(tools) {
        let schema = &tool.definition().parameters;
        let oracle = validator(schema);
        let is_closed = tool.definition().metadata.unknown == UnknownArguments::Refuse;
        let published = tool.definition().published(false).into_owned().parameters;
        let client = plain_validator(&published);
        // An object of several parts is not closed.
        let has_parts = published.to_string().contains("\"allOf\"");
        let reader = Reader::new(tool.clone(), &runtime);
        let mut values = Values::new(schema, seed);
        let mut wrong = None;
        for call in 0..calls() {
            let mut arguments = values.fitting(schema, 4);
            (0..call % 4).for_each(|_| values.spoil(&mut arguments));
            if !arguments.is_object() {
                continue;
            }
            all += 1;
            let is_allowed = oracle.is_valid(&arguments);
            fitting += u64::from(is_allowed);
            let is_published = client.is_valid(&arguments);
            if is_closed && is_allowed != is_published && (is_allowed || !has_parts) {
                let message =
                    format!("by the contract {is_allowed}, for a client {is_published}: {arguments}");
                wrong = wrong.or(Some(format!("{message}\n  {published}")));
            }
            let text = arguments.to_string();
            let Err(fault) = agreement(&reader, &oracle, decode, is_allowed, &text) else { continue };
            // A value must satisfy the variant that serde decodes.
            if fault.is_of_union && schema.to_string().contains("anyOf") {
                excused += 1;
            } else {
                wrong = wrong.or(Some(format!(
                    "{}\n  {text}\n  {}: {schema}",
                    fault.message,
                    tool.definition().name
                )));
            }
        }
        found.extend(wrong);
    }
    println!("{all} calls, {fitting} of them fit, {excused} are excused");
    assert!(found.is_empty(), "{} disagreements\n{}", found.len(), found.join("\n"));
    assert!(fitting > all / 8 && fitting < all * 7 / 8, "{fitting} of {all} fit: too few of a kind");
    assert!(excused <= all / 20, "{excused} of {all} calls are excused");
}

struct Fault {
    message: String,
    /// Whether a branch's constraint may explain it.
    is_of_union: bool,
}

fn agreement(
    reader: &Reader<'_>,
    oracle: &jsonschema::Validator,
    decode: Option<Decode>,
    is_allowed: bool,
    text: &str,
) -> Result<(), Fault> {
    let fault = |message: String| Err(Fault { message, is_of_union: false });
    let alone = reader.decoded(text);
    let (seen, ruled) = reader.ruled(text);
    // A hash set has no order.
    let text_of = |output: &String| if decode.is_some() { output.clone() } else { String::new() };
    let plain =
        |outcome: &Result<String, ToolError>| outcome.as_ref().map(text_of).map_err(ToString::to_string);
    // A rule cannot read a list that the type may decode as a struct.
    let is_unclear = |error: &ToolError| error.to_string().contains("may also be read as an object");
    if alone.is_ok() && ruled.as_ref().is_err_and(is_unclear) {
        return if text.contains('[') { Ok(()) } else { fault(format!("no list: {ruled:?}")) };
    }
    if plain(&alone) != plain(&ruled) {
        return fault(format!("alone {alone:?}, with a rule {ruled:?}"));
    }
    match (alone, seen) {
        (Ok(output), Some(seen)) => {
            // Below an untagged enum, `null` stays where it means an absent member.
            let value: Value = serde_json::from_str(&seen).expect("JSON");
            if !oracle.is_valid(&value) && !oracle.is_valid(&without_nulls(value)) {
                return fault(format!("the schema refuses what the rule has read: {seen}"));
            }
            match decode.map(|decode| decode(&seen)) {
                Some(Some(value)) if value != output => {
                    fault(format!("the rule read {seen}, which is {value}"))
                }
                Some(None) => fault(format!("the type refuses what the rule has read: {seen}")),
                _ => Ok(()),
            }
        }
        (Ok(_), None) => fault("the rule could not read the arguments".to_owned()),
        (Err(error), _) if error.violations().is_empty() => fault(format!("no violation: {error}")),
        (Err(error), _) if is_allowed => Err(Fault {
            message: format!("refused, though the schema allows it: {error}"),
            is_of_union: true,
        }),
        (Err(_), _) => Ok(()),
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_null());
            members.map(|(name, member)| (name, without_nulls(member))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        value => value,
    }
}

#[test]
fn functions_keep_their_contract() {
    check(made::functions().into_iter().map(|tool| (Arc::new(tool) as Arc<dyn Tool>, None)));
}

#[test]
fn closures_keep_their_contract() {
    let of_type = |(tool, decode): (ClosureTool, Decode)| {
        // A hash set has no order.
        let has_order = !tool.definition().parameters.to_string().contains("uniqueItems");
        (Arc::new(tool) as Arc<dyn Tool>, has_order.then_some(decode))
    };
    check(made::types().into_iter().map(of_type));
}

#[test]
fn untagged_enums_keep_their_contract() {
    check(made::untagged().into_iter().map(|(tool, decode)| (Arc::new(tool) as Arc<dyn Tool>, Some(decode))));
}

/// Returns every schema with a default; values of keywords are none.
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
    let functions = made::functions().into_iter().map(|tool| tool.definition().parameters.clone());
    let closures = made::types().into_iter().map(|(tool, _)| tool.definition().parameters.clone());
    let mut checked = 0;
    for root in functions.chain(closures) {
        let mut schemas = Vec::new();
        with_default(&root, &mut schemas);
        checked += schemas.len();
        for schema in schemas {
            assert!(oracle::fits(&root, schema, &schema["default"]), "{schema}\n{root}");
        }
    }
    assert!(checked > 0, "no type has a default");
}
