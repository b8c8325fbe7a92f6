//! Rules for disabling tools, with the reasons.

use super::ToolMap;
use super::filter::TagMatch;
use crate::definition::ToolDefinition;
use crate::name::ToolName;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rules for tools, namespaces and tags, with their reasons.
#[derive(Debug, Clone, Default)]
pub(super) struct Switches {
    /// The rules for single tools. `None` keeps a tool enabled, even against rules for its namespace or
    /// tags.
    pub(super) tools: BTreeMap<Box<str>, Option<Arc<str>>>,
    pub(super) namespaces: BTreeMap<Box<str>, Arc<str>>,
    pub(super) tags: Vec<(TagMatch, Arc<str>)>,
}

impl Switches {
    /// Returns the reason why a tool is disabled, if it is.
    pub(super) fn reason(&self, definition: &ToolDefinition) -> Option<&Arc<str>> {
        match self.tools.get(definition.name.as_str()) {
            Some(rule) => rule.as_ref(),
            None => self.broad_reason(definition),
        }
    }

    /// Returns the reason for disabling the tool's namespace or tags, if any. Ignores a rule for the tool.
    pub(super) fn broad_reason(&self, definition: &ToolDefinition) -> Option<&Arc<str>> {
        if let Some(namespace) = definition.name.namespace()
            && let Some(reason) = self.namespaces.get(namespace)
        {
            return Some(reason);
        }
        let rule = self.tags.iter().find(|(tags, _)| tags.matches(&definition.metadata.tags));
        rule.map(|(_, reason)| reason)
    }

    /// Copies the rule for a renamed tool from the `earlier` rules. A tool disabled with its old namespace
    /// stays disabled.
    pub(super) fn rename(&mut self, earlier: &Self, old: &ToolDefinition, name: &ToolName) {
        if let Some(rule) = earlier.tools.get(old.name.as_str()) {
            self.tools.insert(name.as_str().into(), rule.clone());
        } else if old.name.namespace() != name.namespace()
            && let Some(namespace) = old.name.namespace()
            && let Some(reason) = earlier.namespaces.get(namespace)
        {
            self.tools.insert(name.as_str().into(), Some(reason.clone()));
        }
    }

    /// Adds another registry's rules. Existing rules stay, except that a tool is disabled if either
    /// registry disables it. `tools` are those of both registries.
    pub(super) fn extend(&mut self, other: Self, tools: [&ToolMap; 2]) {
        let names: BTreeSet<Box<str>> = self.tools.keys().chain(other.tools.keys()).cloned().collect();
        for name in names {
            let own = self.tools.get(&name).cloned().flatten();
            let reason = own.or(other.tools.get(&name).cloned().flatten());
            let mut named = Vec::new();
            for tools in tools {
                named.extend(tools.get(&*name).map(|entry| entry.tool.definition()));
            }
            if reason.is_some() || (self.is_exempt(&name, &named) && other.is_exempt(&name, &named)) {
                self.tools.insert(name, reason);
            } else {
                self.tools.remove(&name);
            }
        }
        for (namespace, reason) in other.namespaces {
            self.namespaces.entry(namespace).or_insert(reason);
        }
        for (tags, reason) in other.tags {
            if !self.tags.iter().any(|(known, _)| *known == tags) {
                self.tags.push((tags, reason));
            }
        }
    }

    /// Returns whether a rule of its own enables a tool, or no rule disables it. `tools` are those called
    /// `name`.
    fn is_exempt(&self, name: &str, tools: &[&ToolDefinition]) -> bool {
        if self.tools.contains_key(name) {
            return true;
        }
        if tools.is_empty() {
            return self.namespaces.is_empty() && self.tags.is_empty();
        }
        tools.iter().all(|tool| self.broad_reason(tool).is_none())
    }
}
