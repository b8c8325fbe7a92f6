//! Tools with every kind of parameter, and every kind of result.

use crate::conversation::{Conversation, Turn};
use std::collections::BTreeMap;
use toolkit_ai::definition::TextFormat;
use toolkit_ai::output::{MediaData, Resource};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;
use toolkit_ai::{Content, Media, ToolDefinition, ToolName, ToolOutput, ToolResult, tools};

/// Add two integers.
///
/// :param a: The first number
/// :param b: The second number
#[tool(strict, read_only)]
fn add(a: i64, #[param(range = 0..=100)] b: i64) -> i64 {
    a + b
}

/// Search the web and return URLs.
///
/// Args:
///     query: The search query string
///     max_results: Maximum number of results to return
#[tool(name = "web.search", defer, input_examples = [json!({"query": "rust", "max_results": 3})])]
fn search_web(
    #[param(length = 1..=200, pattern = "\\S")] query: String,
    #[param(default = 5)] max_results: u32,
    title: Option<String>,
) -> Vec<String> {
    let title = title.unwrap_or_default();
    (1..=max_results).map(|n| format!("https://example.com/{query}/{title}{n}")).collect()
}

#[derive(ToolParams)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    /// A circle.
    Circle { radius: f64 },
    /// A group of shapes.
    Group { members: Vec<Self> },
}

/// Measure shapes.
#[tool]
fn measure(shapes: Vec<Shape>, scale: (f64, f64), labels: BTreeMap<String, u8>) -> f64 {
    let area = |shape: &Shape| match shape {
        Shape::Circle { radius } => radius * radius * std::f64::consts::PI,
        Shape::Group { members } => members.len() as f64,
    };
    shapes.iter().map(area).sum::<f64>() * scale.0 * scale.1 * labels.len() as f64
}

/// What time it is.
#[tool]
fn now() -> &'static str {
    "12:00"
}

/// Returns turns with each kind of content in results.
pub(crate) fn conversation() -> Conversation {
    let mut tools: Vec<ToolDefinition> =
        tools![add, search_web, measure, now].iter().map(|tool| tool.definition().clone()).collect();
    if let Ok(name) = ToolName::new("apply_patch") {
        let grammar = TextFormat::Lark("start: /.+/".to_owned());
        tools.push(ToolDefinition::custom(name, "Apply a patch.", grammar));
    }
    let media = |media_type: &str, data| {
        Box::new(Media { media_type: media_type.to_owned(), data, name: Some("file.bin".to_owned()) })
    };
    let base64 = |text: &str| MediaData::Base64(text.to_owned());
    let url = |text: &str| MediaData::Url(text.to_owned());
    let contents = [
        Content::Text("done".to_owned()),
        Content::Image(media("image/png", base64("iVBORw0KGgo="))),
        Content::Image(media("image/png", url("https://example.com/a.png"))),
        Content::Audio(media("audio/wav", base64("UklGRg=="))),
        Content::File(media("application/pdf", base64("JVBERg=="))),
        Content::File(media("application/pdf", url("https://example.com/a.pdf"))),
        Content::Resource(Box::new(Resource {
            uri: "file:///a".to_owned(),
            name: "a".to_owned(),
            media_type: None,
        })),
    ];
    let mut outcomes: Vec<Result<ToolOutput, ToolError>> =
        contents.into_iter().map(|content| Ok(content.into())).collect();
    outcomes.push(ToolOutput::json(&json!({"sum": 3, "parts": [1, 2]})).map_err(ToolError::invalid_output));
    outcomes.push(Ok(ToolOutput::text("3").with_message("The sum of both.")));
    outcomes.push(Ok(ToolOutput::new(Vec::new())));
    outcomes.push(Err(ToolError::failed("the disk is full")));
    Conversation { tools, turns: vec![turn(0, outcomes), single_turn()], ..Conversation::default() }
}

fn turn(number: usize, outcomes: Vec<Result<ToolOutput, ToolError>>) -> Turn {
    let calls: Vec<ToolCall> = (0..outcomes.len())
        .map(|index| ToolCall::new(format!("call_{number}_{index}"), "add", r#"{"a": 1, "b": 2}"#))
        .collect();
    let results = calls.iter().zip(outcomes).map(|(call, outcome)| ToolResult::of(call, outcome)).collect();
    Turn { asks: "What is 1 + 2?".to_owned(), calls, results }
}

/// Returns a call with truncated arguments and another provider's id.
fn single_turn() -> Turn {
    let call = ToolCall::new("toolu:01/ü", "web.search", r#"{"query": "ru"#);
    let results = vec![ToolResult::of(&call, Err(ToolError::failed("the arguments are no JSON")))];
    Turn { asks: "Search for Rust.".to_owned(), calls: vec![call], results }
}
