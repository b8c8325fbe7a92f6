use crate::{CALLS, Call, Contestant, Output};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

type Outcome = Result<(), String>;

const AT_ONCE: u32 = 10_000;
/// How often 10,000 calls are made at once, for the median.
const ROUNDS: usize = 31;
/// How often a short batch of calls is timed, mostly without interruption.
const BATCHES: usize = 501;
const LONG_ENOUGH: Duration = Duration::from_micros(300);

pub(crate) fn run<C: Contestant>(words: &[&str]) -> Outcome {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let entered = runtime.enter();
    let contestant = Arc::new(C::new());
    drop(entered);
    match *words {
        ["check"] => check(&*contestant, &runtime),
        ["call", tool, count] => {
            let call = call_of(tool)?;
            repeat(count, &runtime, || call_once(&*contestant, call))
        }
        ["list", count] => repeat(count, &runtime, || drop(black_box(contestant.definitions()))),
        ["time", tool] => {
            let call = call_of(tool)?;
            time(&*contestant, call, &runtime)
        }
        ["at-once"] => at_once(&contestant, &runtime),
        ["definitions"] => {
            println!("{}", contestant.definitions());
            Ok(())
        }
        _ => {
            Err("usage: check | call TOOL COUNT | list COUNT | time TOOL | at-once | definitions".to_owned())
        }
    }
}

fn call_of(tool: &str) -> Result<Call, String> {
    CALLS.into_iter().find(|call| call.tool == tool).ok_or_else(|| format!("no call of `{tool}`"))
}

/// Polls a call once, without a runtime's cost.
#[inline]
fn finish<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[inline]
fn call_once<C: Contestant>(contestant: &C, call: Call) {
    if let Some(Ok(output)) = finish(contestant.call(black_box(call.tool), black_box(call.arguments))) {
        black_box(output.text());
    }
}

fn expect(what: &str, got: &str, wanted: &str) -> Outcome {
    if got == wanted { Ok(()) } else { Err(format!("{what} is {got}, should be {wanted}")) }
}

fn check<C: Contestant>(contestant: &C, runtime: &Runtime) -> Outcome {
    let _entered = runtime.enter();
    for call in CALLS {
        let output = finish(contestant.call(call.tool, call.arguments));
        let output = output.ok_or_else(|| format!("`{}` waits", call.tool))??;
        expect(call.tool, &output.text(), call.result)?;
    }
    let output = runtime.block_on(contestant.call("wait", r#"{"index":7}"#))?;
    expect("wait", &output.text(), "7")?;
    // A failure has to be one, or the results above mean nothing.
    if runtime.block_on(contestant.call("add", r#"{"a":"x","b":25}"#)).is_ok() {
        return Err("`add` accepts a text that is no number".to_owned());
    }
    let definitions: serde_json::Value =
        serde_json::from_str(&contestant.definitions()).map_err(|error| error.to_string())?;
    let mut names: Vec<_> = definitions
        .as_array()
        .into_iter()
        .flatten()
        .filter(|definition| definition["function"]["parameters"]["properties"].is_object())
        .filter_map(|definition| definition["function"]["name"].as_str())
        .collect();
    names.sort_unstable();
    expect("the list of definitions", &names.join(" "), "add create_order search_web wait")
}

fn repeat(count: &str, runtime: &Runtime, mut work: impl FnMut()) -> Outcome {
    let count: usize = count.parse().map_err(|_| format!("`{count}` is no number"))?;
    let _entered = runtime.enter();
    for _ in 0..count {
        work();
    }
    Ok(())
}

/// Prints the median nanoseconds of a call.
fn time<C: Contestant>(contestant: &C, call: Call, runtime: &Runtime) -> Outcome {
    let _entered = runtime.enter();
    let batch = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            call_once(contestant, call);
        }
        start.elapsed()
    };
    let mut count = 10;
    while batch(count) < LONG_ENOUGH {
        count *= 2;
    }
    let times = (0..BATCHES).map(|_| batch(count).as_nanos() / u128::from(count)).collect();
    println!("{}", median(times));
    Ok(())
}

/// Prints the median milliseconds of all calls.
fn at_once<C: Contestant>(contestant: &Arc<C>, runtime: &Runtime) -> Outcome {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let arguments = (0..AT_ONCE).map(|index| format!(r#"{{"index":{index}}}"#)).collect();
        let start = Instant::now();
        let results = runtime.block_on(contestant.at_once(arguments));
        times.push(start.elapsed().as_micros());
        for (index, result) in results.iter().enumerate() {
            let output = result.as_ref().map_err(String::clone)?;
            expect("a call at once", &output.text(), &index.to_string())?;
        }
        expect("the number of results", &results.len().to_string(), &AT_ONCE.to_string())?;
    }
    let micros = median(times);
    println!("{}.{}", micros / 1_000, micros % 1_000 / 100);
    Ok(())
}

fn median(mut values: Vec<u128>) -> u128 {
    values.sort_unstable();
    values[values.len() / 2]
}
