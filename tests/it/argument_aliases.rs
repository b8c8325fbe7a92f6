//! Keywords about a whole object hold whatever names the members are written under.

use serde_json::json;
use toolkit::ClosureTool;
use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value};

/// Makes a tool for each keyword. Its fields have aliases.
macro_rules! tools {
    ($($keyword:literal = $value:tt),* $(,)?) => {
        vec![$({
            #[derive(Debug, ToolParams)]
            #[schemars(extend($keyword = $value))]
            #[expect(dead_code, reason = "only shown")]
            struct Fields {
                #[serde(alias = "aa")]
                a: Option<i64>,
                #[serde(alias = "bb")]
                b: Option<i64>,
                #[serde(alias = "a-c")]
                c: Option<i64>,
            }
            #[derive(Debug, ToolParams)]
            #[expect(dead_code, reason = "only shown")]
            struct Outer {
                #[serde(alias = "inside")]
                inner: Fields,
            }
            ClosureTool::new("tool", $keyword, |it: Outer| format!("{it:?}")).expect("an object")
        }),*]
    };
}

fn outcome(tool: &ClosureTool, arguments: &Value) -> Result<String, ToolError> {
    let context = ToolContext::new(tool.definition().name.clone());
    let outcome = tool.call(&arguments.to_string(), &context).try_ready().expect("the tool is synchronous");
    outcome.map(|output| output.to_text().into_owned())
}

#[test]
fn keywords_about_an_object_hold_under_aliases() {
    let tools = tools! {
        "not" = {"required": ["a", "b"]},
        "not" = {"properties": {"a": {"const": 5}}, "required": ["a"]},
        "oneOf" = [{"required": ["a"]}, {"required": ["b"]}],
        "anyOf" = [{"required": ["a"]}, {"required": ["b", "c"]}],
        "allOf" = [{"properties": {"b": {"maximum": 3}}}],
        "if" = {"required": ["a"]},
        "patternProperties" = {"^a": {"maximum": 3}},
        "propertyNames" = {"maxLength": 1},
        "propertyNames" = {"enum": ["a", "b"]},
        "const" = {"a": 1, "b": 5},
        "enum" = [{"a": 1}, {"a": 5, "c": 1}],
        "maxProperties" = 2,
        "dependentRequired" = {"a": ["b"]},
        "dependentSchemas" = {"a": {"properties": {"b": {"maximum": 3}}}},
        "dependentSchemas" = {"c": {"required": ["a"]}},
        "required" = ["b"],
        "unevaluatedProperties" = false,
    };
    let (mut found, mut refused, mut taken) = (Vec::new(), 0, 0);
    for tool in &tools {
        for values in 0..27 {
            let value = |place: u32| [None, Some(1), Some(5)][values / 3_usize.pow(place) % 3];
            let members = |names: [&str; 3]| -> Map<String, Value> {
                let members = (0..).zip(names);
                members.filter_map(|(at, name)| Some((name.to_owned(), value(at)?.into()))).collect()
            };
            let own = outcome(tool, &json!({"inner": members(["a", "b", "c"])}));
            for names in 0..8 {
                let name = |at: usize, own, alias| if names >> at & 1 == 1 { alias } else { own };
                let names = [name(0, "a", "aa"), name(1, "b", "bb"), name(2, "c", "a-c")];
                let arguments = json!({"inside": members(names)});
                let aliased = outcome(tool, &arguments);
                *(if own.is_ok() { &mut taken } else { &mut refused }) += 1;
                let is_same = match (&own, &aliased) {
                    (Ok(own), Ok(aliased)) => own == aliased,
                    (Err(_), Err(error)) => error.violations().iter().all(|it| it.path.starts_with("inside")),
                    _ => false,
                };
                if !is_same {
                    found.push(format!(
                        "{} {arguments}\n  {aliased:?}\n  {own:?}",
                        tool.definition().description
                    ));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    assert!(taken > 500 && refused > 500, "{taken} were taken, {refused} were refused");
}

#[test]
fn a_violation_names_the_members_as_they_are_written() {
    let tools = tools! { "patternProperties" = {"^a$": {"maximum": 3}} };
    let error = outcome(&tools[0], &json!({"inside": {"aa": 5}})).expect_err("5 is above 3");
    assert_eq!(error.violations()[0].path, "inside.aa");
    assert_eq!(error.violations()[0].message, "expected a number of at most 3, got number 5");
}
