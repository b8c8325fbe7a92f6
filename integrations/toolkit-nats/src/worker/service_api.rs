//! The service API of NATS: tools such as `nats micro` see each worker's health and statistics.

use super::offers::Offers;
use super::statistics::WorkerStatistics;
use super::worker_state::WorkerState;
use bytes::Bytes;
use serde_json::{Value, json};
use std::time::SystemTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use toolkit_core::__private::lock;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn name(state: &WorkerState) -> String {
    format!("toolkit-{}", state.fleet.prefix)
}

/// Returns a worker's id without its name: one token.
fn id(state: &WorkerState) -> &str {
    state.id.rsplit('.').next().unwrap_or_default()
}

pub(super) fn subjects(state: &WorkerState) -> Vec<String> {
    let name = name(state);
    let mut subjects = Vec::new();
    for verb in ["PING", "INFO", "STATS"] {
        subjects.push(format!("$SRV.{verb}"));
        subjects.push(format!("$SRV.{verb}.{name}"));
        subjects.push(format!("$SRV.{verb}.{name}.{}", id(state)));
    }
    subjects
}

pub(super) fn answer(state: &WorkerState, offers: &Offers, verb: &str) -> Bytes {
    let mut response = json!({
        "type": format!("io.nats.micro.v1.{}_response", verb.to_ascii_lowercase()),
        "name": name(state),
        "id": id(state),
        "version": VERSION,
        "metadata": {"worker": state.settings.name},
    });
    let is_info = verb == "INFO";
    if verb != "PING" {
        let whole = state.calls.statistics();
        let mut endpoints: Vec<Value> = Vec::with_capacity(offers.len());
        for (tokens, offer) in offers {
            let mut endpoint = json!({
                "name": tokens.replace(['.', '/'], "-"),
                "subject": state.fleet.subject(format_args!("to.{}.*.{tokens}", state.id)),
                "queue_group": "",
            });
            if is_info {
                endpoint["metadata"] = json!({});
            } else {
                add_counts(&mut endpoint, *lock(&offer.counts));
                endpoint["data"] = json!({
                    "in_flight": whole.in_flight,
                    "max_calls": state.settings.calls.max(),
                    "refused": whole.refused,
                });
            }
            endpoints.push(endpoint);
        }
        response["endpoints"] = endpoints.into();
    }
    if is_info {
        response["description"] = "Tools of a toolkit worker".into();
    } else {
        let started = OffsetDateTime::from(SystemTime::now() - state.calls.started.elapsed());
        response["started"] = started.format(&Rfc3339).unwrap_or_default().into();
    }
    response.to_string().into()
}

fn add_counts(endpoint: &mut Value, counts: WorkerStatistics) {
    let nanoseconds = u64::try_from(counts.duration.as_nanos()).unwrap_or(u64::MAX);
    endpoint["num_requests"] = counts.ended.into();
    endpoint["num_errors"] = counts.failed.into();
    endpoint["last_error"] = "".into();
    endpoint["processing_time"] = nanoseconds.into();
    endpoint["average_processing_time"] = nanoseconds.checked_div(counts.ended).unwrap_or_default().into();
}
