//! Rules to disable tools, with their reasons.

use super::filter::TagMatch;
use crate::name::ToolName;
use crate::tool::ToolDefinition;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rules for tools, namespaces and tags.
#[derive(Debug, Clone, Default)]
pub(super) struct Switches {
    tools: BTreeMap<Box<str>, Switch>,
    namespaces: BTreeMap<Box<str>, Arc<str>>,
    tags: Vec<(TagMatch, Arc<str>)>,
}

/// The rule for one tool.
#[derive(Debug, Clone)]
enum Switch {
    On,
    Off(Arc<str>),
}

impl Switches {
    /// Returns why a tool is disabled. The rule for the tool goes before one for its namespace, and that before one for
    /// its tags.
    pub(super) fn reason(&self, definition: &ToolDefinition) -> Option<&Arc<str>> {
        match self.tools.get(definition.name.as_str()) {
            Some(Switch::On) => None,
            Some(Switch::Off(reason)) => Some(reason),
            None => self.broad_reason(definition),
        }
    }

    fn broad_reason(&self, definition: &ToolDefinition) -> Option<&Arc<str>> {
        let by_namespace = definition.name.namespace().and_then(|namespace| self.namespaces.get(namespace));
        by_namespace.or_else(|| {
            let rule = self.tags.iter().find(|(tags, _)| tags.matches(&definition.metadata.tags));
            rule.map(|(_, reason)| reason)
        })
    }

    pub(super) fn knows_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(|name| &**name)
    }

    pub(super) fn disable(&mut self, name: &str, reason: &str) {
        self.tools.insert(name.into(), Switch::Off(reason.into()));
    }

    /// Enables a tool and exempts it from broader rules. `definition` is `None` if there is no such tool now.
    pub(super) fn enable(&mut self, name: &str, definition: Option<&ToolDefinition>) {
        self.tools.remove(name);
        if definition.is_some_and(|definition| self.broad_reason(definition).is_some()) {
            self.tools.insert(name.into(), Switch::On);
        }
    }

    pub(super) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.keys().map(|name| &**name)
    }

    pub(super) fn disable_namespace(&mut self, namespace: &str, reason: &str) {
        self.namespaces.insert(namespace.into(), reason.into());
    }

    pub(super) fn enable_namespace(&mut self, namespace: &str) {
        self.namespaces.remove(namespace);
    }

    pub(super) fn disable_tags(&mut self, tags: TagMatch, reason: &str) {
        self.enable_tags(&tags);
        self.tags.push((tags, reason.into()));
    }

    /// Removes a rule for tags. Returns whether there was one.
    pub(super) fn enable_tags(&mut self, tags: &TagMatch) -> bool {
        let before = self.tags.len();
        self.tags.retain(|(known, _)| known != tags);
        self.tags.len() < before
    }

    /// Copies the rules of a renamed tool. A tool that leaves a disabled namespace stays disabled.
    pub(super) fn rename(&mut self, earlier: &Self, old: &ToolDefinition, name: &ToolName) {
        if let Some(switch) = earlier.tools.get(old.name.as_str()) {
            self.tools.insert(name.as_str().into(), switch.clone());
        } else if old.name.namespace() != name.namespace() {
            let namespace = old.name.namespace().and_then(|namespace| earlier.namespaces.get(namespace));
            if let Some(reason) = namespace {
                self.tools.insert(name.as_str().into(), Switch::Off(reason.clone()));
            }
        }
    }

    /// Returns the rules; of those for single tools, only the tools chosen by `keep`.
    pub(super) fn for_tools(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut rules = self.clone();
        rules.tools.retain(|name, _| keep(name));
        rules
    }

    /// Adds the rules of another registry; existing rules stay.
    pub(super) fn extend(&mut self, other: Self) {
        for (name, switch) in other.tools {
            self.tools.entry(name).or_insert(switch);
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
}
