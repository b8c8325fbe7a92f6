//! Limits of a run.

use crate::support::{Access, Nothing, Watched, agent, assert_sendable, cancelled_after, says, transcript};
use crate::support::{Configured as _, Options};
use futures_util::StreamExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::session::MemoryStore;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentBuilder, AgentError, Conversation, Limit, Limits, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::ModelStream;
use toolkit_llm::model::Priced;
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelRetry, Price,
    ScriptedModel, StreamEvent, Usage, UserMessage,
};

fn restless(tool: &'static str, arguments: &'static str) -> ScriptedModel {
    let next = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::new().fallback(move |_| {
        let id = next.fetch_add(1, Ordering::Relaxed);
        let call = ToolCall::new(format!("call_{id}"), tool, arguments);
        Ok(ModelResponse::calls([call]).with_usage(Usage::new(60, 40)))
    })
}

async fn limited(model: impl ChatModel, limits: Limits) -> (Result<String, AgentError>, Conversation) {
    let agent = agent(model).build().unwrap();
    let mut conversation = Conversation::new("1");
    let output = agent.run("go").on(&mut conversation).limits(limits).await;
    assert_sendable(&conversation);
    (output.map(|output| output.text).map_err(AgentError::from), conversation)
}

#[tokio::test]
async fn model_calls_tokens_and_the_cost_are_limited() {
    // Each answer has 100 tokens and costs 0.14.
    for (limits, limit, calls) in [
        (Limits::default().with_max_model_calls(3), Limit::ModelCalls(3), 3),
        (Limits::default().with_max_tokens(250), Limit::Tokens(250), 3),
        (Limits::default().with_max_cost(0.5), Limit::Cost(0.5), 4),
    ] {
        let model = restless("add", r#"{"a": 1, "b": 2}"#);
        let agent = agent(model.clone()).price(Price::per_million(1_000.0, 2_000.0)).limits(limits);
        let failed = agent.build().unwrap().run("go").await.unwrap_err();
        assert_eq!((failed.error, model.requests().len()), (AgentError::Limit(limit), calls));
        assert_eq!(failed.output.messages.len(), 1 + 2 * calls);
        assert!((failed.output.cost - 0.14 * calls as f64).abs() < 1e-9, "{}", failed.output.cost);
    }
}

/// The provider bills a broken answer, but no refused request.
#[tokio::test(start_paused = true)]
async fn a_broken_answer_counts_as_a_model_call() {
    let refused = || ModelError::from_status(503, "overloaded");
    let broken = |kind| {
        let part = ModelResponse::text("half").with_usage(Usage::new(600, 400));
        ModelError::new(kind, "broken").with_partial(part)
    };
    let lost = ModelErrorKind::Connection;
    let calls = |max: u32| Limits::default().with_max_model_calls(max);
    let cases = [
        (vec![refused(), refused()], calls(1), Ok(1), 3),
        (vec![broken(lost)], calls(1), Err(Limit::ModelCalls(1)), 1),
        (vec![broken(lost)], calls(2), Ok(2), 2),
        (vec![broken(lost), refused()], calls(2), Ok(2), 3),
        (vec![broken(lost), broken(lost)], calls(2), Err(Limit::ModelCalls(2)), 2),
        (vec![broken(lost)], Limits::default().with_max_tokens(900), Err(Limit::Tokens(900)), 1),
        (vec![broken(lost)], Limits::default().with_max_cost(0.1), Err(Limit::Cost(0.1)), 1),
    ];
    for (errors, limits, expected, requests) in cases {
        for streaming in [true, false] {
            let model = errors.iter().cloned().fold(ScriptedModel::new(), ScriptedModel::error).text("Done.");
            let agent = Agent::builder(model.clone()).streaming(streaming).limits(limits.clone());
            let agent = agent.price(Price::per_million(100.0, 100.0));
            let ended = agent.build().unwrap().run("go").await;
            let ended = ended.map(|output| output.model_calls).map_err(|failed| failed.error);
            let case = format!("{errors:?} {limits:?} {streaming}");
            assert_eq!(ended, expected.map_err(AgentError::Limit), "{case}");
            assert_eq!(model.requests().len(), requests, "{case}");
        }
    }
}

#[tokio::test]
async fn tool_calls_are_limited() {
    let model = ScriptedModel::new()
        .call("add", r#"{"a": 1, "b": 2}"#)
        .call("add", r#"{"a": 2, "b": 2}"#)
        .call("add", r#"{"a": 3, "b": 2}"#)
        .text("So be it.");
    let (ended, conversation) = limited(model, Limits::default().with_max_tool_calls(2)).await;
    assert_eq!(ended.unwrap(), "So be it.");
    let results = &transcript(conversation.messages())[2];
    assert!(results.starts_with("results: 3, 4, The limit of tool calls is reached"), "{results}");
}

#[tokio::test]
async fn tool_calls_are_limited_by_default() {
    let calls = (0..501).map(|n| ToolCall::new(format!("{n}"), "add", format!(r#"{{"a": {n}, "b": 2}}"#)));
    let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("Done.");
    let (_, conversation) = limited(model, Limits::default()).await;
    let Message::Tool(message) = &conversation.messages()[2] else { panic!("no results") };
    let failed = message.results.iter().filter(|result| result.error().is_some()).count();
    assert_eq!((message.results.len(), failed), (501, 1));
}

/// Without a price, this limit could not hold.
#[tokio::test]
async fn a_limit_of_the_cost_needs_a_price() {
    let limits = || Limits::default().with_max_cost(0.3);
    let add = || restless("add", r#"{"a": 1, "b": 2}"#);
    let unpriced = agent(add()).limits(limits()).build().unwrap();
    let failed = unpriced.run("go").await.unwrap_err();
    assert!(failed.error.to_string().contains("has no price"), "{}", failed.error);
    assert_eq!((failed.output.model_calls, failed.output.tool_calls), (1, 1));
    let price = Price::per_million(1_000.0, 2_000.0);
    let priced = agent(Priced::new(add(), price)).limits(limits()).build().unwrap();
    let failed = priced.run("go").await.unwrap_err();
    assert_eq!(failed.error, AgentError::Limit(Limit::Cost(0.3)));
    let free = agent(Priced::new(add(), Price::default())).limits(limits().with_max_model_calls(4));
    let failed = free.build().unwrap().run("go").await.unwrap_err();
    assert_eq!(failed.error, AgentError::Limit(Limit::ModelCalls(4)));
}

#[tokio::test(start_paused = true)]
async fn the_duration_of_a_run_is_limited() {
    let most = Duration::from_secs(2);
    let limits = Limits::default().with_max_duration(most);
    let over = Err(AgentError::Limit(Limit::Duration(most)));
    for ms in ["{\"ms\": 900}", "{\"ms\": 100000}"] {
        let started = tokio::time::Instant::now();
        let (ended, conversation) = limited(restless("wait", ms), limits.clone()).await;
        assert_eq!((ended, started.elapsed()), (over.clone(), most));
        let last = transcript(conversation.messages()).pop().unwrap();
        assert_eq!(last, "results: Tool `wait` was cancelled before it finished");
    }
    // The limit applies to retry pauses, too.
    let later =
        ModelError::new(ModelErrorKind::RateLimited, "later").with_retry_after(Duration::from_secs(30));
    let agent = agent(ScriptedModel::new().error(later)).retry(ModelRetry::new(3)).limits(limits);
    let started = tokio::time::Instant::now();
    assert_eq!(
        agent.build().unwrap().run("go").await.map_err(AgentError::from),
        over.map(|_: String| unreachable!())
    );
    assert_eq!(started.elapsed(), most);
}

struct Stalling(ScriptedModel);

impl ChatModel for Stalling {
    fn name(&self) -> &str {
        "stalling"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.0.respond(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let pieces = self.0.stream(request).await?;
        Ok(ModelStream::new(pieces.chain(futures_util::stream::pending())))
    }
}

/// The provider bills a begun answer, whichever clock stops it.
#[tokio::test(start_paused = true)]
async fn an_answer_cut_by_the_timeout_counts_as_a_model_call() {
    let pieces = [
        StreamEvent::Text("half".to_owned()),
        StreamEvent::Reasoning("hm".to_owned()),
        StreamEvent::call_started("c", "add"),
        StreamEvent::arguments("c", "{"),
    ];
    let begun = pieces.map(|piece| vec![Ok(piece)]);
    for (pieces, calls, asked) in begun.map(|pieces| (pieces, 2, 2)).into_iter().chain([(vec![], 1, 4)]) {
        for is_checked in [false, true] {
            let script = (0..4).fold(ScriptedModel::new(), |model, _| model.deltas(pieces.clone()));
            let slow = |_, _| async {
                sleep(Duration::from_secs(3_600)).await;
                Verdict::Pass
            };
            let builder = agent(Stalling(script.clone()))
                .retry(ModelRetry::new(4))
                .limits(Limits::default().with_model_timeout(Duration::from_secs(1)).with_max_model_calls(2));
            let guard = Guardrail::new_async::<UserMessage, _>("slow", slow).beside_model();
            let builder = if is_checked { builder.guardrail(guard) } else { builder };
            let failed = builder.build().unwrap().run("go").await.unwrap_err();
            let counts = (failed.output.model_calls, script.requests().len());
            assert_eq!(counts, (calls, asked), "{pieces:?}, checked: {is_checked}: {failed}");
        }
    }
}

struct Silent;

impl ChatModel for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn model_calls_time_out() {
    let (ended, _) = limited(Silent, Limits::default().with_model_timeout(Duration::from_millis(500))).await;
    let Err(AgentError::Model(error)) = ended else { panic!() };
    assert_eq!((error.kind(), error.message()), (ModelErrorKind::TimedOut, "LLM call timed out after 0.5s"));
}

fn asking(expert: &Agent, times: usize) -> AgentBuilder {
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let model = (0..times)
        .fold(ScriptedModel::new(), |model, _| model.call(expert.name(), r#"{"request": "?"}"#).then());
    Agent::builder(model.text("So be it.")).name("root").tools(tools)
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_held_to_its_own_limits_within_a_run() {
    let wait = r#"{"ms": 900}"#;
    for (limits, arguments, expected) in [
        (Limits::default().with_max_model_calls(3), r#"{"ms": 1}"#, "exceeded 3 model calls"),
        (Limits::default().with_max_tokens(250), r#"{"ms": 1}"#, "exceeded 250 tokens"),
        (Limits::default().with_max_duration(Duration::from_secs(2)), wait, "exceeded 2 s"),
    ] {
        let model = restless("wait", arguments);
        let expert = agent(model.clone()).name("expert").limits(limits.clone()).build().unwrap();
        let output = asking(&expert, 2).build().unwrap().run("go").await.unwrap();
        assert_eq!(output.text, "So be it.");
        let lines = transcript(&output.messages);
        for line in [&lines[2], &lines[4]] {
            assert!(line.starts_with(&format!("results: Error running tool: {expected}")), "{line}");
        }
        // Each call has the whole limits, and all count for the run.
        let asked = u32::try_from(model.requests().len()).unwrap();
        assert_eq!((asked, output.model_calls), (6, 9));
        assert_eq!(output.usage.total(), 600);
        assert_eq!(output.tool_calls, 2 + asked);
        let mut conversation = Conversation::new("1");
        let ended = asking(&expert, 2)
            .build()
            .unwrap()
            .run("go")
            .on(&mut conversation)
            .limits(Limits::default().with_max_model_calls(5))
            .await;
        assert_eq!(ended.unwrap_err().error, AgentError::Limit(Limit::ModelCalls(5)));
        // The program starts the agent with its own limits.
        let ended = expert.run("go").await.unwrap_err();
        assert!(ended.to_string().starts_with(expected), "{ended}");
    }
}

#[tokio::test]
async fn tool_calls_of_an_agent_are_limited_within_a_run() {
    let expert = || {
        let model = ScriptedModel::new()
            .call("add", r#"{"a": 1, "b": 2}"#)
            .call("add", r#"{"a": 2, "b": 2}"#)
            .text("done");
        agent(model).name("expert")
    };
    for (own, of_run, counted) in [(1, 9, 2), (9, 2, 2), (9, 9, 3)] {
        let expert = expert().limits(Limits::default().with_max_tool_calls(own)).build().unwrap();
        let mut conversation = Conversation::new("1");
        let output = asking(&expert, 1)
            .build()
            .unwrap()
            .run("go")
            .on(&mut conversation)
            .limits(Limits::default().with_max_tool_calls(of_run))
            .await
            .unwrap();
        assert_eq!(output.tool_calls, counted, "{own} {of_run}");
    }
}

#[tokio::test]
async fn own_limits_in_teams() {
    let endless = || restless("add", r#"{"a": 1, "b": 2}"#);
    let limits = || Limits::default().with_max_model_calls(2);
    let limited = |model: ScriptedModel| agent(model).name("limited").limits(limits());
    let team = ParallelAgent::new("team", [limited(endless()).build().unwrap(), says("other", "Fine.")]);
    let output = Agent::from(team).run("go").await.unwrap();
    assert_eq!((output.text.as_str(), output.model_calls), ("Fine.", 3));
    assert_eq!(
        transcript(&output.messages)[5],
        "limited: (No answer: exceeded 2 model calls; possible infinite loop)"
    );
    let team = SequentialAgent::new("team", [says("first", "Fine."), limited(endless()).build().unwrap()]);
    let failed = Agent::from(team).run("go").await.unwrap_err();
    assert_eq!(failed.error, AgentError::Limit(Limit::ModelCalls(2)));
    assert_eq!(failed.output.model_calls, 3);
    // An agent's limits end at a transfer.
    let next = agent(
        (0..4)
            .fold(ScriptedModel::new(), |model, n| {
                model.call("add", format!(r#"{{"a": {n}, "b": 2}}"#)).then()
            })
            .text("done"),
    )
    .name("next")
    .build()
    .unwrap();
    let transferring = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "next"}"#);
    let middle = limited(transferring).sub_agent(next).build().unwrap();
    let to_middle = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "limited"}"#);
    let root = agent(to_middle).name("root").sub_agent(middle).build().unwrap();
    let output = root.run("go").await.unwrap();
    assert_eq!((output.text.as_str(), output.model_calls), ("done", 7));
}

fn limits_of_runs() -> [(Limits, Limit); 4] {
    let most = Duration::from_millis(50);
    [
        (Limits::default().with_max_model_calls(5), Limit::ModelCalls(5)),
        (Limits::default().with_max_tokens(500), Limit::Tokens(500)),
        (Limits::default().with_max_cost(0.5), Limit::Cost(0.5)),
        (Limits::default().with_max_duration(most), Limit::Duration(most)),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_run_ends_the_run_within_a_parallel_group() {
    let endless = |name: &str| {
        let builder = agent(restless("wait", r#"{"ms": 3}"#)).name(name);
        builder.price(Price::per_million(1_000.0, 1_000.0)).build().unwrap()
    };
    let group = || ParallelAgent::new("group", [endless("endless"), says("quick", "Fine.")]);
    for (limits, limit) in limits_of_runs() {
        let repeated = limits.clone().with_max_repeated_calls(1_000);
        let grouped = || group().with_limits(repeated.clone());
        // The limits of the run, or of a group within a team.
        let teams: [(&str, Agent); 5] = [
            ("group", group().into()),
            ("nested", ParallelAgent::new("team", [group().into(), says("other", "Fine.")]).into()),
            ("sequence", SequentialAgent::new("team", [says("first", "Hi."), group().into()]).into()),
            ("own", SequentialAgent::new("team", [says("first", "Hi."), grouped().into()]).into()),
            ("own nested", ParallelAgent::new("team", [grouped().into(), says("other", "So.")]).into()),
        ];
        for (kind, team) in teams {
            let options = if kind.starts_with("own") {
                Options::new()
            } else {
                Options::new().with_limits(repeated.clone())
            };
            let mut conversation = Conversation::new("1");
            let ended = team.run("go").on(&mut conversation).options(options).await;
            assert_sendable(&conversation);
            if kind == "own nested" {
                let output = ended.unwrap();
                assert_eq!(output.text, "So.", "{limit}");
                let lines = transcript(&output.messages);
                assert!(lines.contains(&format!("group: (No answer: {limit})")), "{lines:?}");
                // The inner agents' messages stay, with results of calls.
                assert!(lines.contains(&"quick: Fine.".to_owned()), "{lines:?}");
                let results = lines.iter().filter(|line| line.starts_with("results:")).count();
                let calls = lines.iter().filter(|line| line.starts_with("endless:")).count();
                assert!(results > 0 && calls == results, "{lines:?}");
                continue;
            }
            assert_eq!(ended.unwrap_err().error, AgentError::Limit(limit), "{kind}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_store_does_not_keep_a_stopped_run() {
    for appends in 0..6 {
        for is_cancelled in [false, true] {
            let model = ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).call("wait", r#"{"ms": 10}"#);
            let agent = agent(model.text("done")).build().unwrap();
            // The store saves some appends, and then never answers.
            let left = AtomicU32::new(appends);
            let sessions = Sessions::new(Watched::new(&MemoryStore::new(), move |access| {
                let count =
                    || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                let hangs = access == Access::Append && count().is_err();
                async move { if hangs { std::future::pending().await } else { Ok(()) } }
            }));
            let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
            let options = if is_cancelled {
                cancelled_after(Duration::from_secs(1))
            } else {
                Options::new().with_limits(Limits::default().with_max_duration(Duration::from_secs(1)))
            };
            let begun = tokio::time::Instant::now();
            let ended = agent.run("go").on(&mut conversation).options(options).await;
            let case = format!("{appends} {is_cancelled}: {ended:?}");
            let Err(failed) = ended else {
                assert!(appends > 3, "{case}");
                continue;
            };
            let is_reason = if is_cancelled {
                failed.error == AgentError::Cancelled
            } else {
                matches!(failed.error, AgentError::Limit(Limit::Duration(_)))
            };
            assert!(is_reason, "{case}");
            assert_eq!(begun.elapsed().as_secs(), 6, "{case}");
            assert_sendable(&conversation);
        }
    }
}

#[tokio::test]
async fn a_call_is_counted_before_it_is_saved() {
    for streaming in [false, true] {
        let store = MemoryStore::new();
        let saved = Sessions::new(store.clone());
        let count = ClosureTool::new("count", "Counts.", move |_: Nothing| {
            let saved = saved.clone();
            async move {
                saved.user("ada").conversation("1").open().await.unwrap().latest_run().unwrap().tool_calls
            }
        });
        let tools = ToolRegistry::from_tools([count.unwrap()]).unwrap();
        let model = ScriptedModel::new().call("count", "{}").text("done");
        let agent = Agent::builder(model).tools(tools).streaming(streaming).build().unwrap();
        let output = agent.run("go").on(Sessions::new(store).user("ada").conversation("1")).await.unwrap();
        assert_eq!(transcript(&output.messages)[2], "results: 1", "{streaming}");
    }
}
