//! Prompts and resources with the names and contents that the scenarios of the conformance suite expect.

use super::{PNG, embedded};
use serde_json::json;
use toolkit_ai::{BuildError, Content, Json, Media, ToolError, ToolRegistry, tool, tools};
use toolkit_mcp::server::{Caller, Elicited, ServerResource};

/// A simple prompt.
#[tool(register = false)]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with arguments.
///
/// :param arg1: The first argument
/// :param arg2: The second argument
#[tool(register = false)]
fn test_prompt_with_arguments(arg1: String, arg2: String) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// A prompt with a resource.
#[tool(register = false)]
fn test_prompt_with_embedded_resource(#[param(rename = "resourceUri")] uri: String) -> Vec<Content> {
    vec![
        embedded(&uri, "text/plain", "Embedded resource content for testing."),
        Content::text("Please process the embedded resource above."),
    ]
}

/// A prompt with an image.
#[tool(register = false)]
fn test_prompt_with_image() -> Vec<Content> {
    vec![Media::new("image/png", PNG).into(), Content::text("Please analyze the image above.")]
}

/// A prompt that asks the user.
#[tool(register = false)]
async fn test_input_required_result_prompt(#[state] caller: &Caller) -> Result<String, ToolError> {
    let form =
        json!({"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]});
    match caller.elicit("user_context", "What context should the prompt use?", form).await? {
        Elicited::Accepted(answer) => Ok(format!("Use the context {}.", answer["context"])),
        _ => Ok("Use no context.".to_owned()),
    }
}

/// A picture.
#[tool(register = false)]
fn static_binary() -> Media {
    Media::new("image/png", PNG)
}

/// The data of an id.
#[tool(register = false)]
fn data(id: String) -> Json<serde_json::Value> {
    let text = format!("Data for ID: {id}");
    Json(json!({"id": id, "templateTest": true, "data": text}))
}

/// Returns the prompts of the server.
pub(super) fn prompts() -> Result<ToolRegistry, BuildError> {
    ToolRegistry::from_tools(tools![
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_input_required_result_prompt,
    ])
}

/// Returns the resources of the server.
pub(super) fn resources() -> Result<ToolRegistry, BuildError> {
    let text = "This is the content of the static text resource.";
    ToolRegistry::from_tools([
        ServerResource::text("test://static-text", "static_text", text)?.with_media_type("text/plain"),
        ServerResource::function("test://static-binary", static_binary::tool()),
        ServerResource::function("test://template/{id}/data", data::tool()),
        ServerResource::text("test://watched-resource", "watched", "It changes.")?,
    ])
}
