//! What has happened in a case: the runs of the tools are counted in their own file, not in replies.

use super::processes::Site;
use super::roles::{CALLER, outcome};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::time::Duration;
use toolkit_ai::{Dispatcher, RunContext, ToolCall, ToolRegistry};
use toolkit_nats::{Fleet, FleetTools, StoredCall};

/// The time that a result may be late, on a machine with more processes than processors.
const TOLERANCE: u128 = 2_000;

#[derive(Default)]
struct Runs {
    starts: usize,
    ends: usize,
}

/// The results of a call: kind, outcome and milliseconds.
type Results<'a> = BTreeMap<&'a str, Vec<(&'a str, &'a str, u128)>>;

/// Prints the row of a case. Returns whether all invariants hold.
pub(crate) async fn print(name: &str, site: &Site, seconds: f64) -> bool {
    let read = |file: &str| fs::read_to_string(site.folder.join(file)).unwrap_or_default();
    let (issued, results_text) = (read("issued"), read("results"));
    let mut results: Results<'_> = BTreeMap::new();
    for line in results_text.lines() {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap();
        let (id, kind, outcome, time) = (word(), word(), word(), word().parse().unwrap());
        results.entry(id).or_default().push((kind, outcome, time));
    }
    let mut faults = Vec::new();
    let unknown: Vec<&str> = results
        .iter()
        .filter(|(_, of_call)| {
            of_call.iter().all(|(_, outcome, _)| matches!(*outcome, "unknown" | "deadline"))
        })
        .map(|(id, _)| *id)
        .collect();
    if site.has_ledger {
        check_ledger(name, site, &results, &unknown, &mut faults).await;
    }
    let effects = read("effects");
    let effects = runs(&effects);
    let has_killed_callers = name.ends_with("callers");
    for id in issued.lines() {
        let none = Runs::default();
        let runs = effects.get(id).unwrap_or(&none);
        check_call(
            id,
            runs,
            results.get(id).map_or(&[], Vec::as_slice),
            site,
            has_killed_callers,
            &mut faults,
        );
    }
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, outcome, _) in results.values().flatten() {
        *outcomes.entry(outcome).or_default() += 1;
    }
    let slowest = results.values().flatten().map(|(.., time)| *time).max().unwrap_or_default();
    let outcomes: Vec<String> =
        outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    let twice = effects.values().filter(|runs| runs.starts > 1).count();
    let state = if faults.is_empty() { "holds" } else { "BROKEN" };
    println!(
        "| {name} | {} | {} | {} | {twice} | {slowest} | {seconds:.0} | {state} |",
        issued.lines().count(),
        outcomes.join(", "),
        effects.values().map(|runs| runs.starts).sum::<usize>(),
    );
    faults.iter().take(5).for_each(|fault| eprintln!("{name}: {fault}"));
    faults.is_empty()
}

/// Counts the runs of each call.
fn runs(effects: &str) -> HashMap<&str, Runs> {
    let mut runs: HashMap<&str, Runs> = HashMap::new();
    for line in effects.lines() {
        let mut words = line.splitn(3, ' ');
        let (mark, _, id) = (words.next().unwrap(), words.next(), words.next().unwrap());
        let runs = runs.entry(id).or_default();
        if mark == "S" {
            runs.starts += 1;
        } else {
            runs.ends += 1;
        }
    }
    runs
}

fn check_call(
    id: &str,
    runs: &Runs,
    results: &[(&str, &str, u128)],
    site: &Site,
    may_lack: bool,
    faults: &mut Vec<String>,
) {
    let mut require = |holds: bool, rule: &str| {
        if !holds {
            faults.push(format!("{id}: {rule} ({} starts, {} ends, {results:?})", runs.starts, runs.ends));
        }
    };
    let Some((kind, outcome, time)) = results.first().copied() else {
        return require(may_lack, "has no result");
    };
    // A caller that comes back with the same ids asks twice.
    require(results.len() == 1 || may_lack, "has two results");
    require(time <= super::faults::DEADLINE.as_millis() + TOLERANCE, "is late");
    require(kind == "read" || runs.starts <= 1, "ran twice");
    match outcome {
        "ok" => require(runs.ends >= 1, "is reported as done and was not"),
        "unknown" | "deadline" => {
            require(!site.loses_none, "has no outcome, and nothing was lost");
            require(outcome == "unknown" || runs.starts > 0, "reached its deadline and never began");
        }
        "busy" | "no_worker" | "disconnected" | "refused" => {
            require(runs.starts == 0 || results.len() > 1, "is reported as not run and was");
        }
        _ => require(false, "has another outcome"),
    }
}

/// Comes back for the calls: every committed result can be fetched, and a call of a lost worker never runs again.
async fn check_ledger(
    name: &str,
    site: &Site,
    results: &Results<'_>,
    unknown: &[&str],
    faults: &mut Vec<String>,
) {
    let _worker = site.worker();
    // The leases of lost workers end.
    tokio::time::sleep(Duration::from_secs(11)).await;
    let fleet = Fleet::connect(&format!("nats://127.0.0.1:{}", site.port)).await.unwrap();
    let fleet = FleetTools::builder(&fleet).name(CALLER).join().await.unwrap();
    // What may be repeated is not claimed.
    let is_paid = |(kind, outcome, _): &(&str, &str, u128)| *kind == "pay" && *outcome == "ok";
    let done = results.iter().filter(|(_, of_call)| of_call.iter().any(is_paid));
    for (id, _) in done {
        match fleet.stored_call(id).await {
            Ok(StoredCall::Ended(Ok(_))) => {}
            other => faults.push(format!("{id}: its result cannot be fetched: {other:?}")),
        }
    }
    let registry = ToolRegistry::from_tools(fleet.tools()).unwrap();
    for id in unknown {
        let (run, number) = id.split_once('/').unwrap();
        let kind = results[id][0].0;
        let dispatcher = Dispatcher::new(registry.clone()).unwrap();
        let dispatcher = dispatcher.with_run(RunContext::new().with_invocation_id(run));
        let call = ToolCall::new(number, kind, format!(r#"{{"amount": {number}}}"#));
        let again = dispatcher.dispatch([call]).await.remove(0);
        if !matches!(outcome(&again), "ok" | "unknown") {
            faults.push(format!("{id}: comes back with {:?} in {name}", again.error()));
        }
    }
}
