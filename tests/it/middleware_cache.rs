//! The cache of outputs: which calls it answers, and which it does not.

use crate::merged;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::middleware::{Cache, Deduplicate};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, ClosureTool, LiveRegistry, RegistryView, RunContext, ToolDefinition,
    ToolFuture, ToolName, ToolOutput,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    query: String,
}

/// A tool that takes a second, counts calls, and fails on request.
fn tool(name: &str, runs: &Arc<AtomicUsize>) -> ClosureTool {
    let runs = runs.clone();
    let answer = move |Query { query }: Query| {
        let run = runs.fetch_add(1, Ordering::Relaxed) + 1;
        async move {
            sleep(Duration::from_secs(1)).await;
            match query.as_str() {
                "fail" => Err(ToolError::failed(format!("run {run}"))),
                _ => Ok(format!("{query} {run}")),
            }
        }
    };
    ClosureTool::new(name, "", answer).unwrap()
}

struct Setup {
    runs: Arc<AtomicUsize>,
    dispatcher: Dispatcher,
}

fn setup(cache: &Cache) -> Setup {
    let runs = Arc::new(AtomicUsize::new(0));
    let registry = ToolRegistry::from_tools([tool("look", &runs), tool("roll", &runs)]).unwrap();
    Setup { dispatcher: Dispatcher::new(registry).unwrap().with_middleware(cache.clone()), runs }
}

impl Setup {
    async fn dispatch(&self, calls: &[(&str, &str)]) -> Vec<String> {
        let calls = calls.iter().map(|(tool, query)| call(tool, query));
        texts(&self.dispatcher.dispatch(calls).await)
    }

    fn runs(&self) -> usize {
        self.runs.swap(0, Ordering::Relaxed)
    }
}

