//! Discovery of `#[tool]` functions collected by the linker.

use super::{ToolFilter, ToolRegistry};
use crate::definition::{FunctionTool, Tool};
use crate::error::{BuildError, BuildProblem};
use crate::name::{NameError, Separator, ToolName};
use crate::schema::__private::{distinct, sort_by};
use std::sync::Arc;

/// A `#[tool]` function that the linker collects from all crates of the program.
#[derive(Debug, Clone, Copy)]
pub struct Registration {
    tool: fn() -> FunctionTool,
    module: &'static str,
}

impl Registration {
    /// Creates the registration of a function in a module.
    #[must_use]
    pub const fn new(tool: fn() -> FunctionTool, module: &'static str) -> Self {
        Self { tool, module }
    }

    fn krate(&self) -> &'static str {
        self.module.split("::").next().unwrap_or_default()
    }

    /// Returns whether the function is in `module` or inside of it.
    fn is_in(&self, module: &str) -> bool {
        self.module.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

inventory::collect!(Registration);

/// A rule for discovered tools of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NameClash {
    /// The discovery fails.
    #[default]
    Refuse,
    /// The registry keeps the first tool, in the order of [`Discovery::in_modules`], then of module paths.
    KeepFirst,
    /// Tools of different crates move into a namespace named like their crate: `read` of `my_files` becomes
    /// `my_files-read`.
    NamespaceByCrate,
}

/// A selection of the `#[tool]` functions linked into the program, for
/// [`ToolRegistry::discover_with`].
///
/// ```
/// use toolkit_ai::registry::{Discovery, NameClash};
/// use toolkit_ai::{ToolFilter, ToolRegistry};
///
/// let tools = Discovery::new()
///     .with_filter(ToolFilter::new().exclude(["debug_*"])?)
///     .with_name_clash(NameClash::NamespaceByCrate);
/// let registry = ToolRegistry::discover_with(&tools)?;
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    modules: Vec<String>,
    filter: ToolFilter,
    name_clash: NameClash,
}

setters! { Discovery:
    /// Selects tools by name or tag. Discovery fails if an included name does not exist. A pattern with `*`
    /// or `?` may match no tool, unless it would match without namespaces.
    with_filter(filter: ToolFilter) = filter;
    /// Sets the rule for tools of one name.
    with_name_clash(name_clash: NameClash) = name_clash;
}

impl Discovery {
    /// Selects every tool. Discovery fails if two have the same name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects only the tools in these crates or modules, such as `my_tools::files`. Further calls add
    /// more. Write a crate as in `use`: `my_tools` for the package `my-tools`.
    #[must_use]
    pub fn in_modules<T: Into<String>>(mut self, modules: impl IntoIterator<Item = T>) -> Self {
        self.modules.extend(modules.into_iter().map(Into::into));
        self
    }

