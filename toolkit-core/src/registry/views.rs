//! What is computed from the tools of a registry when it is first asked for.

use super::ToolRegistry;
use crate::name::WireNames;
use crate::tool::Tool;
use crate::wire::{ApiFormat, DefinitionOptions, Definitions};
use std::sync::{Arc, OnceLock};

/// Views of the tools. A registry that changes gets new, empty ones.
#[derive(Clone, Default)]
pub(super) struct Views {
    sorted: OnceLock<Vec<Arc<dyn Tool>>>,
    names: [OnceLock<WireNames>; ApiFormat::ALL.len()],
    definitions: [OnceLock<Definitions>; ApiFormat::ALL.len()],
}

impl Views {
    pub(super) fn sorted(&self, registry: &ToolRegistry) -> &[Arc<dyn Tool>] {
        self.sorted.get_or_init(|| {
            let mut tools: Vec<Arc<dyn Tool>> = registry.tools.values().cloned().collect();
            tools.sort_by(|a, b| a.definition().name.cmp(&b.definition().name));
            tools
        })
    }

    /// The name behind some provider's spelling.
    pub(super) fn original<'a>(&'a self, registry: &ToolRegistry, spelling: &'a str) -> Option<&'a str> {
        let formats = ApiFormat::ALL.into_iter().zip(&self.names);
        formats
            .map(|(format, names)| names.get_or_init(|| self.spell(registry, format)).unspell(spelling))
            .find(|original| *original != spelling)
    }

    pub(super) fn names(&self, registry: &ToolRegistry, format: ApiFormat) -> WireNames {
        match self.names.get(format as usize) {
            Some(names) => names.get_or_init(|| self.spell(registry, format)).clone(),
            None => self.spell(registry, format),
        }
    }

    pub(super) fn definitions(&self, registry: &ToolRegistry, format: ApiFormat) -> Definitions {
        let render = || {
            let names = self.spell(registry, format);
            let definitions = self.sorted(registry).iter().map(Tool::definition);
            format.encode_definitions(definitions, &names, &DefinitionOptions::default())
        };
        match self.definitions.get(format as usize) {
            Some(rendered) => rendered.get_or_init(render).clone(),
            None => render(),
        }
    }

    fn spell(&self, registry: &ToolRegistry, format: ApiFormat) -> WireNames {
        let names = self.sorted(registry).iter().map(|tool| tool.definition().name.as_str());
        WireNames::new(format.name_rule(), names)
    }
}
