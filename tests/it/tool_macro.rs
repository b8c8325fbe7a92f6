//! The expansion of `#[tool]` on a function.

use std::collections::BTreeMap;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};

/// Adds two numbers.
///
/// It never overflows for small ones.
///
/// :param a: The first number
/// :param b: The second number
/// :returns: The sum
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

mod math {
    use toolkit_ai::tool;

    /// Multiplies.
    #[tool(namespace = "MathOps")]
    pub(crate) async fn multiply(a: i64, b: i64) -> i64 {
        a * b
    }
}

/// Borrows what it is given.
#[tool]
fn lend(text: &str, words: &[String], table: &BTreeMap<String, u8>) -> String {
    format!("{text} {words:?} {table:?}")
}

/// Raw identifiers lose their mark.
///
/// :param type: The kind
#[tool]
fn r#match(r#type: String) -> String {
    r#type
}

type Maybe<T> = Option<T>;

#[tool(name = "Exact.Name-1", description = "Written in the attribute.")]
fn renamed(
    /// Written on the parameter.
    #[param(rename = "max-results", alias = "maxResults", alias = "limit")]
    max_results: Maybe<u8>,
    #[param(description = "Written in the attribute.", default = "all")] topic: String,
    #[param(default)] flags: Vec<bool>,
) -> String {
    format!("{max_results:?} {topic} {flags:?}")
}

/// Google style.
///
/// Args:
///     query: What to look for,
///         in any language.
///     limit (int, optional): How many. Defaults to 10.
///
/// Raises:
///     Nothing: ever
#[tool]
fn google(query: String, limit: Option<i64>) -> String {
    format!("{query} {limit:?}")
}

#[cfg(not(test))]
#[tool]
fn absent() {}

/// Present.
#[tool]
#[cfg(test)]
fn present() {}

#[tool]
fn lend_if_given(
    text: Option<&str>,
    words: Option<&[String]>,
    table: Option<&BTreeMap<String, u8>>,
    #[param(default = Some("d".to_owned()))] place: Option<&str>,
    mask: Option<&[u8; 1 & 3]>,
) -> String {
    format!("{text:?} {words:?} {table:?} {place:?} {mask:?}")
}

#[tool]
async fn lend_later(text: Option<&str>) -> Option<&str> {
    std::future::ready(()).await;
    text.map(str::trim)
}

async fn call(tool: &impl Tool, arguments: &str) -> String {
    let context = ToolContext::new(tool.definition().name.clone());
    match tool.call(arguments, &context).await {
        Ok(output) => output.to_text().into_owned(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    }
}

fn property<'a>(definition: &'a toolkit_ai::ToolDefinition, name: &str) -> &'a Value {
    &definition.parameters["properties"][name]
}

