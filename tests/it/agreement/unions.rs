//! Tools take a value of an untagged enum as the type does, within the limits of the variant, over random enums.

use super::beyond::validator;
use super::made;
use super::random::Random;
use toolkit::ClosureTool;
use toolkit::prelude::*;
use toolkit::serde_json::{self, Value};

/// How many calls each tool gets.
const CALLS: usize = 400;

/// How many of all calls may be excused because they have the form of two variants.
const EXCUSED: usize = 3;

const NAMES: [&str; 7] = ["a", "b", "c", "a-alias", "b-alias", "c-alias", "other"];

const VALUES: [&str; 17] = [
    r#""3rd""#,
    r#"{"a": "3rd", "b": 7}"#,
    "1",
    "-1",
    "7",
    "256",
    r#""First""#,
    r#""2nd""#,
    r#""text""#,
    "null",
    "[]",
    r#"["2nd"]"#,
    "[1]",
    "[-1, 128]",
    r#"{"a": "2nd", "b": 7}"#,
    r#"{"a-alias": "First", "b": 1}"#,
    r#"["First", 1]"#,
];

/// Returns arguments with random members, some under aliases and some unknown to every variant.
fn arguments(random: &mut Random) -> String {
    let mut members = Vec::new();
    for name in NAMES {
        if random.once_in(2) {
            members.push(format!("\"{name}\": {}", random.one(&VALUES)));
        }
    }
    format!(r#"{{"it": {{{}}}}}"#, members.join(", "))
}

fn call(tool: &ClosureTool, text: &str) -> Result<String, ToolError> {
    let context = ToolContext::new(tool.definition().name.clone());
    let outcome = tool.call(text, &context).try_ready().expect("the tool is synchronous");
    outcome.map(|output| output.to_text().into_owned())
}

/// Returns the text with the variants' own words.
fn in_own_words(text: &str) -> String {
    text.replace("2nd", "Second")
}

/// Returns whether the schema allows the value: as it is written or with the fields' own names, in the variants'
/// own words, and without members that are `null`.
fn is_allowed(schema: &Value, text: &str) -> bool {
    let text = in_own_words(text);
    [text.replace("-alias", ""), text].iter().any(|text| {
        let mut value: Value = serde_json::from_str(text).expect("JSON");
        let members = value["it"].as_object_mut().expect("an object");
        members.retain(|_, member| !member.is_null());
        validator(schema).is_valid(&value)
    })
}

/// Returns whether a refused value has the form of a variant as it is written, and that of another variant only by
/// an alias of a value. The tool then holds the value to the first variant.
fn is_of_two_variants(tool: &ClosureTool, text: &str, error: &ToolError) -> bool {
    !error.message().contains("2nd") && call(tool, &in_own_words(text)).is_ok()
}

#[test]
fn untagged_values_are_taken_as_their_types_take_them() {
    let (mut found, mut taken, mut beyond, mut excused) = (Vec::new(), 0, 0, 0);
    for (seed, (tool, decode)) in (0_u64..).zip(&made::untagged()) {
        let schema = &tool.definition().parameters;
        let mut random = Random(seed);
        for _ in 0..CALLS {
            let text = arguments(&mut random);
            let outcome = call(tool, &text);
            let is_right = match (&outcome, decode(&text)) {
                (Ok(output), Some((decoded, keeps_limits))) => {
                    taken += 1;
                    *output == decoded && (keeps_limits || is_allowed(schema, &text))
                }
                (Err(error), Some((_, true))) => {
                    excused += 1;
                    is_of_two_variants(tool, &text, error)
                }
                (Err(_), Some((_, false))) => {
                    beyond += 1;
                    true
                }
                (outcome, None) => outcome.is_err(),
            };
            if !is_right {
                found.push(format!("{text}\n  {outcome:?}\n  {schema}"));
            }
        }
    }
    assert!(found.is_empty(), "{} disagreements\n{}", found.len(), found.join("\n"));
    assert!(excused <= EXCUSED, "{excused} calls are excused");
    assert!(taken > 1_000 && beyond > 20, "{taken} were taken, {beyond} were beyond a limit");
}
