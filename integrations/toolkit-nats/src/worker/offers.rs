//! What a worker offers: the versions of the namespaces of its registry.

use super::Worker;
use super::statistics::WorkerStatistics;
use crate::definitions::listings;
use crate::subjects::NamespaceVersion;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use toolkit_core::{BuildError, Dispatcher};

/// A served version of a namespace. Its dispatcher keeps the version's tools after the registry has changed.
pub(super) struct Offer {
    pub(super) version: NamespaceVersion,
    pub(super) listing: Bytes,
    pub(super) dispatcher: Dispatcher,
    pub(super) counts: Mutex<WorkerStatistics>,
}

/// A worker's offers, by the last two tokens of their subjects.
pub(super) type Offers = HashMap<String, Arc<Offer>>;

/// Returns the offers of the current registry, with the unchanged ones of `earlier`. `with_events` sends a
/// dispatcher's events to the callers.
pub(super) fn current(
    worker: &Worker,
    earlier: &Offers,
    with_events: impl FnOnce(Dispatcher) -> Dispatcher,
) -> Result<Offers, BuildError> {
    let registry = worker.dispatcher.registry();
    let mut fixed = worker.dispatcher.clone().with_snapshot(registry.clone())?;
    // Without rules and retries, the caller's dispatcher emits all events itself.
    if worker.has_rules || registry.iter_definitions().any(|tool| tool.metadata.retries > 0) {
        fixed = with_events(fixed);
    }
    let mut offers = Offers::new();
    for (version, listing) in listings(&registry) {
        let tokens = version.tokens();
        let offer = match earlier.get(&tokens) {
            Some(unchanged) => unchanged.clone(),
            None => Arc::new(Offer { version, listing, dispatcher: fixed.clone(), counts: Mutex::default() }),
        };
        offers.insert(tokens, offer);
    }
    Ok(offers)
}
