//! Tests of references in the schemas of tools, in every format.

use crate::translate::RequestFormat;
use crate::{ApiFormat, DefinitionOptions};
use serde_json::json;
use toolkit_core::name::{ToolName, WireNames};
use toolkit_core::tool::ToolDefinition;

/// Returns a tool with two references to the same type in its parameters.
fn route() -> ToolDefinition {
    let place = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let parameters = json!({"type": "object", "$defs": {"Place": place}, "properties": {
        "from": {"$ref": "#/$defs/Place"}, "to": {"$ref": "#/$defs/Place"}}});
    ToolDefinition::new(ToolName::new("route").unwrap(), "Finds a route.", parameters)
}

#[test]
fn references_are_kept_where_the_api_has_them_unless_the_program_asks() {
    for format in ApiFormat::ALL {
        let encode = |inline| {
            let options = DefinitionOptions::default().with_inline_references(inline);
            format.encode_definitions([&route()], &WireNames::default(), &options).to_value().to_string()
        };
        let has_references = matches!(
            format,
            ApiFormat::OpenAiChat
                | ApiFormat::OpenAiResponses
                | ApiFormat::Anthropic
                | ApiFormat::Bedrock
                | ApiFormat::GeminiInteractions
                | ApiFormat::Cohere
        );
        assert_eq!(encode(false).contains("$ref"), has_references, "{format}");
        assert_eq!(encode(false).matches("\"city\"").count(), if has_references { 1 } else { 2 }, "{format}");
        assert!(!encode(true).contains("$ref"), "{format}");
        assert_eq!(encode(true).matches("\"city\"").count(), 2, "{format}");
    }
}

#[test]
fn a_single_object_with_functions_is_a_list_of_tools_of_gemini() {
    let declaration = json!({"name": "now", "description": "The time."});
    let request = json!({"contents": [], "tools": {"functionDeclarations": [declaration]}});
    let definitions = RequestFormat::Gemini.parse_definitions(&request).unwrap();
    assert_eq!(definitions[0].name.as_str(), "now");
}
