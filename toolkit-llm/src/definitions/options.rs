//! Options for encoding definitions.

use super::strict::StrictTools;
use std::collections::BTreeMap;

/// Options for encoding definitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct DefinitionOptions {
    /// The tools for which the provider enforces the schema.
    pub strict: StrictTools,
    /// Whether Gemini receives plain JSON Schema in the field `parametersJsonSchema`, without losses. Otherwise, Gemini
    /// receives its own schema subset in the field `parameters`. All models and APIs of Gemini accept this subset.
    pub json_schema: bool,
    /// Whether output schemas are sent if the API has a field for them. Output schemas cost tokens, and help
    /// models that process results in code.
    pub output_schemas: bool,
    /// Whether the model is asked for the reason of each call, unless the
    /// [metadata](toolkit_core::ToolMetadata::call_reason) of a tool decides otherwise. The tools are then
    /// published with the additional argument `call_reason`.
    /// [`ToolRegistry::with_call_reason`](toolkit_core::ToolRegistry::with_call_reason) publishes the same
    /// argument, and removes it from calls before the tool sees them.
    pub call_reason: bool,
    /// Whether deferred tools are listed even if the registry has a [tool
    /// search](toolkit_core::ToolRegistry::with_tool_search). The two tools of the tool search are then left
    /// out. This is for providers with their own tool search, which receive `defer_loading`.
    pub list_deferred: bool,
    /// Whether each reference in a schema (`$ref`) is replaced by a copy of its target. Small models and some
    /// servers behind OpenAI's or Anthropic's format do not follow references. If a type is referenced often,
    /// the copies make the schema much longer. Ollama and Gemini's own subset never receive references.
    pub inline_references: bool,
    /// Whether Anthropic loads the deferred tools found by the registry's [tool
    /// search](toolkit_core::ToolRegistry::with_tool_search). The deferred tools are then listed with
    /// `defer_loading`, and the model searches them with `discover_tools`. Write the history with
    /// [`with_tool_references`](crate::HistoryWriter::with_tool_references), so that the provider loads the
    /// found tools. For OpenAI, use [`client_tool_search`](crate::hosted::openai::client_tool_search)
    /// instead.
    pub client_search: bool,
    /// The namespaces to write for OpenAI's Responses API, each with its description. With the provider's
    /// tool search, the model first sees only the namespaces, and loads their deferred tools when it needs
    /// them.
    pub namespaces: BTreeMap<String, String>,
    /// Whether only the standard fields of the API are sent: names, descriptions and parameters of functions. Set this
    /// for servers that implement another provider's API but refuse some of its fields. All tools are then sent as
    /// functions and without enforcement, and [`encode_tool_config`](crate::ConfiguredFormat::encode_tool_config)
    /// writes only the tool choice. Everything left out is reported.
    pub standard_fields: bool,
}

impl DefinitionOptions {
    /// Groups the tools of the namespace `name` for OpenAI's Responses API. The model sees `description` as
    /// the description of the group.
    ///
    /// The tools keep their full names within the group, so their calls are dispatched as usual. Other APIs
    /// have no namespaces and receive the tools without a group.
    ///
    /// ```
    /// use toolkit_ai::name::{Separator, WireNames};
    /// use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
    /// use toolkit_ai::{ToolDefinition, ToolName};
    ///
    /// let format = ApiFormat::OpenAiResponses;
    /// let name = ToolName::qualified("fs", "read", Separator::Dot)?;
    /// let read = ToolDefinition::new(name, "Reads.", serde_json::json!({"type": "object"}));
    /// let names = WireNames::new(format.name_rule(), ["fs.read"]);
    /// let options = DefinitionOptions::default().with_namespace("fs", "The files of the project.");
    /// let tools = format.encode_definitions([&read], &names, &options).to_value();
    /// assert_eq!(tools[0]["type"], "namespace");
    /// assert_eq!(tools[0]["tools"][0]["name"], "fs_read");
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn with_namespace(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.namespaces.insert(name.into(), description.into());
        self
    }
}

setters! { DefinitionOptions:
    /// Sets the tools for which the provider enforces the schema.
    with_strict(strict: StrictTools) = strict;
    /// Sets whether Gemini receives plain JSON Schema.
    with_json_schema(json_schema: bool) = json_schema;
    /// Sets whether output schemas are sent.
    with_output_schemas(output_schemas: bool) = output_schemas;
    /// Sets whether the model is asked for a call reason.
    with_call_reason(call_reason: bool) = call_reason;
    /// Sets whether Anthropic loads the deferred tools found by the registry's tool search.
    with_client_search(client_search: bool) = client_search;
    /// Sets whether deferred tools are listed even if the registry has a tool search.
    with_list_deferred(list_deferred: bool) = list_deferred;
    /// Sets whether each reference in a schema is replaced by a copy of its target.
    with_inline_references(inline_references: bool) = inline_references;
    /// Sets whether only the standard fields of the API are sent.
    with_standard_fields(standard_fields: bool) = standard_fields;
}
