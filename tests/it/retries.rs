//! Retries of failed calls, with the middleware `Retry` or without.

use crate::always::without_runtime;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Builder;
use toolkit_ai::events::ToolEventKind;
use toolkit_ai::middleware::{AttemptLimit, BoxMiddleware, Deduplicate, Middleware, Retry};
use toolkit_ai::prelude::*;
use toolkit_ai::{CancellationToken, ClosureTool, ErrorKind, ToolContext};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Fails,
    IsBusy,
    Hangs,
    AsksAgain,
}

#[derive(Debug, Clone)]
struct Case {
    fault: Fault,
    /// The failing attempts of each call.
    failing: usize,
    retries: u32,
    idempotent: bool,
    calls: usize,
    /// Whether an inner dispatcher provides the tool.
    nested: bool,
    /// Other middleware, outermost first.
    others: Vec<Other>,
}

#[derive(Debug, Clone, Copy)]
enum Other {
    Deduplicate,
    #[cfg(feature = "cache")]
    Cache,
    AttemptLimit,
}

impl Other {
    fn middleware(self) -> BoxMiddleware {
        match self {
            Self::Deduplicate => Deduplicate::new().boxed(),
            #[cfg(feature = "cache")]
            Self::Cache => toolkit_ai::middleware::Cache::new(9).for_tool("flaky").unwrap().boxed(),
            Self::AttemptLimit => AttemptLimit::new(9).boxed(),
        }
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let fault = prop::sample::select(vec![Fault::Fails, Fault::IsBusy, Fault::Hangs, Fault::AsksAgain]);
    let others = prop::sample::subsequence(
        vec![
            Other::AttemptLimit,
            Other::Deduplicate,
            #[cfg(feature = "cache")]
            Other::Cache,
        ],
        0..=2,
    );
    (fault, 0_usize..4, 0_u32..4, any::<bool>(), 1_usize..4, any::<bool>(), others.prop_shuffle()).prop_map(
        |(fault, failing, retries, idempotent, calls, nested, others)| Case {
            fault,
            failing,
            retries,
            idempotent,
            calls,
            nested,
            others,
        },
    )
}

/// The results, the tool's runs, and the events about retries.
type Seen = (Vec<Option<ErrorKind>>, usize, usize);

impl Case {
    fn registry(&self, runs: &Arc<AtomicUsize>) -> ToolRegistry {
        let Self { fault, failing, retries, idempotent, .. } = *self;
        let runs = runs.clone();
        let attempts = Mutex::new(HashMap::new());
        let flaky = ClosureTool::new_with_context("flaky", "", move |_: Nothing, context: ToolContext| {
            runs.fetch_add(1, Ordering::Relaxed);
            let mut attempts = attempts.lock().unwrap();
            let attempt: &mut usize = attempts.entry(context.call_id().cloned()).or_default();
            *attempt += 1;
            let fault = (*attempt <= failing).then_some(fault);
            async move {
                tokio::task::yield_now().await;
                match fault {
                    None => Ok("done"),
                    Some(Fault::Fails) => Err(ToolError::failed("no luck")),
                    Some(Fault::IsBusy) => Err(ToolError::failed("busy").with_retryable(true)),
                    Some(Fault::Hangs) => std::future::pending().await,
                    Some(Fault::AsksAgain) => Err(ToolError::retry("another argument")),
                }
            }
        });
        let flaky = flaky.unwrap().with_timeout(Duration::from_millis(50));
        let flaky = flaky.map_metadata(|it| it.with_retries(retries).with_idempotent(idempotent));
        ToolRegistry::from_tools([flaky]).unwrap()
    }

