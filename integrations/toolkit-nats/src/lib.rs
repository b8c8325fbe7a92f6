//! Tools on many machines, over NATS.
//!
//! A [`Worker`] serves a registry, or a part of it. A [`FleetTools`] discovers the workers of a [`Fleet`],
//! and its tools join a registry like all others. The README explains how, and what each failure means.
//!
//! ```no_run
//! use toolkit_ai::{LiveRegistry, ToolRegistry};
//! use toolkit_nats::{Fleet, FleetTools, Worker};
//!
//! # async fn on_a_machine_with_tools(registry: ToolRegistry) -> Result<(), Box<dyn std::error::Error>> {
//! // On each machine with tools: serves until SIGTERM, and ends its calls first.
//! Worker::new(registry)?.serve(&Fleet::connect("nats://127.0.0.1:4222").await?).await?;
//! # Ok(())
//! # }
//! # async fn in_the_program() -> Result<(), Box<dyn std::error::Error>> {
//! // In the program: the tools of all workers.
//! let live = LiveRegistry::new(ToolRegistry::new())?;
//! let fleet = FleetTools::connect("nats://127.0.0.1:4222").await?;
//! let _following = fleet.follow(&live)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `ledger` | `CallLedger`: calls by id in PostgreSQL, so that no call runs twice |
//! | `tracing` | spans of calls, with OpenTelemetry's attribute names |
//! | `aws-lc-rs` | cryptography of encrypted connections, as `rustls` has it; on by default |
//! | `ring` | cryptography of `ring`; where both are compiled in, `aws-lc-rs` is used |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod caller;
mod definitions;
mod fleet;
mod fleet_error;
mod frames;
#[cfg(feature = "ledger")]
mod ledger;
mod span;
mod subjects;
mod worker;

pub use caller::{
    CallFailure, CallerStatistics, FleetEvent, FleetEvents, FleetFollowing, FleetTool, FleetTools,
    FleetToolsBuilder, StoredCall,
};
pub use fleet::{Fleet, FleetBuilder};
pub use fleet_error::{FleetError, FleetErrorKind};
#[cfg(feature = "ledger")]
pub use ledger::{CallLedger, LedgerError};
pub use toolkit_core::context::TraceContext;
pub use worker::{Identity, RemoteCaller, RunningWorker, Worker, WorkerStatistics};

/// Implements `Debug` with the type's name only: fields hold addresses, credentials and connections.
macro_rules! opaque_debug {
    ($($ty:ident)*) => {$(
        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($ty))
            }
        }
    )*};
}

opaque_debug! { Fleet FleetBuilder FleetTool FleetTools FleetToolsBuilder RunningWorker Worker }
#[cfg(feature = "ledger")]
opaque_debug! { CallLedger }

/// Compiles the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
