//! Cached values of a registry.

use super::ToolRegistry;
use crate::definition::{Tool, ToolDefinition};
use crate::format::{Publication, ToolFormat};
use crate::guard::lock;
use crate::name::{NameRule, WireNames};
use crate::schema::__private::sort_by;
use crate::search::{CALL_DEFERRED, Catalog, Index, SearchOptions, search_tools};
use std::any::Any;
use std::borrow::Cow;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock};

/// Values computed from the tools on first use. A changed registry gets a [renewed](Self::renewed) cache.
#[derive(Clone, Default)]
pub(super) struct RenderCache {
    sorted: OnceLock<Vec<Arc<dyn Tool>>>,
    names: Locked<Vec<(NameRule, WireNames)>>,
    rendered: Locked<Renderings>,
    /// The renderings before the last change.
    earlier: Renderings,
    index: OnceLock<Arc<Index>>,
    /// The search index before the last change.
    earlier_index: Option<Arc<Index>>,
    catalog: OnceLock<Arc<Catalog>>,
    search_tools: OnceLock<[Arc<dyn Tool>; 2]>,
}

/// A value in a mutex. Nothing panics under the lock, so poisoning is ignored.
#[derive(Default)]
struct Locked<T>(Mutex<T>);

impl<T: Clone> Clone for Locked<T> {
    fn clone(&self) -> Self {
        Self(Mutex::new(lock(&self.0).clone()))
    }
}

/// The definitions in one format: the list for a request, and a fragment for each tool.
struct Rendering<F: ToolFormat> {
    key: RenderingKey<F>,
    list: F::Rendered,
    tools: Vec<Arc<dyn Tool>>,
    fragments: Vec<Arc<F::Fragment>>,
}

/// A format, and whether the registry asks for call reasons.
type RenderingKey<F> = (F, bool);

impl<F: ToolFormat> Rendering<F> {
    /// Returns the fragment of `tool`; `None` if it was added or replaced later.
    fn fragment(&self, tool: &Arc<dyn Tool>) -> Option<&Arc<F::Fragment>> {
        let name = &tool.definition().name;
        let found = self.tools.binary_search_by(|known| known.definition().name.cmp(name)).ok()?;
        let is_same = ptr::addr_eq(Arc::as_ptr(self.tools.get(found)?), Arc::as_ptr(tool));
        self.fragments.get(found).filter(|_| is_same)
    }
}

trait AnyRendering: Any + Send + Sync {
    fn replaces(&self, other: &dyn AnyRendering) -> bool;
}

impl<F: ToolFormat> AnyRendering for Rendering<F> {
    fn replaces(&self, other: &dyn AnyRendering) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| other.key == self.key)
    }
}

/// Renderings with different keys, compared one by one because there are few.
#[derive(Clone, Default)]
struct Renderings(Vec<Arc<dyn AnyRendering>>);

impl Renderings {
    fn get<F: ToolFormat>(&self, key: &RenderingKey<F>) -> Option<&Rendering<F>> {
        let mut typed =
            self.0.iter().filter_map(|known| (&**known as &dyn Any).downcast_ref::<Rendering<F>>());
        typed.find(|known| known.key == *key)
    }

    fn insert(&mut self, rendering: Arc<dyn AnyRendering>) {
        self.0.retain(|known| !rendering.replaces(&**known));
        self.0.push(rendering);
    }
}

impl RenderCache {
    /// Returns a cache for the changed registry that reuses the fragments of unchanged tools.
    pub(super) fn renewed(&self) -> Self {
        let mut earlier = self.earlier.clone();
        for rendering in lock(&self.rendered.0).0.iter() {
            earlier.insert(rendering.clone());
        }
        let earlier_index = self.index.get().or(self.earlier_index.as_ref()).cloned();
        Self { earlier, earlier_index, ..Self::default() }
    }

    pub(super) fn sorted(&self, registry: &ToolRegistry) -> &[Arc<dyn Tool>] {
        self.sorted.get_or_init(|| callable_tools(registry))
    }

    /// Returns the tool name for a `spelling` under any known naming rule.
    pub(super) fn original(&self, registry: &ToolRegistry, spelling: &str) -> Option<Arc<str>> {
        for &rule in NameRule::COMMON {
            self.names(registry, rule);
        }
        lock(&self.names.0).iter().find_map(|(_, names)| names.original(spelling))
    }

