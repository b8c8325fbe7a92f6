//! Tools in the instructions and calls as text, without a grammar.
//!
//! Servers such as llama.cpp's constrain calls by a grammar, which hides a model's mistakes. Here they see
//! only text.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit_core::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_llm::ApiFormat;
use toolkit_llm::{ChatModel, Message, ModelError, ModelRequest, ModelResponse};

pub(crate) struct TextTools<M>(pub(crate) M);

impl<M: ChatModel> ChatModel for TextTools<M> {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let names = request.tools.wire_names(&ApiFormat::OpenAiChat);
        let tools = request.tools.iter_definitions().map(|tool| {
            let function = json!({"name": names.spell(tool.name.as_str()), "description": tool.description,
                "parameters": tool.parameters});
            json!({"type": "function", "function": function}).to_string()
        });
        let instructions = format!(
            "You are a helpful assistant. You may call these functions:\n{}\n\nTo call functions, write a JSON code block \
             that holds an array of calls, and nothing else:\n```json\n[{{\"name\": <function-name>, \"arguments\": \
             <args-json-object>}}, ...]\n```\nIf calls have failed, write a new code block with corrected calls.",
            tools.collect::<Vec<_>>().join("\n")
        );
        let messages = request.messages.iter().map(|message| as_text(message, &names));
        let plain =
            ModelRequest::new(messages).with_instructions(instructions).with_options(request.options.clone());
        let mut response = self.0.respond(plain).await?;
        response.message.calls = calls(&response.message.text);
        response.message.native = None;
        Ok(response)
    }
}

/// Returns a message with calls and results as text.
fn as_text(message: &Message, names: &WireNames) -> Message {
    match message {
        Message::Assistant(said) if !said.calls.is_empty() => {
            let calls = said.calls.iter().map(|call| {
                let arguments: Value = serde_json::from_str(call.arguments.as_str())
                    .unwrap_or_else(|_| call.arguments.as_str().into());
                json!({"name": names.spell(&call.name), "arguments": arguments})
            });
            Message::assistant(format!("```json\n{}\n```", Value::from_iter(calls)))
        }
        Message::Tool(given) => {
            let results = given.results.iter().map(|result| {
                let kind = if result.is_error() { "failed" } else { "returned" };
                format!("`{}` {kind}: {}", result.name, result.to_text())
            });
            Message::user(results.collect::<Vec<_>>().join("\n"))
        }
        other => other.clone(),
    }
}

#[derive(serde::Deserialize)]
struct Written<'a> {
    name: String,
    #[serde(borrow, alias = "parameters")]
    arguments: &'a RawValue,
}

/// Returns the calls in a text, with arguments as written.
///
/// They may be in a list, even one without end. What follows the last complete call counts if it begins like
/// one.
fn calls(text: &str) -> Vec<ToolCall> {
    // A code block precedes brackets in prose, such as those of formulas.
    let block = text.split_once("```json").map_or(text, |(_, block)| block);
    let Some(start) = block.find(['[', '{']) else { return Vec::new() };
    let body = block.get(start..).unwrap_or_default();
    let mut rest = body.split("```").next().unwrap_or_default();
    let mut found: Vec<(String, String)> = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ','));
        let mut written = serde_json::Deserializer::from_str(rest).into_iter::<Written<'_>>();
        let Some(Ok(call)) = written.next() else { break };
        found.push((call.name, call.arguments.get().to_owned()));
        rest = rest.get(written.byte_offset()..).unwrap_or_default();
    }
    found.extend(broken(rest));
    let numbered = found.into_iter().zip(1..);
    numbered
        .map(|((name, arguments), number)| ToolCall::new(format!("call_{number}"), name, arguments))
        .collect()
}

/// Returns the name, and everything after `arguments`, of a call that is not JSON.
fn broken(body: &str) -> Option<(String, String)> {
    let (_, rest) = body.split_once("\"name\"")?;
    let name = rest.split('"').nth(1)?.to_owned();
    let (_, arguments) = rest.split_once("\"arguments\"")?;
    let arguments = arguments.trim_start().strip_prefix(':')?.trim();
    Some((name, arguments.trim_end_matches(']').trim_end().to_owned()))
}

#[test]
fn calls_are_read_as_written() {
    let read = |text: &str| -> Vec<(String, String)> {
        calls(text).into_iter().map(|call| (call.name, call.arguments.as_str().to_owned())).collect()
    };
    let call = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    for (text, expected) in [
        ("Hello.", vec![]),
        ("```json\n[{\"name\": \"a\", \"arguments\": {\"n\": 1.0}}]\n```", vec![call("a", "{\"n\": 1.0}")]),
        (
            "Sure: {\"name\": \"a\", \"arguments\": {}}\n{\"name\": \"b\", \"arguments\": \"{}\"}",
            vec![call("a", "{}"), call("b", "\"{}\"")],
        ),
        (
            "The time is \\[ t \\].\n```json\n[{\"name\": \"a\", \"arguments\": {}}]\n```\nDone.",
            vec![call("a", "{}")],
        ),
        ("[{\"name\": \"a\", \"arguments\": {\"n\": 1}]", vec![call("a", "{\"n\": 1}")]),
        ("[{\"name\": \"a\", \"arguments\": {\"n\": 1", vec![call("a", "{\"n\": 1")]),
        (
            "```json\n[{\"name\": \"a\", \"arguments\": {}},\n{\"name\": \"b\", \"arguments\": {\"n\": ",
            vec![call("a", "{}"), call("b", "{\"n\":")],
        ),
        (
            "[{\"name\": \"a\", \"arguments\": {\"n\": 1}, {\"n\": 2}}]",
            vec![call("a", "{\"n\": 1}, {\"n\": 2}}")],
        ),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}