fn call(tool: &str, query: &str) -> ToolCall {
    ToolCall::new(format!("{tool} {query}"), tool, json!({"query": query}).to_string())
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.to_text().into_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn outputs_of_selected_tools_are_cached() {
    let setup = setup(&Cache::new(9).for_tool("l*").unwrap());
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 1"]);
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 1"]);
    let other_words = ToolCall::new("1", "look", r#" {"query" : "\u0061"} "#);
    assert_eq!(texts(&setup.dispatcher.dispatch([other_words]).await), ["a 1"]);
    assert_eq!(setup.runs(), 1);
    assert_eq!(setup.dispatch(&[("look", "b"), ("roll", "a")]).await.len(), 2);
    assert_eq!(setup.dispatch(&[("roll", "a")]).await, ["a 3"]);
    assert_eq!(setup.runs(), 3);
}

#[tokio::test(start_paused = true)]
async fn errors_are_shared_with_waiting_calls_and_not_cached() {
    let cache = Cache::new(9).for_tool("*").unwrap();
    let setup = setup(&cache);
    let failed = |run: usize| format!("Error running tool: run {run}");
    assert_eq!(setup.dispatch(&[("look", "fail"), ("look", "fail")]).await, [failed(1), failed(1)]);
    assert!(format!("{cache:?}").ends_with("entries: 0 }"), "an error takes no room");
    assert_eq!(setup.dispatch(&[("look", "fail")]).await, [failed(2)]);
    let not_json = ToolCall::new("1", "look", "{");
    assert!(texts(&setup.dispatcher.dispatch([not_json]).await)[0].starts_with("Error parsing"));
}

#[test]
fn calls_at_the_same_time_run_once() {
    for workers in [1, 4] {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(workers).enable_all().build().unwrap();
        let setup = setup(&Cache::new(9).for_tool("*").unwrap());
        let results = runtime.block_on(setup.dispatch(&[("look", "a"); 50]));
        assert_eq!(results, ["a 1"; 50]);
        assert_eq!(setup.runs(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn if_the_running_call_is_cancelled_a_waiting_call_runs() {
    let setup = setup(&Cache::new(9).for_tool("*").unwrap());
    let calls = ["1", "2", "3"].map(|id| ToolCall::new(id, "look", r#"{"query": "a"}"#));
    let mut batch = setup.dispatcher.batch(calls);
    let first = batch.call_token("1");
    let cancel = async {
        sleep(Duration::from_millis(500)).await;
        first.cancel();
    };
    let (results, ()) = tokio::join!(batch.finish(), cancel);
    assert_eq!(texts(&results), ["Tool `look` was cancelled before it finished", "a 2", "a 2"]);
    // Also if the running call's future is dropped.
    let dropped = tokio::time::timeout(Duration::from_millis(500), setup.dispatch(&[("look", "b")]));
    assert!(dropped.await.is_err());
    assert_eq!(setup.dispatch(&[("look", "b")]).await, ["b 4"]);
}

#[tokio::test(start_paused = true)]
async fn entries_expire_and_the_least_recently_used_is_removed() {
    let cache = Cache::new(2).for_tool("*").unwrap().with_time_to_live(Duration::from_secs(60));
    let setup = setup(&cache);
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 1"]);
    sleep(Duration::from_secs(59)).await;
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 1"]);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 2"]);
    assert_eq!(setup.dispatch(&[("look", "b")]).await, ["b 3"]);
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 2"]);
    assert_eq!(setup.dispatch(&[("look", "c")]).await, ["c 4"]);
    assert_eq!(setup.dispatch(&[("look", "a"), ("look", "b")]).await, ["a 2", "b 5"], "`b` was used least");
    cache.clear();
    assert_eq!(setup.dispatch(&[("look", "a")]).await, ["a 6"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_waiting_for_a_cached_answer_holds_no_permit() {
    let cache = Cache::new(9).for_tool("look").unwrap();
    let Setup { dispatcher, .. } = setup(&cache);
    let dispatcher = dispatcher.with_max_concurrency(2);
    let started = Instant::now();
    let calls = [call("look", "a"), call("look", "a"), call("look", "a"), call("roll", "b")];
    assert_eq!(dispatcher.dispatch(calls).await.len(), 4);
    assert_eq!(started.elapsed(), Duration::from_secs(1), "both ran at the same time");
}

#[tokio::test(start_paused = true)]
async fn a_replaced_tool_invalidates_its_entries() {
    let old = Arc::new(AtomicUsize::new(0));
    let new = Arc::new(AtomicUsize::new(10));
    let live = LiveRegistry::new(ToolRegistry::from_tools([tool("look", &old)]).unwrap()).unwrap();
    let dispatcher =
        Dispatcher::new(live.clone()).unwrap().with_middleware(Cache::new(9).for_tool("*").unwrap());
    assert_eq!(texts(&dispatcher.dispatch([call("look", "a")]).await), ["a 1"]);
    live.change(|registry| registry.replace(tool("look", &new))).unwrap();
    assert_eq!(texts(&dispatcher.dispatch([call("look", "a")]).await), ["a 11"]);
    assert_eq!(texts(&dispatcher.dispatch([call("look", "a")]).await), ["a 11"]);
}

struct User(u32);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Mail {
    folder: Option<String>,
    user: Option<u32>,
}

/// Tools with a `user` computed from the call's run.
fn mail(kind: u8, is_hidden: bool) -> ToolRegistry {
    let mail = ClosureTool::new("mail", "Reads mail.", |Mail { folder, user }: Mail| {
        format!("{folder:?} of {user:?}")
    });
    let of_run = |context: &ToolContext| match context.extension::<User>() {
        Some(User(id)) => Ok(json!(id)),
        None => Err(ToolError::failed("no user is logged in")),
    };
    let user = ArgumentTransform::new("user");
    let user = if is_hidden { user.computed(of_run) } else { user.with_computed_default(of_run) };
    let mail = AdaptedTool::new(mail.unwrap()).with_arguments([user]).unwrap();
    let rename = ArgumentTransform::new("folder").with_name("directory");
    let registry = ToolRegistry::from_tools([mail]).unwrap();
    match kind {
        0 => registry,
        1 => registry
            .viewed(&RegistryView::new().adapt("mail", move |tool| tool.with_arguments([rename.clone()])))
            .unwrap(),
        2 => merged(ToolRegistry::new().with_state(1_u8), registry.with_state(User(0))),
        _ => {
            let mut outer = ToolRegistry::new();
            outer.register_provider(Dispatcher::new(registry).unwrap()).unwrap();
            outer
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calls_with_different_computed_values_never_share_a_result(
        kind in 0_u8..4,
        is_hidden in any::<bool>(),
        users in prop::collection::vec(0_u32..3, 1..6),
        times in 1_usize..3,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let cache = Cache::new(100).for_tool("*").unwrap();
        let dispatcher = Dispatcher::new(mail(kind, is_hidden)).unwrap();
        let dispatcher = dispatcher.with_middleware(cache).with_middleware(Deduplicate::new());
        for user in users {
            let dispatcher = dispatcher.clone().with_run(RunContext::new().with_extension(User(user)));
            let calls = (0..times).map(|at| ToolCall::new(at.to_string(), "mail", "{}"));
            for text in texts(&runtime.block_on(dispatcher.dispatch(calls))) {
                prop_assert!(text.starts_with(&format!("None of Some({user})")), "{} {}", user, text);
            }
        }
    }
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::enum_variant_names, reason = "the words of the test")]
enum Step {
    #[serde(alias = "Big Step", alias = "tiny step")]
    Small,
    BigStep,
    #[serde(alias = "BIG")]
    TinyStep,
    Big,
}

/// Takes words with aliases that are alike to the names of other words.
#[tool(namespace = "cached")]
fn stride(step: Step, then: Option<Step>, steps: Option<Vec<Step>>) -> String {
    format!("{step:?} {then:?} {steps:?}")
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Stride {
    step: Step,
    then: Option<Step>,
    steps: Option<Vec<Step>>,
}

struct Echo(ToolDefinition);

impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text(arguments)))
    }

    fn validate(&self, _: &str, _: &ToolContext) -> Result<(), ToolError> {
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_cached_result_is_the_result_of_the_call(
        kind in 0_u8..3,
        calls in prop::collection::vec((WORD, prop::option::of(WORD), prop::collection::vec(WORD, 0..2)), 1..12),
    ) {
        let schema = stride::tool().definition().parameters.clone();
        let closure = ClosureTool::new("it", "", |it: Stride| stride(it.step, it.then, it.steps)).unwrap();
        let registry = match kind {
            0 => ToolRegistry::from_tools([stride::tool().with_name(ToolName::new("it").unwrap())]),
            1 => ToolRegistry::from_tools([closure]),
            _ => ToolRegistry::from_tools([Echo(ToolDefinition::new(ToolName::new("it").unwrap(), "", schema))]),
        };
        let plain = Dispatcher::new(registry.unwrap()).unwrap();
        let cache = Cache::new(100).for_tool("*").unwrap();
        let cached = plain.clone().with_middleware(cache).with_middleware(Deduplicate::new());
        let call = |(step, then, steps)| {
            ToolCall::new("1", "it", json!({"step": step, "then": then, "steps": steps}).to_string())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for call in calls.into_iter().map(call) {
            let direct = texts(&runtime.block_on(plain.dispatch([call.clone()])));
            let answer = texts(&runtime.block_on(cached.dispatch([call])));
            prop_assert_eq!(&answer, &direct);
        }
    }
}

/// Spellings of `Step`'s words, and a number that is none.
const WORD: &str = "big[_ -]?step|Big Step|BIG|big|Tiny_step|tiny step|small|SMALL|5";

#[tokio::test]
async fn a_value_computed_for_a_single_call_is_not_shared_within_a_batch() {
    let mail =
        ClosureTool::new("mail", "Reads mail.", |Mail { user, .. }: Mail| format!("{user:?}")).unwrap();
    let user = ArgumentTransform::new("user")
        .computed(|context| Ok(json!(context.call_id().and_then(|id| id.as_str().parse::<u32>().ok()))));
    let registry =
        ToolRegistry::from_tools([AdaptedTool::new(mail).with_arguments([user]).unwrap()]).unwrap();
    let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(Deduplicate::new());
    let results =
        dispatcher.dispatch([ToolCall::new("1", "mail", "{}"), ToolCall::new("2", "mail", "{}")]).await;
    assert_eq!(texts(&results), ["Some(1)", "Some(2)"]);
}

#[tokio::test]
async fn registries_with_different_state_share_no_output() {
    let look = ClosureTool::new_with_context("look", "", |_: Mail, context: ToolContext| {
        context.state::<User>().map(|user| user.0)
    });
    let tools = ToolRegistry::from_tools([look.unwrap()]).unwrap();
    let cache = Cache::new(10).for_tool("*").unwrap();
    let of = |user| {
        let registry = tools.clone().with_state(User(user));
        Dispatcher::new(registry).unwrap().with_middleware(cache.clone())
    };
    for user in [1, 2] {
        let results = of(user).dispatch([ToolCall::new("1", "look", "{}")]).await;
        assert_eq!(texts(&results), [user.to_string()]);
    }
}

struct Runs(AtomicUsize);

/// Returns the user, and how often it ran.
#[tool]
fn whose(#[state] user: &User, #[state] runs: &Runs) -> String {
    format!("{} {}", user.0, runs.0.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Returns how often it ran.
#[tool]
fn nobodys(#[state] runs: &Runs) -> usize {
    runs.0.fetch_add(1, Ordering::Relaxed) + 1
}

#[tokio::test]
async fn a_call_of_a_run_is_answered_unless_its_tool_reads_other_state_of_the_run() {
    let tools = || ToolRegistry::from_tools(tools![whose, nobodys]).unwrap();
    let runs = || Runs(AtomicUsize::new(0));
    let plain = tools().with_state(runs()).with_run_state::<User>();
    // A run's state also replaces that of merged tools.
    let library = tools().with_state(runs()).with_state(User(9));
    let merged = merged(ToolRegistry::new().with_run_state::<User>(), library);
    for registry in [plain, merged] {
        let cache = Cache::new(10).for_tool("*").unwrap();
        let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(cache);
        let of = |user| dispatcher.clone().with_run(RunContext::new().with_state(User(user)));
        let first = of(1);
        let second = of(2);
        let mut answers = Vec::new();
        for (run, tool) in
            [&first, &first, &second, &second].into_iter().zip(["whose", "whose", "whose", "nobodys"])
        {
            answers.extend(texts(&run.dispatch([ToolCall::new("1", tool, "{}")]).await));
        }
        answers.extend(texts(&first.dispatch([ToolCall::new("1", "nobodys", "{}")]).await));
        assert_eq!(answers, ["1 1", "1 1", "2 2", "3", "3"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Users take turns, and each call is answered by its own first run.
    #[test]
    fn each_state_has_entries_of_its_own(
        turns in prop::collection::vec((0_usize..3, 0_usize..2), 1..12),
        of_registry in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let cache = Cache::new(10).for_tool("*").unwrap();
        let tools = || ToolRegistry::from_tools(tools![whose, nobodys]).unwrap();
        let dispatchers: Vec<Dispatcher> = (0..3).map(|user| {
            let runs = Runs(AtomicUsize::new(0));
            let user = User(user);
            if of_registry {
                let registry = tools().with_state(runs).with_state(user);
                return Dispatcher::new(registry).unwrap().with_middleware(cache.clone());
            }
            let registry = tools().with_run_state::<Runs>().with_run_state::<User>();
            let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(cache.clone());
            dispatcher.with_run(RunContext::new().with_state(runs).with_state(user))
        }).collect();
        let mut answered = std::collections::HashMap::new();
        for turn @ (user, tool) in turns {
            let call = ToolCall::new("1", ["whose", "nobodys"][tool], "{}");
            let [text] = &texts(&runtime.block_on(dispatchers[user].dispatch([call])))[..] else { panic!() };
            prop_assert_eq!(answered.entry(turn).or_insert_with(|| text.clone()), text, "{:?}", turn);
            prop_assert!(tool == 1 || text.starts_with(&user.to_string()), "{text}");
        }
    }
}
