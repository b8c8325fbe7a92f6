//! Formats as renderers of a registry's definitions.

use super::ApiFormat;
use crate::definitions::{DefinitionOptions, Definitions, Fragment, Renderer};
use std::sync::Arc;
use toolkit_core::format::{Publication, ToolFormat};
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::tool::ToolDefinition;

/// An [`ApiFormat`] with [`DefinitionOptions`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConfiguredFormat {
    pub(super) format: ApiFormat,
    pub(super) options: DefinitionOptions,
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
        let renderer = Renderer::new(self.format.codec(), tools, names, &self.options);
        let fragment = |index| match earlier(index) {
            Some(fragment) if renderer.holds(index, &fragment) => fragment,
            _ => Arc::new(renderer.fragment(index)),
        };
        let fragments: Vec<Arc<Fragment>> = (0..tools.len()).map(fragment).collect();
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
