//! The schemas of parameters.

use std::collections::{BTreeMap, HashMap, HashSet};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};

/// How warm.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// As in Europe.
    Celsius,
    Fahrenheit,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Address {
    street: String,
    /// Two letters.
    country: Option<String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Tree {
    #[allow(dead_code)]
    children: Vec<Self>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

/// Search the web and return URLs.
///
/// :param query: The search query string
/// :param max_results: Maximum number of results to return
#[tool]
async fn search_web(query: String, #[param(default = 5)] max_results: i64) -> Vec<String> {
    vec![format!("https://example.com/{query}/{max_results}")]
}

/// One parameter of every kind.
#[tool]
#[allow(clippy::too_many_arguments)]
fn everything(
    text: String,
    whole: i64,
    small: u8,
    real: f32,
    yes: bool,
    list: Vec<String>,
    map: HashMap<String, i64>,
    sorted: BTreeMap<String, Vec<bool>>,
    set: HashSet<String>,
    pair: (String, i64),
    maybe: Option<Address>,
    unit: Unit,
    #[param(default = Unit::Celsius)] other: Unit,
    tree: Tree,
    shape: Shape,
    any: Value,
    letter: char,
) -> String {
    let address = maybe.map(|address| (address.street, address.country));
    let area = match shape {
        Shape::Circle { radius } => radius * radius * 3.0,
        Shape::Square { side } => side * side,
    };
    let units = [unit, other].map(|unit| matches!(unit, Unit::Celsius));
    format!(
        "{text}{whole}{small}{real}{yes}{list:?}{map:?}{sorted:?}{set:?}{pair:?}{address:?}{area}{units:?}{}{any}{letter}",
        tree.children.len()
    )
}

#[test]
fn the_documented_example_has_exactly_its_schema() {
    let registry = ToolRegistry::from_tools(tools![search_web]).expect("one tool");
    assert_eq!(
        registry.definitions(ApiFormat::OpenAiChat).to_value(),
        json!([{"type": "function", "function": {
            "name": "search_web",
            "description": "Search the web and return URLs.",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "The search query string"},
                    "max_results": {
                        "type": "integer", "description": "Maximum number of results to return", "default": 5
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            },
        }}])
    );
}

#[test]
fn every_kind_of_parameter_has_its_schema() {
    insta::assert_json_snapshot!(everything::tool().definition().parameters);
}

#[test]
fn properties_are_in_the_order_of_the_signature() {
    let tool = everything::tool();
    let properties = tool.definition().parameters["properties"].as_object().expect("an object");
    let names: Vec<&str> = properties.keys().map(String::as_str).take(6).collect();
    assert_eq!(names, ["text", "whole", "small", "real", "yes", "list"]);
}

#[tokio::test]
async fn boxed_texts_and_slices_are_parameters_and_fields_at_any_depth() {
    #[derive(ToolParams, Debug)]
    #[allow(dead_code)]
    struct Boxed {
        text: Box<str>,
        #[param(length = 1..)]
        maybe: Option<Box<str>>,
        list: Box<[Box<str>]>,
        lists: Vec<Box<[u8]>>,
    }

    /// Take boxes.
    #[tool(register = false)]
    fn take(one: Box<str>, more: Box<[Boxed]>, two: Option<Box<str>>, last: Box<[u8]>) -> String {
        format!("{one:?} {more:?} {two:?} {last:?}")
    }

    let text = json!({"type": "string"});
    let tool = take::tool();
    let boxed = &tool.definition().parameters["properties"]["more"]["items"]["properties"];
    assert_eq!((&boxed["text"], &boxed["list"]["items"]), (&text, &text));
    assert_eq!(boxed["maybe"], json!({"type": "string", "minLength": 1}));
    let registry = ToolRegistry::from_tools(tools![take]).unwrap();
    let arguments = json!({"one": "a", "more": [{"text": "b", "list": ["c"], "lists": [[1]]}], "last": [2]});
    let output = registry.call("take", &arguments.to_string()).await.unwrap();
    let more = r#"[Boxed { text: "b", maybe: None, list: ["c"], lists: [[1]] }]"#;
    assert_eq!(output.to_text(), format!(r#""a" {more} None [2]"#));
}

#[test]
fn schemas_have_no_keywords_that_only_the_generator_needs() {
    let text = everything::tool().definition().parameters.to_string();
    for noise in ["$schema", "\"title\"", "\"format\""] {
        assert!(!text.contains(noise), "{noise} in {text}");
    }
}

#[test]
fn the_description_of_a_parameter_keeps_the_notes_on_its_values() {
    /// Warms.
    ///
    /// :param unit: The unit
    #[tool(register = false)]
    fn warm(
        unit: Unit,
        #[param(default = Some(5))] by: Option<i32>,
        #[param(default = 0.1)] share: f32,
    ) -> String {
        format!("{} {by:?} {share}", matches!(unit, Unit::Celsius))
    }
    let parameters = warm::tool().definition().parameters.clone();
    assert_eq!(parameters["properties"]["unit"]["description"], "The unit\n- `celsius`: As in Europe.");
    assert_eq!(parameters["properties"]["by"]["type"], json!(["integer", "null"]));
    assert_eq!(parameters["properties"]["share"]["default"].to_string(), "0.1");
}

#[derive(serde::Serialize, ToolParams)]
struct Payload {
    data: Value,
    list: Vec<Value>,
    map: BTreeMap<String, Value>,
}

/// Sends a payload.
#[tool]
fn send(payload: Payload, any: Value) -> Payload {
    let _ = any;
    payload
}

#[test]
fn a_schema_of_any_value_is_an_empty_object() {
    let tool = send::tool();
    let parameters = &tool.definition().parameters;
    let payload = json!({"data": {}, "list": {"type": "array", "items": {}}, "map": {"type": "object", "additionalProperties": true}});
    assert_eq!(parameters["properties"]["payload"]["properties"], payload);
    assert_eq!(parameters["properties"]["any"], json!({}));
    assert_eq!(tool.definition().output_schema().unwrap()["properties"], payload);
}

#[allow(dead_code, unreachable_patterns)]
mod twice {
    use toolkit_ai::ToolParams;

    /// A member of the types that are flattened.
    #[derive(ToolParams)]
    pub(super) struct Inner {
        c: u8,
    }

    /// Has a member of the flattened type's name.
    #[derive(ToolParams)]
    pub(super) struct Flattening {
        c: String,
        #[serde(flatten)]
        inner: Inner,
    }

    /// A rule and an attribute give two fields one name.
    #[derive(ToolParams)]
    #[serde(rename_all = "camelCase")]
    pub(super) struct Renaming {
        two_words: u8,
        #[serde(rename = "twoWords")]
        other: u8,
    }

    /// The same in a variant.
    #[derive(ToolParams)]
    #[serde(rename_all_fields = "camelCase")]
    pub(super) enum Varying {
        One {
            two_words: u8,
            #[serde(rename = "twoWords")]
            other: u8,
        },
        Two(Flattening),
    }
}

#[test]
fn a_member_that_two_fields_share_is_an_error_of_the_registry() {
    /// Flattens.
    #[tool(register = false)]
    fn flatten(#[param(flatten)] _it: twice::Flattening) {}

    /// Renames.
    #[tool(register = false)]
    fn rename(_it: Vec<twice::Renaming>) {}

    /// Varies.
    #[tool(register = false)]
    fn vary(_it: Option<twice::Varying>) {}

    /// By the derives of schemars and serde.
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Derived {
        #[serde(rename = "a")]
        b: u8,
        #[serde(flatten)]
        rest: Rest,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Rest {
        a: u8,
    }

    let derive = toolkit_ai::ClosureTool::new("derive", "", |_: Derived| "").expect("a tool");
    for (tool, place, name) in [
        (flatten::tool(), "#/required", "c"),
        (rename::tool(), "#/properties/_it/items/required", "twoWords"),
        (vary::tool(), "#/properties/_it", "twoWords"),
    ] {
        let error = ToolRegistry::from_tools([tool]).expect_err("a member twice").to_string();
        assert!(error.contains(&format!("invalid schema at `{place}")), "{error}");
        assert!(error.contains(&format!("`{name}` names two fields of one object")), "{error}");
    }
    let error = ToolRegistry::from_tools([derive]).expect_err("a member twice").to_string();
    assert!(error.contains("`a` names two fields of one object"), "{error}");
}