    /// Creates a registry of the selected `registrations`, as [`ToolRegistry::discover_with`] does.
    fn select<'a>(
        &self,
        registrations: impl IntoIterator<Item = &'a Registration>,
    ) -> Result<ToolRegistry, BuildError> {
        let all: Vec<&Registration> = registrations.into_iter().collect();
        let mut unknown = Vec::new();
        for module in &self.modules {
            if !all.iter().any(|found| found.is_in(module)) {
                let known = distinct(all.iter().flat_map(|found| [found.krate(), found.module]));
                unknown.push(BuildProblem::unknown("linked crate or module with tools", module, known));
            }
        }
        BuildError::unless_empty(unknown)?;

        let mut tools: Vec<Selected<'_>> = Vec::new();
        for found in all {
            let rank = self.modules.iter().position(|module| found.is_in(module));
            if self.modules.is_empty() || rank.is_some() {
                tools.push((rank, found, (found.tool)()));
            }
        }
        let names: Vec<&ToolName> = tools.iter().map(|(.., tool)| &tool.definition().name).collect();
        let mut problems = self.filter.unmatched(&names);
        for bare in self.filter.bare_names(&names) {
            if !problems.contains(&bare) {
                problems.push(bare);
            }
        }
        BuildError::unless_empty(problems)?;
        tools.retain(|(.., tool)| self.filter.matches(tool.definition()));
        // The linker's order varies; sorting makes errors stable.
        sort_by(&mut tools, |one, other| name_and_place(one).cmp(&name_and_place(other)));
        let mut registry = ToolRegistry::new();
        for same in tools.chunk_by(|(.., one), (.., other)| one.definition().name == other.definition().name)
        {
            let mut with_crates = Vec::with_capacity(same.len());
            for (_, registration, tool) in same {
                with_crates.push((registration.krate(), tool.clone()));
            }
            self.insert_same(&mut registry, with_crates);
        }
        registry.check().map(|()| registry)
    }

    /// Inserts tools of the same name, each with its crate.
    fn insert_same(&self, registry: &mut ToolRegistry, mut tools: Vec<(&str, FunctionTool)>) {
        let [(first, tool), others @ ..] = tools.as_slice() else { return };
        let name = tool.definition().name.clone();
        match (self.name_clash, others.iter().any(|(krate, _)| krate != first)) {
            (NameClash::KeepFirst, _) => tools.truncate(1),
            (NameClash::Refuse, true) => {
                registry.problems.push(crates_clash(&name, &tools));
                tools.clear();
            }
            (NameClash::NamespaceByCrate, true) => {
                for (krate, tool) in &mut tools {
                    match within_crate(krate, &name) {
                        Ok(name) => *tool = tool.clone().with_name(name),
                        Err(error) => registry.problems.push(tool.definition().illegal_name(error)),
                    }
                }
            }
            // All are from one crate, so `insert_or_record` reports the duplicate name.
            _ => {}
        }
        for (_, tool) in tools {
            registry.insert_or_record(Arc::new(tool));
        }
    }
}

/// A selected function: the position of its module in the selection, its registration and its tool.
type Selected<'a> = (Option<usize>, &'a Registration, FunctionTool);

/// Returns the sort key of discovered functions.
fn name_and_place<'a>(
    (rank, found, tool): &'a Selected<'_>,
) -> (&'a ToolName, Option<usize>, &'a str, Option<(&'a str, u32)>) {
    let definition = tool.definition();
    let place = definition.metadata.defined_at.map(|place| (place.file, place.line));
    (&definition.name, *rank, found.module, place)
}

fn within_crate(krate: &str, name: &ToolName) -> Result<ToolName, NameError> {
    let namespace = name.namespace().map_or(krate.to_owned(), |namespace| format!("{krate}_{namespace}"));
    ToolName::qualified(&namespace, name.method_name(), Separator::default())
}

fn crates_clash(name: &ToolName, tools: &[(&str, FunctionTool)]) -> BuildProblem {
    let mut definitions = Vec::with_capacity(tools.len());
    for (krate, tool) in tools {
        definitions.push(((*krate).to_owned(), tool.definition().metadata.defined_at));
    }
    BuildProblem::CratesClash { name: name.to_string(), definitions }
}

impl ToolRegistry {
    /// Creates a registry of every linked `#[tool]` function, also of dependencies.
    ///
    /// The compiler links a dependency only if the source code mentions it: write `use my_tools as _;`, or
    /// list its tools with [`tools!`](crate::tools). See [`discover_with`](Self::discover_with) for
    /// selections and duplicate names.
    ///
    /// # Errors
    /// A name is illegal or duplicate.
    pub fn discover() -> Result<Self, BuildError> {
        Self::discover_with(&Discovery::new())
    }

    /// Creates a registry of selected `#[tool]` functions, see [`Discovery`].
    ///
    /// # Errors
    /// A name is illegal, or a duplicate refused by the [`NameClash`] rule. A selected crate or module has
    /// no tools. No tool has an included name or namespace, or an included name lacks its namespace.
    pub fn discover_with(discovery: &Discovery) -> Result<Self, BuildError> {
        discovery.select(inventory::iter::<Registration>())
    }
}

#[cfg(test)]
mod tests;