    pub(super) fn names(&self, registry: &ToolRegistry, rule: NameRule) -> WireNames {
        let known = lock(&self.names.0).iter().find(|(known, _)| *known == rule).cloned();
        if let Some((_, spelled)) = known {
            return spelled;
        }
        // Disabling a tool must not change the spelling of another.
        let names = registry.all_definitions().map(|definition| definition.name.as_str());
        let spelled = WireNames::new(rule, names.chain(registry.search_names().iter().copied()));
        lock(&self.names.0).push((rule, spelled.clone()));
        spelled
    }

    /// Returns the search index. Only changed tools are indexed again.
    pub(super) fn index(&self, registry: &ToolRegistry) -> &Arc<Index> {
        self.index.get_or_init(|| Arc::new(Index::new(self.sorted(registry), self.earlier_index.as_deref())))
    }

    pub(super) fn catalog(&self, registry: &ToolRegistry, options: &SearchOptions) -> &Arc<Catalog> {
        self.catalog.get_or_init(|| {
            Arc::new(Catalog {
                index: self.index(registry).clone(),
                names: self.names(registry, NameRule::DASHES),
                options: options.clone(),
                call_reason: registry.call_reason,
            })
        })
    }

    pub(super) fn search_tools(&self, registry: &ToolRegistry, options: &SearchOptions) -> &[Arc<dyn Tool>] {
        self.search_tools.get_or_init(|| search_tools(self.catalog(registry, options)))
    }

    /// Returns the tools for the model, sorted by name. Tool search leaves deferred ones out, unless
    /// `publication` lists them.
    fn published(&self, registry: &ToolRegistry, publication: Publication) -> Cow<'_, [Arc<dyn Tool>]> {
        let tools = self.sorted(registry);
        let Publication { list_deferred, client_search, .. } = publication;
        if list_deferred && !client_search || registry.search.is_none() {
            return Cow::Borrowed(tools);
        }
        let mut published = Vec::new();
        for tool in tools {
            if client_search || !tool.definition().metadata.defer {
                published.push(tool.clone());
            }
        }
        for tool in registry.search_tools() {
            // The provider loads the found tools and the model calls them by name, without `call_deferred`.
            if !client_search || tool.definition().name.as_str() != CALL_DEFERRED {
                published.push(tool.clone());
            }
        }
        sort_by(&mut published, |a, b| a.definition().name.cmp(&b.definition().name));
        Cow::Owned(published)
    }

    pub(super) fn definitions<F: ToolFormat>(&self, registry: &ToolRegistry, format: F) -> F::Rendered {
        let key = (format, registry.call_reason);
        if let Some(known) = lock(&self.rendered.0).get(&key) {
            return known.list.clone();
        }
        let rendering = self.render(registry, key);
        let list = rendering.list.clone();
        lock(&self.rendered.0).insert(Arc::new(rendering));
        list
    }

    fn render<F: ToolFormat>(&self, registry: &ToolRegistry, key: RenderingKey<F>) -> Rendering<F> {
        let format = &key.0;
        let publication = format.publication();
        let tools = self.published(registry, publication);
        let call_reason = publication.call_reason || registry.call_reason;
        let published: Vec<Cow<'_, ToolDefinition>> =
            tools.iter().map(|tool| tool.definition().published(call_reason)).collect();
        let definitions: Vec<&ToolDefinition> = published.iter().map(|definition| &**definition).collect();
        let earlier = self.earlier.get(&key);
        let names = self.names(registry, format.name_rule());
        let (list, fragments) =
            format.render(&definitions, &names, &mut |index| earlier_fragment(earlier, tools.get(index)));
        Rendering { list, tools: tools.into_owned(), fragments, key }
    }
}

fn callable_tools(registry: &ToolRegistry) -> Vec<Arc<dyn Tool>> {
    let mut tools = Vec::new();
    for entry in registry.entries() {
        if entry.is_callable() {
            tools.push(entry.tool.clone());
        }
    }
    tools
}

/// Returns the fragment of an unchanged tool.
fn earlier_fragment<F: ToolFormat>(
    earlier: Option<&Rendering<F>>,
    tool: Option<&Arc<dyn Tool>>,
) -> Option<Arc<F::Fragment>> {
    earlier?.fragment(tool?).cloned()
}
