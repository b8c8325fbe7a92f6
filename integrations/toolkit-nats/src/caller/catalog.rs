//! The tools of a fleet, and which workers serve which definition.

use super::members::{Members, RemoteWorker};
use crate::definitions::ForeignTool;
use crate::subjects::NamespaceVersion;
use async_nats::Subject;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use toolkit_core::ToolName;
use toolkit_core::foreign::{ToolIssue, ToolIssueKind};

/// The maximum number of tools. The rest is left out.
const MAX_TOOLS: usize = 20_000;

/// A worker with one version of a namespace, and the subject of its calls.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) worker: Arc<RemoteWorker>,
    pub(super) subject: Subject,
}

type Route = Arc<[Destination]>;

/// The tool's name on the worker, and the digest of its definition.
type Shown = (Arc<str>, Arc<str>);

#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) tools: BTreeMap<String, Arc<ForeignTool>>,
    /// The workers for each definition, published or not.
    routes: HashMap<Shown, Vec<Route>>,
    /// The published tools without a worker, and the round when the last one has gone.
    away: BTreeMap<String, u64>,
    pub(super) issues: Vec<ToolIssue>,
}

pub(super) struct Absence {
    pub(super) round: u64,
    /// The rounds for which published tools without a worker stay.
    pub(super) rounds: u64,
    /// The tools that a living worker no longer has.
    pub(super) withdrawn: HashSet<String>,
}

impl Catalog {
    /// Makes the catalog of the current workers. Of two definitions with one name, the one in `earlier` is
    /// kept while a worker serves it: the model was shown it. A tool without workers stays for some time, so
    /// that the model reads that no worker has it now. `subject` returns a worker's subject for a version.
    pub(super) fn new(
        members: &Members,
        earlier: &Self,
        absence: &Absence,
        subject: impl Fn(&RemoteWorker, &str) -> Subject,
    ) -> Self {
        let mut catalog = Self::default();
        let mut candidates: BTreeMap<&str, Vec<&Arc<ForeignTool>>> = BTreeMap::new();
        for (version, workers) in workers_by_version(members) {
            let Some(Some(listing)) = members.listings.get(version) else { continue };
            catalog.issues.extend(listing.issues.iter().cloned());
            let tokens = version.tokens();
            let mut destinations = Vec::with_capacity(workers.len());
            for worker in workers {
                destinations.push(Destination { subject: subject(&worker, &tokens), worker });
            }
            let route: Route = destinations.into();
            for tool in &listing.tools {
                let shown = (tool.remote_name.clone(), tool.shown.clone());
                catalog.routes.entry(shown).or_default().push(route.clone());
                candidates.entry(tool.definition.name.as_str()).or_default().push(tool);
            }
        }
        for (name, tools) in candidates {
            if catalog.tools.len() == MAX_TOOLS {
                let message = format!("The workers list more than {MAX_TOOLS} tools; the rest was left out");
                catalog.issues.push(ToolIssue::new("", ToolIssueKind::TooMany, message));
                break;
            }
            let shown = earlier.tools.get(name).map(|tool| &tool.shown);
            let mut chosen = tools.iter().find(|tool| Some(&tool.shown) == shown);
            if chosen.is_none() {
                chosen = tools.iter().max_by_key(|tool| (catalog.workers_of(tool), &tool.shown));
            }
            if let Some(tool) = chosen {
                catalog.tools.insert(name.to_owned(), Arc::clone(tool));
            }
        }
        catalog.keep_absent(earlier, absence);
        catalog
    }

    fn keep_absent(&mut self, earlier: &Self, absence: &Absence) {
        for (name, tool) in &earlier.tools {
            if self.tools.contains_key(name) || absence.withdrawn.contains(name) {
                continue;
            }
            let since = earlier.away.get(name).copied().unwrap_or(absence.round);
            if absence.round.saturating_sub(since) < absence.rounds {
                self.tools.insert(name.clone(), tool.clone());
                self.away.insert(name.clone(), since);
            }
        }
    }

    pub(super) fn has_expired(&self, round: u64, rounds: u64) -> bool {
        self.away.values().any(|since| round.saturating_sub(*since) >= rounds)
    }

    pub(super) fn routes(&self, tool: &ForeignTool) -> &[Route] {
        self.routes.get(&(tool.remote_name.clone(), tool.shown.clone())).map_or(&[], Vec::as_slice)
    }

    fn workers_of(&self, tool: &ForeignTool) -> usize {
        self.routes(tool).iter().map(|route| route.len()).sum()
    }

    /// Returns the names of the new, gone and changed tools since `earlier`.
    pub(super) fn changes_since(&self, earlier: &Self) -> [Vec<ToolName>; 3] {
        let mut added = Vec::new();
        let mut removed = Vec::new();
        let mut changed = Vec::new();
        for (name, tool) in &self.tools {
            match earlier.tools.get(name) {
                None => added.push(tool.definition.name.clone()),
                Some(known) if known.definition != tool.definition => {
                    changed.push(tool.definition.name.clone());
                }
                Some(_) => {}
            }
        }
        for (name, tool) in &earlier.tools {
            if !self.tools.contains_key(name) {
                removed.push(tool.definition.name.clone());
            }
        }
        [added, removed, changed]
    }
}

fn workers_by_version(members: &Members) -> BTreeMap<&NamespaceVersion, Vec<Arc<RemoteWorker>>> {
    let mut workers: BTreeMap<&NamespaceVersion, Vec<Arc<RemoteWorker>>> = BTreeMap::new();
    for member in members.workers.values() {
        for version in &member.versions {
            workers.entry(version).or_default().push(member.worker.clone());
        }
    }
    workers
}
