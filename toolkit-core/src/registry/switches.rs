//! Which tools are switched off, and why.

use super::filter::TagMatch;
use crate::name::ToolName;
use crate::tool::ToolDefinition;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was said about tools, about namespaces and about tags.
#[derive(Debug, Clone, Default)]
pub(super) struct Switches {
    tools: BTreeMap<Box<str>, Switch>,
    namespaces: BTreeMap<Box<str>, Arc<str>>,
    tags: Vec<(TagMatch, Arc<str>)>,
}

/// What was said about one tool.
#[derive(Debug, Clone)]
enum Switch {
    On,
    Off(Arc<str>),
}

impl Switches {
    /// Why a tool is disabled; `None` if it is not. What was said about the tool itself goes before what was said
    /// about its namespace, and that before what was said about its tags.
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

    /// A tool that a broader rule would still hold down is exempt from it. `definition` is `None` if no tool of
    /// the name is there now.
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

    /// Whether there was such a rule.
    pub(super) fn enable_tags(&mut self, tags: &TagMatch) -> bool {
        let before = self.tags.len();
        self.tags.retain(|(known, _)| known != tags);
        self.tags.len() < before
    }

    /// Takes over what a tool was told under its earlier name. If it leaves a disabled namespace, it stays
    /// disabled.
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

    /// The same rules, without what was said about these tools.
    pub(super) fn without_tools(&self, names: &BTreeSet<&str>) -> Self {
        let mut rest = self.clone();
        rest.tools.retain(|name, _| !names.contains(&**name));
        rest
    }

    /// The same rules; of what was said about tools, only that about these.
    pub(super) fn only_tools(&self, names: &BTreeSet<&str>) -> Self {
        let mut part = self.clone();
        part.tools.retain(|name, _| names.contains(&**name));
        part
    }

    /// Adds the rules of another registry; where both say something, the own rule stays.
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
