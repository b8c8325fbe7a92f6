//! Options for encoding definitions.

use super::strict::StrictTools;
use std::collections::BTreeMap;

/// Options for encoding definitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct DefinitionOptions {
    /// The tools for which the provider enforces the schema.
    pub strict: StrictTools,
    /// Whether Gemini receives plain JSON Schema in `parametersJsonSchema`, without losses.
    ///
    /// Otherwise, it receives its own subset in `parameters`, which all models and APIs of Gemini accept.
    pub json_schema: bool,
    /// Whether output schemas are sent if the API has a field for them.
    ///
    /// They cost tokens, and help models that process results in code.
    pub output_schemas: bool,
    /// Whether the model is asked for the reason of each call, in the additional argument `call_reason`.
    ///
    /// The [metadata](toolkit_core::ToolMetadata::call_reason) of a tool can decide otherwise.
    /// [`ToolRegistry::with_call_reason`](toolkit_core::ToolRegistry::with_call_reason) also removes the
    /// argument before the tool sees it.
    pub call_reason: bool,
    /// Whether deferred tools are listed with `defer_loading`, for providers with their own tool search.
    ///
    /// The two tools of the registry's [tool search](toolkit_core::ToolRegistry::with_tool_search) are then
    /// left out.
    pub list_deferred: bool,
    /// Whether each `$ref` in a schema is replaced by a copy of its target.
    ///
    /// Small models and some servers behind OpenAI's or Anthropic's format do not follow references. Copies
    /// of a type that occurs often make the schema much longer. Ollama and Gemini's own subset never receive
    /// references.
    pub inline_references: bool,
    /// Whether Anthropic loads the deferred tools found by the registry's [tool
    /// search](toolkit_core::ToolRegistry::with_tool_search).
    ///
    /// They are then listed with `defer_loading`, and the model searches them with `discover_tools`. The
    /// history needs [`with_tool_references`](crate::HistoryWriter::with_tool_references). For OpenAI, use
    /// [`client_tool_search`](crate::hosted::openai::client_tool_search) instead.
    pub client_search: bool,
    /// The namespaces for OpenAI's Responses API, each with its description.
    ///
    /// With the provider's tool search, the model first sees only namespaces, and loads their deferred tools
    /// when it needs them.
    pub namespaces: BTreeMap<String, String>,
    /// Whether only the API's standard fields are sent: names, descriptions and parameters of functions.
    ///
    /// Set this for servers that refuse some fields of the API they implement.
    /// [`encode_tool_config`](crate::ConfiguredFormat::encode_tool_config) then writes only the tool choice.
    /// Everything left out is reported.
    pub standard_fields: bool,
}

impl DefinitionOptions {
    /// Groups the tools of the namespace `name` for OpenAI's Responses API, with a description for the model.
    ///
    /// The tools keep their full names, so their calls are dispatched as usual. Other APIs receive the tools
    /// without a group.
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
    /// Sets whether Anthropic loads the found deferred tools.
    with_client_search(client_search: bool) = client_search;
    /// Sets whether deferred tools are listed.
    with_list_deferred(list_deferred: bool) = list_deferred;
    /// Sets whether each `$ref` is replaced by its target.
    with_inline_references(inline_references: bool) = inline_references;
    /// Sets whether only standard fields are sent.
    with_standard_fields(standard_fields: bool) = standard_fields;
}