#[tokio::test]
async fn the_function_stays_callable_and_its_tool_calls_it() {
    assert_eq!(add(1, 2), 3);
    assert_eq!(math::multiply(3, 4).await, 12);
    assert_eq!(call(&add::tool(), r#"{"a": 1, "b": 2}"#).await, "3");
    assert_eq!(call(&math::multiply::tool(), r#"{"b": 4, "a": 3}"#).await, "12");
}

#[test]
fn sections_about_parameters_leave_the_description() {
    let tool = add::tool();
    assert_eq!(tool.definition().description, "Adds two numbers.\n\nIt never overflows for small ones.");
    assert_eq!(property(tool.definition(), "a")["description"], "The first number");
    let tool = google::tool();
    assert_eq!(tool.definition().description, "Google style.");
    assert_eq!(property(tool.definition(), "query")["description"], "What to look for, in any language.");
    assert_eq!(property(tool.definition(), "limit")["description"], "How many. Defaults to 10.");
}

#[test]
fn a_namespace_is_normalized_and_a_name_kept() {
    let name = math::multiply::tool().definition().name.clone();
    assert_eq!(
        (name.as_str(), name.namespace(), name.method_name()),
        ("math_ops-multiply", Some("math_ops"), "multiply")
    );
    assert_eq!(renamed::tool().definition().name.as_str(), "Exact.Name-1");
    assert_eq!(r#match::tool().definition().name.as_str(), "match");
}

#[tokio::test]
async fn references_borrow_from_decoded_values() {
    let arguments = r#"{"text": "a", "words": ["b", "c"], "table": {"d": 1}}"#;
    assert_eq!(call(&lend::tool(), arguments).await, r#"a ["b", "c"] {"d": 1}"#);
}

#[tokio::test]
async fn optional_references_borrow_from_decoded_values() {
    let tool = lend_if_given::tool();
    assert_eq!(call(&tool, "{}").await, r#"None None None Some("d") None"#);
    let arguments = r#"{"text": "a", "words": ["b"], "table": {"c": 1}, "place": null, "mask": [2]}"#;
    assert_eq!(call(&tool, arguments).await, r#"Some("a") Some(["b"]) Some({"c": 1}) None Some([2])"#);
    assert_eq!(property(tool.definition(), "text"), &json!({"type": "string"}));
    assert_eq!(tool.definition().parameters.get("required"), None);
    assert_eq!(call(&lend_later::tool(), r#"{"text": " a "}"#).await, "a");
    assert_eq!(call(&lend_later::tool(), "{}").await, "null");
}

#[tokio::test]
async fn raw_identifiers_are_published_without_their_prefix() {
    assert_eq!(call(&r#match::tool(), r#"{"type": "x"}"#).await, "x");
    assert_eq!(property(r#match::tool().definition(), "type")["description"], "The kind");
}

#[test]
fn attributes_take_precedence_over_comments() {
    let tool = renamed::tool();
    assert_eq!(tool.definition().description, "Written in the attribute.");
    assert_eq!(
        tool.definition().parameters,
        json!({
            "type": "object",
            "properties": {
                "max-results": {"type": "integer", "minimum": 0, "maximum": 255, "description": "Written on the parameter."},
                "topic": {"type": "string", "default": "all", "description": "Written in the attribute."},
                "flags": {"type": "array", "items": {"type": "boolean"}, "default": []},
            },
            "additionalProperties": false,
        })
    );
}

#[tokio::test]
async fn renamed_parameters_answer_to_their_names_and_aliases_only() {
    for name in ["max-results", "maxResults", "limit"] {
        assert_eq!(call(&renamed::tool(), &json!({name: 3}).to_string()).await, "Some(3) all []");
    }
    let refused = call(&renamed::tool(), r#"{"max_results": 3}"#).await;
    assert!(
        refused.contains("`max_results`: there is no such parameter; did you mean `max-results`?"),
        "{refused}"
    );
}

#[tokio::test]
async fn absent_and_null_are_the_default() {
    for arguments in ["", "{}", "null", r#"{"max-results": null, "topic": null, "flags": null}"#] {
        assert_eq!(call(&renamed::tool(), arguments).await, "None all []");
    }
}

#[test]
fn every_linked_tool_is_found_once() {
    let registry = ToolRegistry::discover().expect("no collisions");
    for name in ["add", "math_ops-multiply", "lend", "match", "Exact.Name-1", "google", "present"] {
        assert!(registry.get(name).is_some(), "{name} is missing");
    }
    assert!(registry.get("absent").is_none());
    let found = registry.get("add").expect("it is registered").definition();
    let place = found.metadata.defined_at.expect("the macro knows the place");
    assert_eq!(place.file, file!());
}

#[test]
fn tools_work_inside_functions_and_modules() {
    /// Local.
    #[tool]
    fn local(n: u8) -> u8 {
        n
    }
    assert_eq!(local(1), 1);
    let registry = ToolRegistry::from_tools(tools![local, math::multiply, add]).expect("no collisions");
    let names: Vec<&str> = registry.iter_definitions().map(|definition| definition.name.as_str()).collect();
    assert_eq!(names, ["add", "local", "math_ops-multiply"]);
}

#[tokio::test]
async fn a_time_limit_in_the_attribute_holds() {
    /// Sleeps.
    #[tool(timeout = "20ms")]
    async fn slow_tool() {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    }
    let registry = ToolRegistry::from_tools(tools![slow_tool]).expect("no collisions");
    let error = registry.call("slow_tool", "{}").await.expect_err("it is too slow");
    assert_eq!(error.message(), "Tool `slow_tool` timed out after 0.02s");
}

#[tokio::test]
async fn tools_are_made_by_other_macros() {
    macro_rules! make {
        ($name:ident, $arg:ty, $ret:ident, $default:expr) => {
            #[tool(register = false)]
            fn $name(first: $arg, #[param(default = $default)] second: String) -> $ret {
                (first.len() + second.len()) as $ret
            }
        };
    }
    make!(by_text, &str, i64, "ab");
    make!(by_list, &[u8], u8, "abc");
    assert_eq!(call(&by_text::tool(), r#"{"first": "x"}"#).await, "3");
    assert_eq!(call(&by_list::tool(), r#"{"first": [1, 2]}"#).await, "5");
}

#[tokio::test]
async fn paths_are_borrowed_and_the_list_of_tools_may_be_empty() {
    #[tool(register = false)]
    fn file_name(path: &std::path::Path) -> Option<String> {
        Some(path.file_name()?.to_string_lossy().into_owned())
    }
    assert_eq!(call(&file_name::tool(), r#"{"path": "/a/b.txt"}"#).await, "b.txt");
    assert!(ToolRegistry::from_tools(tools![]).expect("no collisions").is_empty());
}

/// A map.
#[derive(ToolParams)]
struct MapParams {
    /// The city.
    #[param(length = 1..)]
    city: String,
    #[param(rename = "max-results", alias = "limit", range = 1..=9, default = 3)]
    max_results: u8,
}

#[tokio::test]
async fn the_fields_of_a_flattened_parameter_are_the_arguments() {
    /// Gets a map.
    ///
    /// :param city: Documented at the field
    #[tool(register = false)]
    async fn get_map(#[param(flatten)] params: MapParams, context: &ToolContext) -> String {
        format!("{} {} {}", context.tool_name(), params.city, params.max_results)
    }
    let tool = get_map::tool();
    assert_eq!(
        tool.definition().parameters,
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 1, "description": "The city."},
                "max-results": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            },
            "required": ["city"],
            "additionalProperties": false,
        })
    );
    assert_eq!(call(&tool, r#"{"city": "Rome", "limit": 5}"#).await, "get_map Rome 5");
    assert_eq!(call(&tool, r#"{"city": "Rome", "max-results": "4"}"#).await, "get_map Rome 4");
    let refused = call(&tool, r#"{"city": "", "max-results": 10, "zoom": 1}"#).await;
    for part in [
        "3 problems",
        "`city`: expected string of at least 1 character",
        "`max-results`: expected integer from 1 to 9",
        "`zoom`",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    let refused = call(&tool, "").await;
    assert!(refused.contains("`city`: required, but missing"), "{refused}");
}
