//! A document may become at most twenty values in tools for each byte. `benches/growth.rs` reads the same
//! documents.

#[cfg_attr(not(feature = "yaml"), allow(dead_code, reason = "some shapes are in YAML"))]
mod shapes;

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};
#[cfg(feature = "yaml")]
use shapes::YAML;
use shapes::{SHAPES, SHARED, Shape, document};
use toolkit_ai::{ToolDefinition, ToolProvider};
use toolkit_openapi::OpenApiErrorKind;
use toolkit_openapi::client::{OpenApiLimits, OpenApiTools};

/// The number of values allowed to any document.
const LEAST: usize = 10_000;

fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

fn tight() -> OpenApiLimits {
    OpenApiLimits::default().with_values_per_byte(1).with_schema_bytes(2 << 10)
}

fn made(toolset: &OpenApiTools) -> usize {
    let of_tool = |tool: &ToolDefinition| values(&tool.parameters) + tool.output_schema().map_or(0, values);
    toolset.tools().iter().map(of_tool).sum()
}

/// Returns what is beyond the budget.
fn beyond_budget(name: &str, limits: &OpenApiLimits, text: &str) -> Option<String> {
    let builder = OpenApiTools::builder().document_limits(limits.clone()).output_schemas();
    let made = builder.read_document(text).map_or(0, |toolset| made(&toolset));
    let allowed = (limits.values_per_byte * text.len()).max(LEAST);
    (made > allowed).then(|| format!("{name}: {} bytes became {made} values", text.len()))
}

fn shapes_beyond_budget(shapes: &[Shape], limits: &OpenApiLimits) -> Vec<String> {
    let mut beyond = Vec::new();
    for (name, size, shape) in shapes {
        beyond.extend(beyond_budget(name, limits, &document(&[shape(*size)])));
        beyond.extend(beyond_budget(name, limits, &document(&[shape(4 * size)])));
    }
    beyond
}

#[test]
fn documents_of_every_shape_are_read_within_the_budget() {
    assert_eq!(shapes_beyond_budget(SHAPES, &OpenApiLimits::default()), [""; 0]);
}

#[test]
fn what_many_paths_share_is_read_within_the_budget() {
    assert_eq!(shapes_beyond_budget(SHARED, &tight()), [""; 0]);
}

#[test]
#[cfg(feature = "yaml")]
fn yaml_of_every_shape_is_read_within_the_budget() {
    let limits = OpenApiLimits::default();
    for (name, size, text) in YAML {
        assert_eq!(beyond_budget(name, &limits, &text(4 * size)), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Shapes beside one another share their schemas, parameters, security and answers.
    #[test]
    fn documents_of_several_shapes_are_read_within_the_budget(
        shared in subsequence(SHARED, 0..=2),
        single in subsequence(SHAPES, 1..=3),
    ) {
        let shapes = [shared, single].concat();
        let name = shapes.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        let parts: Vec<_> = shapes.iter().map(|(_, size, shape)| shape(4 * size)).collect();
        prop_assert_eq!(beyond_budget(&name, &tight(), &document(&parts)), None);
    }
}

#[test]
fn operations_beyond_the_budget_are_one_issue_that_says_what_to_do() {
    let (_, _, shared) = SHARED[0];
    let text = document(&[shared(200)]);
    let toolset = OpenApiTools::from_document(&text).unwrap();
    assert!(made(&toolset) <= 20 * text.len(), "{}", made(&toolset));
    let tools = toolset.len();
    assert!(tools > 100 && tools < 1_600, "{tools}");
    let [issue] = toolset.issues() else { panic!("{:?}", toolset.issues()) };
    let left_out = format!("{} in number, were left out", 1_600 - tools);
    assert!(issue.message.contains(&left_out), "{issue}");
    assert!(
        issue.message.contains("only_operations") && issue.message.contains("values_per_byte"),
        "{issue}"
    );
    let limits = OpenApiLimits::default().with_values_per_byte(1_000);
    let whole = OpenApiTools::builder().document_limits(limits).read_document(&text).unwrap();
    assert_eq!((whole.len(), whole.issues().len()), (1_600, 0));
    let chosen = OpenApiTools::builder().only_paths(["/many1"]).read_document(&text).unwrap();
    assert_eq!((chosen.len(), chosen.issues().len()), (8 * 111, 0));
}

#[test]
fn names_around_a_value_have_a_limit() {
    let text = |length: usize| json!({"openapi": "3.1.0", "paths": {format!("/{}", "x".repeat(length)): {"get": {}}}});
    assert_eq!(OpenApiTools::from_document(&text(3_000).to_string()).unwrap().len(), 1);
    let error = OpenApiTools::from_document(&text(5_000).to_string()).unwrap_err();
    assert!(error.kind() == OpenApiErrorKind::TooLarge, "{error}");
}

#[test]
#[cfg(feature = "yaml")]
fn documents_of_services_are_far_below_the_limits() {
    for name in
        ["swagger-2.0.json", "openapi-3.0.json", "openapi-3.1.json", "openapi-3.2.json", "openapi.yaml"]
    {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let tools = |values_per_byte| {
            let limits = OpenApiLimits::default().with_values_per_byte(values_per_byte);
            let builder = OpenApiTools::builder().document_limits(limits).output_schemas();
            let toolset = builder.read_document(&text).unwrap();
            assert!(
                made(&toolset) <= text.len(),
                "{name}: {} bytes became {} values",
                text.len(),
                made(&toolset)
            );
            let shown = |tool: ToolDefinition| {
                format!("{} {} {:?}", tool.name, tool.parameters, tool.output_schema())
            };
            toolset.tools().into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(tools(1), tools(1_000), "{name}");
    }
}
