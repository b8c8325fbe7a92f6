//! The rules of permissions.

use super::Permission;
use crate::definition::{ToolDefinition, ToolTag};
use crate::error::{BuildError, BuildProblem, one_of};
use crate::name::{CALL_DEFERRED, ToolName};
use crate::pattern::NamePattern;
use crate::registry::ToolRegistry;
use crate::schema::__private::distinct;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

type OfCall = dyn Fn(&ToolDefinition, &Value) -> bool + Send + Sync;

/// A rule of [`Permissions`](super::Permissions), for the calls that meet all its conditions.
///
/// ```
/// use toolkit_ai::ToolTag;
/// use toolkit_ai::middleware::PermissionRule;
///
/// let rule = PermissionRule::deny("only files of the project")
///     .for_tool("fs-*")?
///     .for_tag(ToolTag::Destructive)
///     .when(|_, arguments| !arguments["path"].as_str().is_some_and(|path| path.starts_with("/project/")));
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct PermissionRule {
    pub(super) permission: Permission,
    tools: Vec<NamePattern>,
    tags: Vec<ToolTag>,
    pub(super) of_call: Vec<Arc<OfCall>>,
}

impl PermissionRule {
    fn new(permission: Permission) -> Self {
        Self { permission, tools: Vec::new(), tags: Vec::new(), of_call: Vec::new() }
    }

    /// Creates a rule to allow calls.
    pub fn allow() -> Self {
        Self::new(Permission::Allow)
    }

