//! Every dialect on any JSON, and tools with such a schema in every format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolkit_core::name::WireNames;
use toolkit_core::{ToolDefinition, ToolName};
use toolkit_schema::SchemaDialect;
use toolkit_llm::translate::RequestFormat;
use toolkit_llm::{ApiFormat, DefinitionOptions, StrictTools};

fuzz_target!(|text: &str| {
    let Ok(schema) = serde_json::from_str::<Value>(text) else { return };
    for dialect in [
        SchemaDialect::JsonSchema,
        SchemaDialect::OpenAi,
        SchemaDialect::OpenAiStrict,
        SchemaDialect::Anthropic,
        SchemaDialect::AnthropicStrict,
        SchemaDialect::Gemini,
    ] {
        let _ = dialect.convert(&schema);
    }
    let Ok(name) = ToolName::new("tool") else { return };
    let tool = ToolDefinition::new(name, "", schema);
    for &format in ApiFormat::ALL {
        let options = DefinitionOptions::default().with_strict(StrictTools::All);
        let definitions = format.encode_definitions([&tool], &WireNames::default(), &options);
        let _ = RequestFormat::of(format).map(|reader| reader.parse_definitions(&definitions.to_value()));
    }
});
