//! The service API of NATS: tools such as `nats micro` see the health and the statistics of each worker.

use super::offers::Offers;
use super::serving::WorkerState;
use async_nats::service::{Info, PingResponse, endpoint};
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The version of the service: the version of this crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn name(state: &WorkerState) -> String {
    format!("toolkit-{}", state.fleet.prefix)
}

/// Returns the subjects of the requests that a worker answers.
pub(super) fn subjects(state: &WorkerState) -> Vec<String> {
    let name = name(state);
    let of_verb = |verb: &str| {
        [format!("$SRV.{verb}"), format!("$SRV.{verb}.{name}"), format!("$SRV.{verb}.{name}.{}", state.id)]
    };
    ["PING", "INFO", "STATS"].into_iter().flat_map(of_verb).collect()
}

/// Returns the response to a request.
pub(super) fn answer(state: &WorkerState, offers: &Offers, verb: &str) -> Bytes {
    let response = match verb {
        "PING" => serde_json::to_vec(&PingResponse {
            kind: "io.nats.micro.v1.ping_response".to_owned(),
            name: name(state),
            id: state.id.clone(),
            version: VERSION.to_owned(),
            metadata: HashMap::new(),
        }),
        "INFO" => serde_json::to_vec(&Info {
            kind: "io.nats.micro.v1.info_response".to_owned(),
            name: name(state),
            id: state.id.clone(),
            description: "Tools of a toolkit worker".to_owned(),
            version: VERSION.to_owned(),
            metadata: HashMap::new(),
            endpoints: offers.keys().map(|tokens| endpoint_info(state, tokens)).collect(),
        }),
        _ => serde_json::to_vec(&statistics(state, offers)),
    };
    response.unwrap_or_default().into()
}

fn endpoint_info(state: &WorkerState, tokens: &str) -> endpoint::Info {
    endpoint::Info {
        name: tokens.replace(['.', '/'], "-"),
        subject: state.fleet.subject(format_args!("call.*.{tokens}")),
        queue_group: "workers".to_owned(),
        metadata: HashMap::new(),
    }
}

fn statistics(state: &WorkerState, offers: &Offers) -> Value {
    let started = SystemTime::now() - state.calls.started.elapsed();
    let started = OffsetDateTime::from(started).format(&Rfc3339).unwrap_or_default();
    let in_flight = state.calls.in_flight.load(Ordering::Relaxed);
    let whole = state.calls.counters.read(in_flight);
    let endpoint = |(tokens, offer): (&String, &std::sync::Arc<super::offers::Offer>)| {
        let counts = offer.counters.read(0);
        let average = counts.duration.as_nanos().checked_div(u128::from(counts.ended)).unwrap_or_default();
        json!({
            "name": tokens.replace(['.', '/'], "-"),
            "subject": state.fleet.subject(format_args!("call.*.{tokens}")),
            "queue_group": "workers",
            "num_requests": counts.ended,
            "num_errors": counts.failed,
            "last_error": "",
            "processing_time": u64::try_from(counts.duration.as_nanos()).unwrap_or(u64::MAX),
            "average_processing_time": u64::try_from(average).unwrap_or(u64::MAX),
            "data": {
                "in_flight": in_flight,
                "max_calls": state.max_calls,
                "refused_full": whole.refused_full,
                "refused_otherwise": whole.refused_otherwise,
            },
        })
    };
    json!({
        "type": "io.nats.micro.v1.stats_response",
        "name": name(state),
        "id": state.id,
        "version": VERSION,
        "started": started,
        "endpoints": offers.iter().map(endpoint).collect::<Vec<_>>(),
    })
}