    /// Creates a rule to deny calls. The model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Permission::Deny(reason.into()))
    }

    /// Creates a rule to ask for approval. The approver reads the reason.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::new(Permission::Ask(reason.into()))
    }

    /// Restricts the rule to tools with a name matching `pattern`, or any pattern if called again.
    ///
    /// In the pattern, `*` matches any string and `?` any character. A rule to allow calls compares the
    /// full name, with the namespace: `read` does not match `evil-read`. A rule to deny or to ask compares
    /// the name without its namespace, too: `delete*` also matches `fs-delete`. Such a rule needs a tool
    /// for each of its patterns, or [all calls are refused](super::Permissions#rules-without-tools).
    ///
    /// A call of `call_deferred` counts as a call of its target tool.
    ///
    /// # Errors
    /// [`BuildError`] if no legal name can match the pattern, or if the pattern is `call_deferred`.
    pub fn for_tool(mut self, pattern: impl Into<String>) -> Result<Self, BuildError> {
        self.tools.push(NamePattern::new(pattern)?);
        Ok(self)
    }

    /// Restricts the rule to tools with a tag, written as [`ToolTag`], whose spelling the compiler checks.
    ///
    /// For the tags `read_only` and `destructive`, the hints [`read_only`](crate::ToolMetadata::read_only)
    /// and [`destructive`](crate::ToolMetadata::destructive) count as well. A rule to deny or to ask needs
    /// a tool for each of its custom tags, or [all calls are
    /// refused](super::Permissions#rules-without-tools).
    pub fn for_tag(mut self, tag: impl Into<ToolTag>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Restricts the rule to calls for which `condition` returns `true`.
    ///
    /// It receives valid arguments under the names of the parameters, with near misses coerced. Different
    /// values may mean the same to the tool, such as two spellings of a path, so test for allowed values
    /// rather than for forbidden values.
    pub fn when(
        mut self,
        condition: impl Fn(&ToolDefinition, &Value) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.of_call.push(Arc::new(condition));
        self
    }

    pub(super) fn applies(&self, definition: &ToolDefinition, arguments: &Value) -> bool {
        self.may_apply(definition) && self.of_call.iter().all(|condition| condition(definition, arguments))
    }

    /// Returns whether the rule applies to the tool, before its conditions on arguments are asked.
    pub(super) fn may_apply(&self, definition: &ToolDefinition) -> bool {
        self.fits_name(&definition.name) && self.tags.iter().all(|tag| has_tag(definition, tag))
    }

    fn fits_name(&self, name: &ToolName) -> bool {
        if self.tools.is_empty() {
            return true;
        }
        match self.permission {
            Permission::Allow => self.tools.iter().any(|pattern| pattern.matches(name)),
            Permission::Ask(_) | Permission::Deny(_) => {
                self.tools.iter().any(|pattern| pattern.restricts(name))
            }
        }
    }

    /// Returns whether the rule is a deliberate exception: for single tools or some arguments.
    pub(super) fn is_narrow(&self) -> bool {
        !self.of_call.is_empty() || !self.tools.is_empty() && self.tools.iter().all(NamePattern::is_name)
    }

    /// Returns a problem for each pattern and each custom tag that no tool of the registry has.
    ///
    /// If each has a tool but no tool has all, all are problems. Disabled tools count. Without tools, a
    /// rule to allow calls opens nothing. The other tags are not misspelled, so a rule for them may wait
    /// for its tools.
    pub(super) fn without_tools(&self, registry: &ToolRegistry) -> Vec<BuildProblem> {
        if self.permission == Permission::Allow {
            return Vec::new();
        }
        let tools: Vec<&ToolDefinition> = registry.all_definitions().collect();
        let names: Vec<&ToolName> = tools.iter().map(|tool| &tool.name).collect();
        let mut search_names = registry.search_names().to_vec();
        search_names.retain(|name| *name != CALL_DEFERRED);
        let mut selects_search = false;
        let mut problems = Vec::new();
        for pattern in &self.tools {
            if search_names.iter().any(|name| pattern.matches_text(name)) {
                selects_search = true;
            } else {
                problems.extend(pattern.unmatched("tool", &names));
            }
        }
        let custom: Vec<&ToolTag> = self.tags.iter().filter(|tag| tag.is_custom()).collect();
        for tag in &custom {
            if !tools.iter().any(|tool| tool.metadata.tags.contains(*tag)) {
                let given = tools.iter().flat_map(|tool| &tool.metadata.tags).map(ToolTag::as_str);
                let known = distinct(given.chain(ToolTag::names()));
                problems.push(BuildProblem::unknown("tag", tag.as_str(), known));
            }
        }
        let applies_without_tools = custom.is_empty() && (self.tools.is_empty() || selects_search);
        if problems.is_empty()
            && !applies_without_tools
            && !tools.iter().any(|tool| self.selects(tool, &custom))
        {
            let rule = self.label(&custom);
            return vec![BuildProblem::RuleWithoutTools { rule, nearest: Vec::new(), known: Vec::new() }];
        }
        problems.into_iter().map(|problem| of_rule(self.kind(), problem)).collect()
    }

    fn selects(&self, tool: &ToolDefinition, custom: &[&ToolTag]) -> bool {
        self.fits_name(&tool.name) && custom.iter().all(|tag| tool.metadata.tags.contains(*tag))
    }

    pub(super) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(NamePattern::as_str)
    }

    fn kind(&self) -> &'static str {
        match self.permission {
            Permission::Allow => "allow",
            Permission::Ask(_) => "ask",
            Permission::Deny(_) => "deny",
        }
    }

    /// Returns the rule in words, with all its conditions.
    pub(super) fn description(&self) -> String {
        let mut words = self.label(&self.tags.iter().collect::<Vec<_>>());
        match self.of_call.len() {
            0 => {}
            1 => words.push_str(" with a condition on the arguments"),
            conditions => {
                let _ = write!(words, " with {conditions} conditions on the arguments");
            }
        }
        words
    }

    /// Returns the rule in words, with tools and these tags.
    fn label(&self, tags: &[&ToolTag]) -> String {
        let mut conditions = Vec::new();
        if !self.tools.is_empty() {
            let patterns: Vec<&str> = self.tools.iter().map(NamePattern::as_str).collect();
            conditions.push(format!("the tool {}", one_of(&patterns)));
        }
        for tag in tags {
            conditions.push(format!("the tag `{}`", tag.as_str()));
        }
        match conditions.as_slice() {
            [] => format!("rule `{}`", self.kind()),
            conditions => format!("rule `{}` for {}", self.kind(), conditions.join(" and ")),
        }
    }

    /// Returns the problem that an earlier, more lenient rule for all calls hides this rule.
    pub(super) fn after_rule_for_all(&self, earlier: &Self) -> Option<BuildProblem> {
        if self.is_for_all() || self.strictness() <= earlier.strictness() {
            return None;
        }
        let rule = self.label(&self.tags.iter().collect::<Vec<_>>());
        Some(BuildProblem::UnreachableRule { rule, earlier: earlier.label(&[]) })
    }

    pub(super) fn is_for_all(&self) -> bool {
        self.tools.is_empty() && self.tags.is_empty() && self.of_call.is_empty()
    }

    pub(super) fn strictness(&self) -> u8 {
        match self.permission {
            Permission::Allow => 0,
            Permission::Ask(_) => 1,
            Permission::Deny(_) => 2,
        }
    }
}

/// Turns an unknown name in a condition into a problem of its rule.
fn of_rule(kind: &str, problem: BuildProblem) -> BuildProblem {
    match problem {
        BuildProblem::Unknown { what, name, nearest, known } => {
            let rule = format!("rule `{kind}` for the {what} `{name}`");
            BuildProblem::RuleWithoutTools { rule, nearest, known }
        }
        other => other,
    }
}

/// Returns whether a tool has a tag, or a hint of the same meaning.
fn has_tag(definition: &ToolDefinition, tag: &ToolTag) -> bool {
    let hint = match tag {
        ToolTag::ReadOnly => definition.metadata.read_only,
        ToolTag::Destructive => definition.metadata.destructive,
        _ => None,
    };
    match hint {
        Some(hint) => hint,
        None => definition.metadata.tags.contains(tag),
    }
}

impl_debug!(PermissionRule, |this| permission: this.permission, tools: this.tools, tags: this.tags, conditions: this.of_call.len());
