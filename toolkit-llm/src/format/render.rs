//! Renders the definitions of a registry in an API format.

use crate::definitions::{DefinitionOptions, Definitions, EncodedToolConfig, Fragment, Renderer, standard};
use crate::facts::ApiFormat;
use std::sync::Arc;
use toolkit_core::call::ToolConfig;
use toolkit_core::definition::ToolDefinition;
use toolkit_core::format::{Publication, ToolFormat};
use toolkit_core::name::{NameRule, WireNames};

/// An [`ApiFormat`] with options, created by [`ApiFormat::with_options`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConfiguredFormat {
    pub(crate) format: ApiFormat,
    pub(crate) options: DefinitionOptions,
}

impl ConfiguredFormat {
    /// Encodes a tool config like [`ApiFormat::encode_tool_config`], in the fields that the options allow.
    ///
    /// ```
    /// use toolkit_ai::llm::{ApiFormat, DefinitionOptions};
    /// use toolkit_ai::ToolConfig;
    /// use toolkit_ai::name::WireNames;
    ///
    /// let format = ApiFormat::OpenAiChat.with_options(DefinitionOptions::default().with_standard_fields(true));
    /// let wanted = ToolConfig::default().with_parallel(false);
    /// let encoded = format.encode_tool_config(&wanted, &WireNames::default());
    /// assert!(!encoded.fields.contains_key("parallel_tool_calls"));
    /// assert_eq!(encoded.losses[0].path, "/parallel");
    /// ```
    #[must_use]
    pub fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        if !self.options.standard_fields {
            return self.format.encode_tool_config(wanted, names);
        }
        let (wanted, losses) = standard::tool_config(wanted);
        let mut encoded = self.format.encode_tool_config(&wanted, names);
        encoded.losses.splice(0..0, losses);
        encoded
    }
}

impl ToolFormat for ConfiguredFormat {
    type Rendered = Definitions;
    type Fragment = Fragment;

    fn name_rule(&self) -> NameRule {
        self.format.name_rule()
    }

    fn publication(&self) -> Publication {
        Publication::default()
            .with_call_reason(self.options.call_reason)
            .with_list_deferred(self.options.list_deferred)
            .with_client_search(self.options.client_search)
    }

    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Fragment>>,
    ) -> (Definitions, Vec<Arc<Fragment>>) {
        let renderer = Renderer::new(self.format.definition_codec(), tools, names, &self.options);
        let mut fragments = Vec::with_capacity(tools.len());
        for index in 0..tools.len() {
            match earlier(index) {
                Some(fragment) if renderer.holds(index, &fragment) => fragments.push(fragment),
                _ => fragments.push(Arc::new(renderer.fragment(index))),
            }
        }
        (renderer.assemble(&fragments), fragments)
    }
}

impl ToolFormat for ApiFormat {
    type Rendered = Definitions;
    type Fragment = Fragment;

    fn name_rule(&self) -> NameRule {
        Self::name_rule(*self)
    }

    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Fragment>>,
    ) -> (Definitions, Vec<Arc<Fragment>>) {
        self.with_options(DefinitionOptions::default()).render(tools, names, earlier)
    }
}
