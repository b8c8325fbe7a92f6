//! The state of a caller, shared by its tools and tasks.

use super::builder::CallerSettings;
use super::call_failure::CallFailure;
use super::catalog::Catalog;
use super::fleet_event::FleetEvent;
use super::members::Members;
use super::replies::Replies;
use crate::fleet::Fleet;
use crate::fleet_error::FleetError;
use arc_swap::ArcSwap;
use data_encoding::HEXLOWER;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, broadcast, watch};
use toolkit_core::CancellationToken;
use toolkit_core::redaction::Redactor;

const EVENTS_KEPT: usize = 256;

/// Counts what a caller has done since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallerStatistics {
    /// The calls (`messaging.client.sent.messages`), without repetitions.
    pub calls: u64,
    /// The messages that were sent again: to another worker, or because a worker was lost.
    pub repetitions: u64,
    /// The calls that have not run: without a worker or a connection, or with full workers.
    pub not_run: u64,
    /// The calls whose outcome is unknown.
    pub unknown: u64,
    /// The calls whose deadline has passed.
    pub deadline: u64,
}

impl CallerStatistics {
    pub(super) fn fail(&mut self, failure: CallFailure) {
        let count = match failure {
            CallFailure::Unknown => &mut self.unknown,
            CallFailure::Deadline => &mut self.deadline,
            _ => &mut self.not_run,
        };
        *count += 1;
    }
}

/// Returns a text that other programs cannot guess.
///
/// # Errors
/// The system has no random numbers.
fn secret() -> Result<String, FleetError> {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(HEXLOWER.encode(&bytes)),
        Err(error) => Err(FleetError::lost(format_args!("the system has no random numbers: {error}"))),
    }
}

pub(super) struct CallerState {
    pub(super) fleet: Fleet,
    pub(super) settings: CallerSettings,
    /// A unique id, the first part of ids of calls.
    id: String,
    /// A secret shared with workers, under which the ledger keeps an anonymous caller's calls.
    pub(super) owner: String,
    pub(super) next_call: AtomicU64,
    pub(super) replies: Replies,
    current: ArcSwap<Catalog>,
    pub(super) catalogs: watch::Sender<Arc<Catalog>>,
    pub(super) members: Mutex<Members>,
    /// Notified when the catalog is out of date.
    pub(super) changed: Notify,
    events: broadcast::Sender<FleetEvent>,
    pub(super) counts: Mutex<CallerStatistics>,
    pub(super) stop: CancellationToken,
}

impl CallerState {
    pub(super) fn new(
        fleet: Fleet,
        settings: CallerSettings,
        stop: CancellationToken,
    ) -> Result<Self, FleetError> {
        Ok(Self {
            id: fleet.unique_id(),
            owner: secret()?,
            next_call: AtomicU64::new(0),
            replies: Replies::new(fleet.client.new_inbox()),
            current: ArcSwap::default(),
            catalogs: watch::Sender::default(),
            members: Mutex::default(),
            changed: Notify::new(),
            events: broadcast::Sender::new(EVENTS_KEPT),
            counts: Mutex::default(),
            stop,
            fleet,
            settings,
        })
    }

    pub(super) fn catalog(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    pub(super) fn publish(&self, catalog: Catalog) {
        let catalog = Arc::new(catalog);
        self.current.store(catalog.clone());
        self.catalogs.send_replace(catalog);
    }

    /// Returns the redactor for workers' messages about a call with this token.
    pub(super) fn redactor(&self, token: Option<&str>) -> Redactor {
        let mut redactor = self.fleet.redactor.clone();
        if let Some(token) = token {
            redactor.add(token);
        }
        redactor
    }

    pub(super) fn token(&self) -> Option<String> {
        self.settings.token.as_ref()?()
    }

    pub(super) fn call_id(&self, number: u64) -> String {
        format!("{}-{number}", self.id)
    }

    pub(super) fn emit(&self, event: FleetEvent) {
        // On an error there are no listeners.
        let _ = self.events.send(event);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<FleetEvent> {
        self.events.subscribe()
    }
}
