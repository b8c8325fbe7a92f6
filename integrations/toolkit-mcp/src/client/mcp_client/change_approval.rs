//! Publishing tool lists, and approval of changed tools.

use super::supervise::Link;
use super::{ClientState, McpClient};
use crate::client::event::McpEvent;
use crate::client::tools::{Catalog, ToolListChange};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_core::__private::lock;
use toolkit_core::ToolDefinition;
use toolkit_core::foreign::{ToolIssue, ToolIssueKind};

/// # Approval
///
/// A server may change a tool after the user has approved it. Every change of a published tool is reported as
/// [`McpEvent::ToolsChanged`]. If the client requires approval, a changed tool keeps the approved definition
/// and cannot be called until the program approves the new one. A new tool is reported as
/// [`McpEvent::Issues`], and is not published until approval.
impl McpClient {
    /// Returns the fingerprints of all published tools, by name: hashes of their entries in the tool list.
    ///
    /// Keep them to [approve](crate::client::McpClientBuilder::approved) the same definitions after a
    /// restart.
    #[must_use]
    pub fn fingerprints(&self) -> BTreeMap<String, String> {
        self.0.catalog.borrow().fingerprints()
    }

    /// Returns the definitions that wait for approval. Show them to the user, and [approve](Self::approve)
    /// the same values.
    #[must_use]
    pub fn pending(&self) -> Vec<ToolDefinition> {
        self.0.catalog.borrow().pending.values().map(|tool| tool.definition.clone()).collect()
    }

    /// Approves a [pending](Self::pending) definition.
    ///
    /// Returns `false` if it does not wait for approval, for instance because the server has changed the tool
    /// again.
    pub fn approve(&self, definition: &ToolDefinition) -> bool {
        self.0.approve(definition)
    }
}

impl Catalog {
    fn fingerprints(&self) -> BTreeMap<String, String> {
        self.tools.iter().map(|(name, tool)| (name.clone(), tool.fingerprint.clone())).collect()
    }

    /// Moves the tools without approval to `pending`. An approved definition in the `earlier` catalog stays
    /// published.
    fn hold_back(&mut self, approved: &BTreeMap<String, String>, earlier: &Self) {
        let listed = std::mem::take(&mut self.tools);
        for (name, tool) in listed {
            let fingerprint = approved.get(&name);
            if fingerprint == Some(&tool.fingerprint) {
                self.tools.insert(name, tool);
                continue;
            }
            let known = earlier.tools.get(&name).filter(|known| fingerprint == Some(&known.fingerprint));
            let message = match known {
                Some(_) => "has changed and cannot be called before it is approved",
                None => "is not approved and was left out",
            };
            self.issues.push(ToolIssue::new(&tool.name, ToolIssueKind::Unapproved, message));
            if let Some(known) = known {
                self.tools.insert(name.clone(), known.clone());
            }
            self.pending.insert(name, tool);
        }
    }
}

impl ClientState {
    pub(super) fn publish(&self, mut fresh: Catalog) {
        let settings = &self.handler.settings;
        let mut approved = lock(&self.approved);
        let earlier = self.catalog.borrow().clone();
        if settings.block_changes && approved.is_none() {
            *approved = Some(fresh.fingerprints());
        }
        if let Some(approved) = &*approved {
            fresh.hold_back(approved, &earlier);
        }
        self.replace(&earlier, fresh);
    }

    fn approve(&self, definition: &ToolDefinition) -> bool {
        let mut approved = lock(&self.approved);
        let earlier = self.catalog.borrow().clone();
        let mut fresh = Catalog::clone(&earlier);
        let name = definition.name.as_str();
        // The server may have changed the tool since the user has seen the definition.
        let Some(tool) = fresh.pending.remove(name).filter(|tool| tool.definition == *definition) else {
            return false;
        };
        fresh.issues.retain(|issue| issue.kind != ToolIssueKind::Unapproved || issue.tool != tool.name);
        approved.get_or_insert_default().insert(name.to_owned(), tool.fingerprint.clone());
        fresh.tools.insert(name.to_owned(), tool);
        self.replace(&earlier, fresh);
        true
    }

    fn replace(&self, earlier: &Catalog, mut fresh: Catalog) {
        let change = ToolListChange::between(earlier, &fresh);
        fresh.has_changed = earlier.has_changed || !change.changed.is_empty() || !change.removed.is_empty();
        let issues = fresh.issues.clone();
        let has_new_issues = !issues.is_empty() && issues != earlier.issues;
        self.count.set(fresh.tools.len());
        self.catalog.send_replace(Arc::new(fresh));
        // The first list is not a change.
        let is_first = matches!(&*self.link.borrow(), Link::Starting);
        if !change.is_empty() && !is_first {
            self.handler.emit(McpEvent::ToolsChanged(change));
        }
        if has_new_issues {
            self.handler.emit(McpEvent::Issues(issues));
        }
    }
}
