//! The server for the official conformance suite: tools with the names and results that its scenarios expect.

mod prompts_and_resources;

use prompts_and_resources::{prompts, resources};
use serde_json::{Value, json};
use std::env;
use std::sync::Arc;
use std::time::Duration;
use toolkit_ai::{
    CancellationToken, ClosureTool, Content, LiveRegistry, Media, Tool, ToolContext, ToolDefinition,
    ToolError, ToolFuture, ToolName, ToolOutput, ToolParams, ToolRegistry, tool, tools,
};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, Elicited, LogLevel};

/// A red pixel.
const PNG: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 144,
    119, 83, 222, 0, 0, 0, 12, 73, 68, 65, 84, 8, 215, 99, 248, 207, 192, 0, 0, 3, 1, 1, 0, 24, 221, 141,
    176, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

/// A sound without samples.
const WAV: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0";

fn pause() -> tokio::time::Sleep {
    tokio::time::sleep(Duration::from_millis(50))
}

/// Returns a text.
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Returns an image.
#[tool]
fn test_image_content() -> Media {
    Media::new("image/png", PNG)
}

/// Returns audio.
#[tool]
fn test_audio_content() -> Media {
    Media::new("audio/wav", WAV)
}

fn embedded(uri: &str, media_type: &str, text: &str) -> Content {
    Media::new(media_type, text).with_name(uri).into()
}

/// Returns an embedded resource.
#[tool]
fn test_embedded_resource() -> Content {
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
}

/// Returns text, an image and a resource.
#[tool]
fn test_multiple_content_types() -> Vec<Content> {
    let data =
        embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
    vec![Content::text("Multiple content types test:"), Media::new("image/png", PNG).into(), data]
}

/// Logs three messages.
#[tool]
async fn test_tool_with_logging(#[state] caller: &Caller) -> &'static str {
    caller.log(LogLevel::Info, "Tool execution started").await;
    pause().await;
    caller.log(LogLevel::Info, "Tool processing data").await;
    pause().await;
    caller.log(LogLevel::Info, "Tool execution completed").await;
    "Tool with logging executed successfully"
}

/// Logs a message.
#[tool]
async fn test_logging_tool(#[state] caller: &Caller) -> &'static str {
    caller.log(LogLevel::Info, "logged").await;
    "logged"
}

/// Fails.
#[tool]
fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::failed("").with_message("This tool intentionally returns an error for testing"))
}

/// Reports progress.
#[tool]
async fn test_tool_with_progress(context: &ToolContext) -> &'static str {
    context.progress(0.0, "begin");
    pause().await;
    context.progress(0.5, "half");
    pause().await;
    context.progress(1.0, "end");
    "Tool with progress executed successfully"
}

fn message(prompt: &str, max_tokens: u32) -> Value {
    json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": max_tokens,
    })
}

/// Asks the client's model.
#[tool]
async fn test_sampling(prompt: String, #[state] caller: &Caller) -> Result<String, ToolError> {
    let answer = caller.request("prompt", "sampling/createMessage", message(&prompt, 100)).await?;
    Ok(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
}

fn action(answer: &Elicited) -> (&'static str, Value) {
    match answer {
        Elicited::Accepted(content) => ("accept", content.clone()),
        Elicited::Declined => ("decline", Value::Null),
        _ => ("cancel", Value::Null),
    }
}

/// Asks the user.
#[tool]
async fn test_elicitation(message: String, #[state] caller: &Caller) -> Result<String, ToolError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    });
    let (action, content) = action(&caller.elicit("user", message, schema).await?);
    Ok(format!("User response: action={action}, content={content}"))
}

async fn completed(caller: &Caller, properties: Value) -> Result<String, ToolError> {
    let schema = json!({"type": "object", "properties": properties});
    let (action, content) = action(&caller.elicit("form", "Please fill in the form", schema).await?);
    Ok(format!("Elicitation completed: action={action}, content={content}"))
}

/// Asks the user with defaults.
#[tool]
async fn test_elicitation_sep1034_defaults(#[state] caller: &Caller) -> Result<String, ToolError> {
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    completed(caller, properties).await
}

/// Asks the user with enums.
#[tool]
async fn test_elicitation_sep1330_enums(#[state] caller: &Caller) -> Result<String, ToolError> {
    let titled = |ordinals: [(&str, &str); 3]| -> Value {
        ordinals.iter().map(|(value, title)| json!({"const": value, "title": title})).collect()
    };
    let options = [("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option")];
    let choices = [("value1", "First Choice"), ("value2", "Second Choice"), ("value3", "Third Choice")];
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled(options)},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled(choices)}},
    });
    completed(caller, properties).await
}

#[derive(ToolParams)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// Waits a moment, so that a client can reconnect.
#[tool]
async fn test_reconnection() -> &'static str {
    pause().await;
    "Reconnection test completed"
}

/// Needs sampling.
#[tool]
async fn test_missing_capability(#[state] caller: &Caller) -> Result<String, ToolError> {
    caller.request("x", "sampling/createMessage", message("Hello", 10)).await.map(|answer| answer.to_string())
}

/// Asks the user during a stream.
#[tool]
async fn test_streaming_elicitation(#[state] caller: &Caller) -> Result<String, ToolError> {
    confirm(caller, "streaming").await
}

