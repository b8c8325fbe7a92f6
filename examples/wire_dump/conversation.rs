//! A conversation with tool calls, encoded for each provider.

use toolkit_ai::llm::hosted::HostedTool;
use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
use toolkit_ai::name::WireNames;
use toolkit_ai::serde_json::{Map, Value};
use toolkit_ai::{Content, ToolCall, ToolChoice, ToolConfig, ToolDefinition, ToolResult};

/// A user message, calls, and results.
pub(crate) struct Turn {
    pub(crate) asks: String,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) results: Vec<ToolResult>,
}

#[derive(Default)]
pub(crate) struct Conversation {
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) turns: Vec<Turn>,
    /// The tools that the providers define.
    pub(crate) hosted: Vec<HostedTool>,
}

impl Conversation {
    /// Returns a section for each format, with its requests' fields.
    pub(crate) fn to_json(&self, options: &DefinitionOptions) -> Value {
        let sections = ApiFormat::ALL.iter().copied().map(|format| (format.name(), format));
        // Mistral's API is Chat Completions with standard fields only.
        let mistral = options.standard_fields.then_some(("mistral", ApiFormat::OpenAiChat));
        let sections = sections.chain(mistral);
        sections
            .map(|(name, format)| (name.to_owned(), Value::Object(self.request(format, options, name))))
            .collect()
    }

    fn request(&self, format: ApiFormat, options: &DefinitionOptions, section: &str) -> Map<String, Value> {
        let names = WireNames::new(format.name_rule(), self.tools.iter().map(|tool| tool.name.as_str()));
        let definitions = format.encode_definitions(&self.tools, &names, options);
        let choice = match self.tools.first() {
            Some(tool) => ToolChoice::Tool(tool.name.as_str().to_owned()),
            None => ToolChoice::Auto,
        };
        let wanted = ToolConfig::from(choice).with_parallel(true).with_kinds_of(&self.tools);
        let mut request = Map::new();
        let config = format.with_options(options.clone()).encode_tool_config(&wanted, &names);
        format.set_tools(&mut request, &definitions.with_hosted(&self.hosted), &config);
        request.extend(HostedTool::request_fields(&self.hosted, format));
        let history = match format {
            ApiFormat::OpenAiResponses | ApiFormat::GeminiInteractions => "input",
            ApiFormat::Gemini => "contents",
            _ => "messages",
        };
        request.insert(history.to_owned(), self.history(format, &names, section == "mistral").into());
        request
    }

    fn history(&self, format: ApiFormat, names: &WireNames, mistral: bool) -> Vec<Value> {
        let history = format.history(names).with_mistral(mistral);
        let turns = self.turns.iter().filter(|turn| !turn.calls.is_empty());
        turns
            .flat_map(|turn| {
                let mut messages = vec![format.encode_user(&[Content::text(&turn.asks)])];
                messages.extend(history.encode_calls(&turn.calls));
                messages.extend(history.encode_results(&turn.results));
                messages.extend(history.encode_assistant("Done.", &[]));
                messages
            })
            .collect()
    }
}