    fn run(&self, retry: bool) -> Seen {
        let runs = Arc::new(AtomicUsize::new(0));
        let events = Arc::new(AtomicUsize::new(0));
        let heard = events.clone();
        let mut dispatcher = Dispatcher::new(self.registry(&runs)).unwrap();
        if self.nested {
            let mut outer = ToolRegistry::new();
            let inner = if retry { dispatcher.with_middleware(Retry::new()) } else { dispatcher };
            outer.register_provider(inner).unwrap();
            dispatcher = Dispatcher::new(outer).unwrap();
        }
        let others = self.others.iter().map(|other| other.middleware());
        let mut dispatcher = others.fold(dispatcher, Dispatcher::with_middleware);
        if retry {
            dispatcher = dispatcher.with_middleware(Retry::new());
        }
        let dispatcher = dispatcher.with_listener(move |event| {
            let is_retry = matches!(event.kind, ToolEventKind::Retried { .. });
            heard.fetch_add(usize::from(is_retry), Ordering::Relaxed);
        });
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let calls = (0..self.calls).map(|id| ToolCall::new(id.to_string(), "flaky", "{}"));
        let results = runtime.block_on(dispatcher.dispatch(calls));
        let kinds = results.iter().map(|result| result.error().map(ToolError::kind)).collect();
        (kinds, runs.load(Ordering::Relaxed), events.load(Ordering::Relaxed))
    }

    fn expected(&self) -> Seen {
        let Self { fault, failing, retries, idempotent, calls, nested, .. } = *self;
        let retries = match fault {
            Fault::IsBusy => retries as usize,
            Fault::Fails | Fault::Hangs if idempotent => retries as usize,
            _ => 0,
        };
        let kind = match fault {
            Fault::Fails | Fault::IsBusy => ErrorKind::Failed,
            Fault::Hangs => ErrorKind::TimedOut,
            Fault::AsksAgain => ErrorKind::Retry,
        };
        let shares = |other: &Other| match other {
            Other::Deduplicate => idempotent,
            Other::AttemptLimit => false,
            #[cfg(feature = "cache")]
            Other::Cache => true,
        };
        let running = if self.others.iter().any(shares) { 1 } else { calls };
        let repeated = failing.min(retries);
        let kinds = vec![(failing > retries).then_some(kind); calls];
        // An inner dispatcher has its own events.
        (kinds, running * (repeated + 1), if nested { 0 } else { running * repeated })
    }
}

proptest! {
    #[test]
    fn calls_have_the_same_attempts_with_the_middleware_and_without(case in cases()) {
        let expected = case.expected();
        prop_assert_eq!(case.run(true), expected.clone());
        prop_assert_eq!(case.run(false), expected);
    }
}

fn hopeless() -> (Dispatcher, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let flaky = ClosureTool::new("flaky", "", move |_: Nothing| -> Result<(), &str> {
        counter.fetch_add(1, Ordering::Relaxed);
        Err("no luck")
    });
    let flaky = flaky.unwrap().map_metadata(|it| it.with_retries(1_000).with_idempotent(true));
    (Dispatcher::new(ToolRegistry::from_tools([flaky]).unwrap()).unwrap(), runs)
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_not_retried_again() {
    let (dispatcher, runs) = hopeless();
    let token = CancellationToken::new();
    let calls = dispatcher.dispatch_with([ToolCall::new("1", "flaky", "{}")], token.clone());
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        token.cancel();
    };
    let (results, ()) = tokio::join!(calls, cancel);
    assert_eq!(results[0].error().map(ToolError::kind), Some(ErrorKind::Cancelled));
    let attempts = runs.load(Ordering::Relaxed);
    assert!((2..1_000).contains(&attempts), "{attempts}");
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(runs.load(Ordering::Relaxed), attempts);
}

/// The model reads the tool's error, not one about the runtime.
#[test]
fn without_a_timer_calls_are_not_retried() {
    let call = || [ToolCall::new("1", "flaky", "{}")];
    let of_tool = |results: Vec<ToolResult>| {
        assert_eq!(results[0].to_text(), "Error running tool: no luck");
    };
    let timerless = Builder::new_current_thread().build().unwrap();
    for retry in [true, false] {
        let (dispatcher, runs) = hopeless();
        let dispatcher = if retry { dispatcher.with_middleware(Retry::new()) } else { dispatcher };
        of_tool(timerless.block_on(dispatcher.dispatch(call())));
        of_tool(without_runtime(dispatcher.dispatch(call())));
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }
}