async fn confirm(caller: &Caller, key: &str) -> Result<String, ToolError> {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let (action, _) = action(&caller.elicit(key, "Please confirm", schema).await?);
    Ok(format!("state-ok {action}"))
}

fn text_field(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
}

async fn ask_text(caller: &Caller, key: &str, question: &str, field: &str) -> Result<String, ToolError> {
    let answer = caller.elicit(key, question, text_field(field)).await?;
    let (action, content) = action(&answer);
    Ok(content[field].as_str().unwrap_or(action).to_owned())
}

/// Asks for the name of the user.
#[tool]
async fn test_input_required_result_elicitation(#[state] caller: &Caller) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", ask_text(caller, "user_name", "What is your name?", "name").await?))
}

/// Asks the client's model.
#[tool]
async fn test_input_required_result_sampling(#[state] caller: &Caller) -> Result<String, ToolError> {
    let params = message("What is the capital of France?", 100);
    let answer = caller.request("capital_question", "sampling/createMessage", params).await?;
    Ok(answer["content"]["text"].as_str().unwrap_or_default().to_owned())
}

/// Asks for the roots of the client.
#[tool]
async fn test_input_required_result_list_roots(#[state] caller: &Caller) -> Result<String, ToolError> {
    caller.request("client_roots", "roots/list", json!({})).await.map(|roots| roots.to_string())
}

/// Asks for confirmation.
#[tool]
async fn test_input_required_result_request_state(#[state] caller: &Caller) -> Result<String, ToolError> {
    confirm(caller, "confirm").await
}

/// Asks for confirmation with a signed state.
#[tool]
async fn test_input_required_result_tampered_state(#[state] caller: &Caller) -> Result<String, ToolError> {
    confirm(caller, "confirm").await
}

/// Asks the user, the client's model and the client at once.
#[tool]
async fn test_input_required_result_multiple_inputs(#[state] caller: &Caller) -> Result<String, ToolError> {
    let (name, greeting, roots) = tokio::join!(
        ask_text(caller, "user_name", "What is your name?", "name"),
        caller.request("greeting", "sampling/createMessage", message("Generate a greeting", 50)),
        caller.request("client_roots", "roots/list", json!({})),
    );
    Ok(format!("{} {} {}", name?, greeting?["content"]["text"], roots?))
}

/// Asks the user twice.
#[tool]
async fn test_input_required_result_multi_round(#[state] caller: &Caller) -> Result<String, ToolError> {
    let name = ask_text(caller, "step1", "Step 1: What is your name?", "name").await?;
    let color = ask_text(caller, "step2", "Step 2: What is your favorite color?", "color").await?;
    Ok(format!("{name} likes {color}"))
}

/// Asks what the client supports.
#[tool]
async fn test_input_required_result_capabilities(#[state] caller: &Caller) -> Result<String, ToolError> {
    if caller.can_elicit() {
        confirm(caller, "confirm").await
    } else {
        let params = message("Hello", 10);
        caller.request("hello", "sampling/createMessage", params).await.map(|answer| answer.to_string())
    }
}

/// Adds or removes a tool.
#[tool]
fn test_trigger_tool_change(#[state] live: &LiveTools) -> Result<String, ToolError> {
    let Some(live) = live.0.get() else { return Err(ToolError::failed("the server has not begun")) };
    let changed = live.change(|registry| {
        if registry.contains("extra") {
            registry.unregister("extra").map(drop)
        } else {
            registry.register(Echo::new("extra", "Comes and goes.", json!({"type": "object"})))
        }
    });
    changed.map(|()| "changed".to_owned()).map_err(ToolError::failed)
}

/// The registry of the server, set after its creation.
#[derive(Default)]
struct LiveTools(std::sync::OnceLock<LiveRegistry>);

/// A tool with a schema written by hand.
struct Echo(ToolDefinition);

impl Echo {
    fn new(name: &'static str, description: &str, schema: Value) -> Self {
        let name = ToolName::from_parts(name, None, name).unwrap_or_else(|error| unreachable!("{error}"));
        Self(ToolDefinition::new(name, description, schema))
    }
}

impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text(arguments)))
    }
}

/// The schema that the suite expects, word for word.
fn rich_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = tools![
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_tool_with_logging,
        test_logging_tool,
        test_error_handling,
        test_tool_with_progress,
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_reconnection,
        test_missing_capability,
        test_streaming_elicitation,
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_tampered_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_capabilities,
        test_trigger_tool_change,
    ];
    let live = Arc::new(LiveTools::default());
    let header = ClosureTool::new("test_custom_header", "Has a header.", |place: Place| place.region)?;
    let mut registry =
        ToolRegistry::from_tools(tools)?.with_run_state::<Caller>().with_shared_state(live.clone());
    registry.register(Echo::new("json_schema_2020_12_tool", "Has a rich schema.", rich_schema()))?;
    registry.register(header)?;
    let registry = LiveRegistry::new(registry)?;
    live.0.get_or_init(|| registry.clone());

    let server = McpServer::new(registry)?.with_prompts(prompts()?)?.with_resources(resources()?)?;
    let server = server.with_name("conformance", "1.0.0");
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(address) = arguments.first() {
        let token = CancellationToken::new();
        server.with_cancellation(token).serve_http(address.as_str()).await?;
    } else {
        server.serve_stdio().await?;
    }
    Ok(())
}
