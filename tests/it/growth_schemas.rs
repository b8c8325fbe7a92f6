//! Work on schemas and registries that grows in proportion to its input.

use super::growth::assert_linear;
use toolkit_ai::prelude::*;
use toolkit_ai::schema::{self, SchemaDialect, SchemaDiff};
use toolkit_ai::serde_json::{Map, Value, json};
use toolkit_ai::{ClosureTool, LiveRegistry, ToolDefinition, ToolFuture, ToolName};

/// Returns a list of `size` items. The items of another `start` differ, but half of them are the same.
fn list(start: usize, size: usize, item: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..size).map(|index| item(start * size / 2 + index)).collect()
}

/// Returns an object of `size` members.
fn named(start: usize, size: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..size)
        .map(|index| (format!("n{}", start * size / 2 + index), item(index)))
        .collect::<Map<_, _>>()
        .into()
}

fn name(index: usize) -> Value {
    format!("n{index}").into()
}

/// A name, and a schema by its start and its size.
type Kind = (&'static str, fn(usize, usize) -> Value);

/// Schemas with `size` of something, by what they have many of.
fn schemas() -> Vec<Kind> {
    fn tagged(index: usize) -> Value {
        json!({"type": "object", "properties": {"kind": {"const": name(index)}}, "required": ["kind"]})
    }
    fn only(index: usize) -> Value {
        let member = named(2 * index, 1, |_| json!({}));
        let required = [name(index)];
        json!({"type": "object", "properties": member, "required": required, "additionalProperties": false})
    }
    vec![
        ("enum", |start, size| json!({"properties": {"a": {"enum": list(start, size, name)}}})),
        (
            "enum of numbers",
            |start, size| json!({"properties": {"a": {"enum": list(start, size, Value::from)}}}),
        ),
        (
            "enum of lists",
            |start, size| json!({"properties": {"a": {"enum": list(start, size, |it| json!([it]))}}}),
        ),
        ("two enums", |start, size| {
            let lists = [list(start, size, name), list(start + 1, size, name)];
            json!({"properties": {"a": {"allOf": lists.map(|list| json!({"enum": list}))}}})
        }),
        (
            "anyOf",
            |start, size| json!({"properties": {"a": {"anyOf": list(start, size, |it| json!({"const": it}))}}}),
        ),
        (
            "oneOf with a tag",
            |start, size| json!({"properties": {"a": {"oneOf": list(start, size, tagged)}}}),
        ),
        ("oneOf by member", |start, size| json!({"properties": {"a": {"oneOf": list(start, size, only)}}})),
        (
            "allOf",
            |start, size| json!({"allOf": list(start, size, |it| json!({"properties": {"a": {"minimum": it}}}))}),
        ),
        ("required", |start, size| {
            let properties = named(start, size, |_| json!({"type": "integer"}));
            json!({"properties": properties, "required": list(start, size, name), "additionalProperties": false})
        }),
    ]
}

/// Schemas with `size` references, to one schema and to one another.
fn references() -> Vec<Kind> {
    vec![
        ("references", |start, size| {
            let properties = named(start, size, |it| json!({"$ref": "#/$defs/A", "title": it.to_string()}));
            let many = named(start, size, |_| json!({"type": "integer"}));
            json!({"properties": properties, "$defs": {"A": {"not": {"properties": many}}}})
        }),
        ("definitions", |start, size| {
            let next = |it| json!({"properties": {"a": {"$ref": format!("#/$defs/n{}", start * size / 2 + it + 1)}}});
            json!({"properties": {"a": {"$ref": format!("#/$defs/n{}", start * size / 2)}},
                "$defs": named(start, size, next)})
        }),
    ]
}

#[test]
fn schemas_are_compared_and_converted_in_linear_time() {
    for (kind, schema) in schemas() {
        assert_linear(kind, 500, |size| {
            let old = schema(0, size);
            let new = schema(1, size);
            let diffs = (SchemaDiff::of_arguments(&old, &new), SchemaDiff::of_results(&new, &old));
            let converted = [SchemaDialect::OpenAiStrict, SchemaDialect::Gemini].map(|it| it.convert(&old));
            (diffs, converted, schema::describe(&old))
        });
    }
}

#[test]
fn references_are_compared_in_linear_time() {
    for (kind, schema) in references() {
        assert_linear(kind, 500, |size| SchemaDiff::of_arguments(&schema(0, size), &schema(1, size)));
    }
}

#[test]
fn values_are_checked_and_coerced_in_linear_time() {
    for (kind, schema) in schemas() {
        assert_linear(kind, 500, |size| {
            let schema = schema(0, size);
            [json!({"a": "N 5"}), json!({"a": {"kind": "n", "N1": 1}})].map(|mut value| {
                let found = schema::violations(&schema, &value);
                schema::coerce(&schema, &mut value);
                (found, value)
            })
        });
    }
}

/// A tool with any schema.
struct AnyTool(ToolDefinition);

impl Tool for AnyTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("")))
    }
}

#[test]
fn a_live_registry_replaces_a_tool_in_linear_time() {
    let tool = |parameters: Value| {
        AnyTool(ToolDefinition::new(ToolName::new("tool").expect("a legal name"), "", parameters))
    };
    let of_size =
        |start, size| tool(json!({"type": "object", "properties": {"a": {"enum": list(start, size, name)}}}));
    assert_linear("replaced", 500, |size| {
        let registry = ToolRegistry::from_tools([of_size(0, size)]).expect("one tool");
        let live = LiveRegistry::new(registry).expect("complete");
        live.change(|registry| registry.replace(of_size(1, size))).expect("the same name");
        live
    });
}

fn many_tools(size: usize) -> ToolRegistry {
    let tool = |index| ClosureTool::without_arguments(&format!("tool_number_{index}"), "Does this.", || "");
    ToolRegistry::from_tools((0..size).map(|index| tool(index).expect("a legal name"))).expect("other names")
}

#[test]
fn the_nearest_names_are_found_in_linear_time() {
    let registries = [1_000, 4_000].map(many_tools);
    assert_linear("tools", 1_000, |size| {
        registries[usize::from(size > 1_000)].validate("tol_numer_17", "{}").expect_err("no such tool")
    });
}

#[test]
fn tools_are_searched_in_linear_time() {
    let words = |size: usize| (0..size).map(|index| format!("word{index} this ")).collect::<String>();
    let registries = [250, 1_000].map(many_tools);
    assert_linear("words", 250, |size| registries[1].search(&words(size), 5));
    assert_linear("tools and words", 250, |size| registries[usize::from(size > 250)].search(&words(size), 5));
}
