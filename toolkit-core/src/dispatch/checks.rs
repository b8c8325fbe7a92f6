//! The names in a dispatcher's rules, limits and caches, compared with its tools.

use super::Dispatcher;
use crate::error::{BuildError, BuildProblem};
use crate::guard::guarded;
use crate::middleware::Middleware;
use crate::name::ToolName;
use crate::pattern::NamePattern;
use crate::registry::ToolRegistry;
use std::sync::Arc;

impl Dispatcher {
    /// Checks that each [rule to deny or to ask](crate::middleware::Permissions#rules-without-tools)
    /// selects a tool.
    ///
    /// Call it after all middleware is added. A rule that selects no tool of a fixed registry refuses all
    /// calls.
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Dispatcher};
    /// use toolkit_ai::middleware::{PermissionRule, Permissions};
    ///
    /// let delete = ClosureTool::without_arguments("delete", "Deletes.", || "done")?;
    /// let rules = Permissions::new()
    ///     .rule(PermissionRule::ask("it cannot be undone").for_tag("destrucive"))
    ///     .rule(PermissionRule::allow());
    /// let error = Dispatcher::new([delete])?.with_middleware(rules).check().unwrap_err();
    /// assert_eq!(error.to_string(), "rule `ask` for the tag `destrucive` selects no tool; did you mean `destructive`?");
    /// # Ok::<(), toolkit_ai::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] with every pattern and every custom tag that selects no tool. Never for a [live
    /// registry](crate::LiveRegistry), whose tools come and go.
    pub fn check(&self) -> Result<(), BuildError> {
        let problems =
            if self.settings.is_live { Vec::new() } else { self.rules_without_tools(&self.registry()) };
        BuildError::unless_empty(problems)
    }

    fn rules_without_tools(&self, registry: &ToolRegistry) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        for middleware in self.settings.middleware.iter() {
            problems.extend(middleware.rules_without_tools(registry));
        }
        problems
    }

    /// Returns a problem for each missing tool that a limit, a cache or a rule names.
    ///
    /// The problems are likely mistakes; a test can check that there are none. A rule to deny or to ask
    /// without tools makes a fixed registry refuse all calls, see [`check`](Self::check). With the feature
    /// `tracing`, the first call of the dispatcher or a clone logs them as warnings, and so does the first
    /// after a change of a [live registry](crate::LiveRegistry).
    ///
    /// ```
    /// use toolkit_ai::{ClosureTool, Dispatcher, ToolName, ToolRegistry};
    /// use toolkit_ai::middleware::AttemptLimit;
    /// use toolkit_ai::name::Separator;
    ///
    /// let name = ToolName::qualified("files", "delete", Separator::Dash)?;
    /// let delete = ClosureTool::without_arguments("delete", "Deletes.", || "done")?.with_name(name);
    /// let limit = AttemptLimit::new(3).for_tool("files-deleet", 1)?;
    /// let dispatcher = Dispatcher::new(ToolRegistry::from_tools([delete])?)?.with_middleware(limit);
    /// let expected = "tool named by middleware `files-deleet` not found; did you mean `files-delete`?";
    /// assert_eq!(dispatcher.warnings()[0].to_string(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn warnings(&self) -> Vec<BuildProblem> {
        let registry = self.registry();
        let names: Vec<&ToolName> = registry.all_definitions().map(|definition| &definition.name).collect();
        let mut warnings = Vec::new();
        for pattern in self.settings.middleware.iter().flat_map(Middleware::tool_patterns) {
            if registry.search_names().contains(&pattern) {
                continue;
            }
            let Ok(pattern) = NamePattern::new(pattern) else { continue };
            warnings.extend(pattern.unknown_name("tool named by middleware", &names));
        }
        warnings.extend(self.rules_without_tools(&registry));
        warnings
    }

    /// Returns the tools for calls that start now, and logs new [warnings](Self::warnings).
    #[doc(hidden)]
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolRegistry> {
        self.settings.warned.log(&self.registry, || self.guarded_warnings());
        self.registry()
    }

    /// Returns the warnings; none if the program's definition of a tool panics.
    fn guarded_warnings(&self) -> Vec<BuildProblem> {
        guarded(|| self.warnings()).unwrap_or_default()
    }
}
