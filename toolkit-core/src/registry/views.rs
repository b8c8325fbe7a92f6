//! What is computed from the tools of a registry when it is first asked for.

use super::ToolRegistry;
use super::search::{Catalog, Index, SearchOptions};
use crate::name::WireNames;
use crate::tool::{Tool, ToolDefinition, published};
use crate::wire::{ApiFormat, DefinitionOptions, Definitions, Fragment, Renderer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// RenderCache of the tools. A registry that changes gets [new ones](RenderCache::renewed).
#[derive(Default)]
pub(super) struct RenderCache {
    sorted: OnceLock<Vec<Arc<dyn Tool>>>,
    names: [OnceLock<WireNames>; ApiFormat::ALL.len()],
    rendered: Mutex<Renderings>,
    /// Those of the registry before it changed.
    earlier: Renderings,
    index: OnceLock<Arc<Index>>,
    /// That of the registry before it changed.
    earlier_index: Option<Arc<Index>>,
    catalog: OnceLock<Arc<Catalog>>,
    search_tools: OnceLock<[Arc<dyn Tool>; 2]>,
}

type Renderings = HashMap<(ApiFormat, DefinitionOptions), Arc<Rendering>>;

/// Rendered definitions, whole and piece by piece.
struct Rendering {
    whole: Definitions,
    /// Each tool with its piece, in the order of their names.
    pieces: Vec<(Arc<dyn Tool>, Arc<Fragment>)>,
}

impl Rendering {
    /// The piece of this very tool.
    fn piece(&self, tool: &Arc<dyn Tool>) -> Option<&Arc<Fragment>> {
        let name = &tool.definition().name;
        let found = self.pieces.binary_search_by(|(known, _)| known.definition().name.cmp(name)).ok()?;
        let (known, piece) = self.pieces.get(found)?;
        ptr::addr_eq(Arc::as_ptr(known), Arc::as_ptr(tool)).then_some(piece)
    }
}

impl RenderCache {
    /// The views of the registry after a change. They know what was rendered before, so that only what
    /// changed is rendered again.
    pub(super) fn renewed(&self) -> Self {
        let mut earlier = self.earlier.clone();
        earlier.extend(self.rendered().clone());
        let earlier_index = self.index.get().or(self.earlier_index.as_ref()).cloned();
        Self { earlier, earlier_index, ..Self::default() }
    }

    pub(super) fn sorted(&self, registry: &ToolRegistry) -> &[Arc<dyn Tool>] {
        self.sorted.get_or_init(|| {
            let mut tools: Vec<Arc<dyn Tool>> = registry.tools.values().cloned().collect();
            tools.sort_by(|a, b| a.definition().name.cmp(&b.definition().name));
            tools
        })
    }

    /// The name behind some provider's spelling.
    pub(super) fn original<'a>(&'a self, registry: &ToolRegistry, spelling: &'a str) -> Option<&'a str> {
        let mut formats = ApiFormat::ALL.into_iter();
        formats.find_map(|format| {
            Some(self.names(registry, format).unspell(spelling)).filter(|n| *n != spelling)
        })
    }

    pub(super) fn names(&self, registry: &ToolRegistry, format: ApiFormat) -> &WireNames {
        self.names[format as usize].get_or_init(|| {
            // Disabled tools too: a spelling must not change because another tool is switched off.
            let names = registry.every_definition().map(|definition| definition.name.as_str());
            WireNames::new(format.name_rule(), names.chain(registry.search_names().iter().copied()))
        })
    }

    /// The words of the tools. Only tools that the registry did not have before it changed are read.
    pub(super) fn index(&self, registry: &ToolRegistry) -> &Arc<Index> {
        self.index.get_or_init(|| Arc::new(Index::new(self.sorted(registry), self.earlier_index.as_deref())))
    }

    pub(super) fn catalog(&self, registry: &ToolRegistry, options: &SearchOptions) -> &Arc<Catalog> {
        self.catalog.get_or_init(|| {
            let names = self.names(registry, ApiFormat::OpenAiChat).clone();
            Arc::new(Catalog::new(self.index(registry).clone(), names, options.clone(), registry.call_reason))
        })
    }

    /// The tools of the search, in the order of their names.
    pub(super) fn search_tools(&self, registry: &ToolRegistry, options: &SearchOptions) -> &[Arc<dyn Tool>] {
        self.search_tools.get_or_init(|| self.catalog(registry, options).clone().tools())
    }

    /// The tools that the model is told of, in the order of their names.
    fn told(&self, registry: &ToolRegistry, options: &DefinitionOptions) -> Cow<'_, [Arc<dyn Tool>]> {
        let tools = self.sorted(registry);
        if options.list_deferred || registry.search.is_none() {
            return Cow::Borrowed(tools);
        }
        let listed = tools.iter().filter(|tool| !tool.definition().metadata.defer);
        let mut told: Vec<Arc<dyn Tool>> = listed.chain(registry.search_tools()).cloned().collect();
        told.sort_by(|a, b| a.definition().name.cmp(&b.definition().name));
        Cow::Owned(told)
    }

    pub(super) fn definitions(
        &self,
        registry: &ToolRegistry,
        format: ApiFormat,
        options: &DefinitionOptions,
    ) -> Definitions {
        let key = (format, options.clone());
        if let Some(known) = self.rendered().get(&key) {
            return known.whole.clone();
        }
        let rendering = self.render(registry, &key);
        let whole = rendering.whole.clone();
        self.rendered().insert(key, Arc::new(rendering));
        whole
    }

    fn render(&self, registry: &ToolRegistry, key: &(ApiFormat, DefinitionOptions)) -> Rendering {
        let (format, options) = key;
        let tools = self.told(registry, options);
        let published: Vec<Cow<'_, ToolDefinition>> =
            tools.iter().map(|tool| published(tool.definition(), options.call_reason)).collect();
        let definitions: Vec<&ToolDefinition> = published.iter().map(|definition| &**definition).collect();
        let renderer = Renderer::new(*format, &definitions, self.names(registry, *format), options);
        let earlier = self.earlier.get(key);
        let piece = |index, tool| match earlier.and_then(|earlier| earlier.piece(tool)) {
            Some(piece) if renderer.holds(index, piece) => piece.clone(),
            _ => Arc::new(renderer.fragment(index)),
        };
        let pieces: Vec<Arc<Fragment>> =
            tools.iter().enumerate().map(|(index, tool)| piece(index, tool)).collect();
        Rendering { whole: renderer.assemble(&pieces), pieces: tools.iter().cloned().zip(pieces).collect() }
    }

    /// Rendering happens outside of the lock, so no panic can leave it in a half-changed state.
    fn rendered(&self) -> MutexGuard<'_, Renderings> {
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for RenderCache {
    fn clone(&self) -> Self {
        Self {
            sorted: self.sorted.clone(),
            names: self.names.clone(),
            rendered: Mutex::new(self.rendered().clone()),
            earlier: self.earlier.clone(),
            index: self.index.clone(),
            earlier_index: self.earlier_index.clone(),
            catalog: self.catalog.clone(),
            search_tools: self.search_tools.clone(),
        }
    }
}
