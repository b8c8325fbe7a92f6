//! Server faults: each is retried or reported, and no client hangs.
//!
//! | fault | outcome |
//! | --- | --- |
//! | 408, 409, 425, 429, 500, 502, 503, 529; `Retry-After` in seconds or as a date | retried |
//! | 429 with a `Retry-After` beyond the longest pause | reported, with the time |
//! | 400, 401, 403, 404 | reported at once, with the server's message |
//! | a redirect | reported at once: keys stay with their server |
//! | closed before, within, after the headers; within the body | retried |
//! | silent before the headers, within the body | retried after the timeout |
//! | slow, but never silent | answered |
//! | an empty body, HTML with 200, JSON cut or malformed | retried |
//! | an error in the middle of a stream, a malformed event, a stream without its end | retried |
//! | a stream of calls cut before the first is complete | retried |
//! | a stream of calls cut after one is complete | continues with its result |
//! | a head that is too large | reported at once |
//! | an endless body | reported at once, with bounded memory |

mod cases;
mod clients;
pub(crate) mod server;
pub(crate) mod speech;

use cases::{Case, Outcome, cases};
use clients::{Client, clients};
use server::{Reply, Server};
use speech::{Cut, Speech};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use toolkit_agent::{AgentBuilder, AgentError, Limits};
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::{Message, ModelError, ModelRetry};

const HANGS: Duration = Duration::from_secs(60);

fn reply(make: impl Fn(bool) -> Vec<server::Step> + Send + Sync + 'static) -> Reply {
    Arc::new(make)
}

fn quick(attempts: u32) -> ModelRetry {
    ModelRetry::new(attempts).with_pauses(Duration::from_millis(1), Duration::from_secs(5))
}

async fn ask(name: &str, agent: AgentBuilder, server: &Server) -> (Result<String, ModelError>, usize) {
    let ended = tokio::time::timeout(HANGS, agent.build().unwrap().run("hi")).await;
    let ended = ended.unwrap_or_else(|_| panic!("{name} hangs"));
    let answer = match ended.map_err(AgentError::from) {
        Ok(output) => Ok(output.text),
        Err(AgentError::Model(error)) => Err(error),
        Err(other) => panic!("{name}: {other}"),
    };
    (answer, server.asked().len())
}

async fn check(client: Client, streaming: bool, case: Case) -> Option<String> {
    let speech = client.speech;
    let fault = reply({
        let make = case.make;
        move |stream| make(speech, stream)
    });
    let good = reply(move |stream| speech.text(stream));
    let name = format!("{}, {}, {}", client.name, if streaming { "streamed" } else { "whole" }, case.name);
    let fails = |said: String| Some(format!("{name}: {said}"));
    let ask = async |replies: Vec<Reply>, attempts: u32| {
        let server = Server::start(replies).await;
        let agent =
            if case.takes_time { client.hurried_agent(&server.url) } else { client.agent(&server.url) };
        ask(&name, agent.retry(quick(attempts)).streaming(streaming), &server).await
    };
    let outcome = if streaming { case.streamed } else { case.whole };
    match outcome {
        Outcome::Never => None,
        Outcome::Answers => {
            let asked = ask(vec![fault], 1).await;
            (asked != (Ok("done".to_owned()), 1)).then(|| fails(format!("{asked:?}")))?
        }
        Outcome::Again(kinds) => {
            let asked = ask(vec![fault.clone(), good], 3).await;
            if asked != (Ok("done".to_owned()), 2) {
                return fails(format!("not retried: {asked:?}"));
            }
            let (answer, _) = ask(vec![fault], 1).await;
            let is_reported = answer.as_ref().is_err_and(|error| kinds.contains(&error.kind()));
            (!is_reported).then(|| fails(format!("{answer:?}")))?
        }
        Outcome::Reported(kind, words) => {
            let (answer, asked) = ask(vec![fault, good], 3).await;
            let is_reported = asked == 1
                && answer
                    .as_ref()
                    .is_err_and(|error| error.kind() == kind && error.to_string().contains(words));
            (!is_reported).then(|| fails(format!("asked {asked} times: {answer:?}")))?
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_retried_or_reported() {
    let mut waiting = JoinSet::new();
    let mut wrong = Vec::new();
    let all = clients().into_iter().flat_map(|client| cases().into_iter().map(move |case| (client, case)));
    for (client, case) in all.filter(|(client, case)| client.is_bounded || !case.only_bounded) {
        for streaming in [false, true] {
            let checked = check(client, streaming, case);
            // Cases with delays run side by side, and others one by one, so that load does not delay them.
            if case.takes_time { drop(waiting.spawn(checked)) } else { wrong.extend(checked.await) }
        }
    }
    wrong.extend(waiting.join_all().await.into_iter().flatten());
    wrong.sort();
    assert!(wrong.is_empty(), "{} fail:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn retry_after_is_reported() {
    for client in clients() {
        let busy = reply(|_| server::respond("429 Too Many Requests", "retry-after: 3600\r\n", "{}"));
        let server = Server::start(vec![busy]).await;
        let (answer, asked) = ask(client.name, client.agent(&server.url).retry(quick(3)), &server).await;
        let error = answer.unwrap_err();
        assert_eq!((error.retry_after(), asked), (Some(Duration::from_secs(3600)), 1), "{}", client.name);
    }
}

#[tokio::test]
async fn an_attempt_that_received_nothing_is_no_model_call() {
    for client in clients() {
        let empty = reply(|_| vec![server::stream_head(), server::stream_end()]);
        let server = Server::start(vec![empty, reply(move |stream| client.speech.text(stream))]).await;
        let agent = client.agent(&server.url).limits(Limits::default().with_max_model_calls(1));
        let (answer, asked) = ask(client.name, agent.retry(quick(2)), &server).await;
        assert_eq!((answer.as_deref(), asked), (Ok("done"), 2), "{}", client.name);
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported() {
    for client in clients() {
        let url = Server::start(Vec::new()).await.url.clone();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let agent = client.agent(&url).retry(quick(1)).build().unwrap();
        let Err(AgentError::Model(error)) = agent.run("hi").await.map_err(AgentError::from) else {
            panic!("{}", client.name)
        };
        assert_eq!(error.kind(), toolkit_llm::ModelErrorKind::Connection, "{}: {error}", client.name);
    }
}

fn add() -> (ToolRegistry, Arc<AtomicUsize>) {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Add {
        a: i64,
        b: i64,
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let add = ClosureTool::new("add", "Adds.", move |Add { a, b }: Add| {
        count.fetch_add(1, Ordering::Relaxed);
        a + b
    });
    (ToolRegistry::from_tools([add.unwrap()]).unwrap(), runs)
}

fn assert_answered(messages: &[Message], name: &str) {
    for pair in messages.windows(2) {
        if let [Message::Assistant(said), next] = pair
            && !said.calls.is_empty()
        {
            let Message::Tool(given) = next else { panic!("{name}: {messages:?}") };
            assert_eq!(given.results.len(), said.calls.len(), "{name}");
        }
    }
}

#[tokio::test]
async fn calls_and_results_reach_the_server() {
    for client in clients() {
        for streaming in [false, true] {
            let speech = client.speech;
            let server = Server::start(vec![
                reply(move |stream| speech.calls(stream)),
                reply(move |stream| speech.text(stream)),
            ]);
            let (server, (tools, runs)) = (server.await, add());
            let agent = client.agent(&server.url).tools(tools).streaming(streaming).build().unwrap();
            let output = agent.run("1 + 2, 3 + 4?").await.unwrap_or_else(|e| panic!("{}: {e}", client.name));
            let name = format!("{} ({streaming})", client.name);
            assert_eq!((output.text.as_str(), runs.load(Ordering::Relaxed)), ("done", 2), "{name}");
            assert_answered(&output.messages, &name);
            // Results have call ids where the API has them.
            let asked = server.asked();
            assert_eq!(asked.len(), 2, "{name}");
            for expected in ["\"3\"", "\"7\""] {
                let body = asked[1].body.replace("\\\"", "\"");
                let unquoted = expected.trim_matches('"');
                let found = body.contains(expected) || body.contains(&format!(":{unquoted}"));
                assert!(found, "{name}: {}", asked[1].body);
            }
            if speech != Speech::Gemini {
                assert!(asked[1].body.contains("call_2"), "{name}: {}", asked[1].body);
            }
        }
    }
}

#[tokio::test]
async fn a_cut_stream_continues_from_complete_calls() {
    for client in clients().into_iter().filter(|client| client.streams_calls) {
        for cut in [Cut::BeforeTheFirstCall, Cut::InArguments, Cut::AfterTheFirstCall] {
            for silent in [false, true] {
                // The model continues from the result of a call that ran before the cut.
                let goes_on = client.calls_at_once && matches!(cut, Cut::AfterTheFirstCall);
                let speech = client.speech;
                let broken = reply(move |_| {
                    let mut steps = speech.cut_calls(cut);
                    // The connection breaks, or the stream ends as if complete.
                    steps.extend(silent.then(server::stream_end));
                    steps
                });
                let mut replies = vec![broken];
                if !goes_on {
                    replies.push(reply(move |stream| speech.calls(stream)));
                }
                replies.push(reply(move |stream| speech.text(stream)));
                let expected = replies.len();
                let server = Server::start(replies).await;
                let (tools, runs) = add();
                let agent = client.agent(&server.url).tools(tools).retry(quick(3)).build().unwrap();
                let name = format!("{} {cut:?} {silent}", client.name);
                let output = tokio::time::timeout(HANGS, agent.run("1 + 2, 3 + 4?")).await;
                let output = output.expect(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(output.text, "done", "{name}");
                assert_eq!(server.asked().len(), expected, "{name}: {:#?}", output.messages);
                assert_eq!(runs.load(Ordering::Relaxed), if goes_on { 1 } else { 2 }, "{name}");
                assert_answered(&output.messages, &name);
            }
        }
    }
}

#[tokio::test]
async fn an_answer_ends_with_its_last_event_though_the_connection_stays_open() {
    for client in clients().into_iter().filter(|client| client.speech == Speech::Chat) {
        let open = reply(|_| {
            let mut steps = Speech::Chat.text(true);
            steps.pop();
            steps.push(server::Step::Silence);
            steps
        });
        let server = Server::start(vec![open]).await;
        let agent = client.agent(&server.url).retry(quick(1)).build().unwrap();
        let output = tokio::time::timeout(HANGS, agent.run("hi")).await;
        assert_eq!(output.expect(client.name).unwrap().text, "done", "{}", client.name);
    }
}

#[tokio::test]
async fn keys_and_headers_follow_each_api() {
    for client in clients() {
        for streaming in [false, true] {
            let speech = client.speech;
            let server = Server::start(vec![reply(move |stream| speech.text(stream))]).await;
            let agent = client.agent(&server.url).streaming(streaming).build().unwrap();
            agent.run("hi").await.unwrap();
            let asked = server.asked();
            for expected in client.expects {
                let lacks = format!("{} lacks {expected}:\n{}", client.name, asked[0].head);
                assert!(asked[0].head.contains(expected), "{lacks}");
            }
            assert!(asked[0].head.contains("x-extra: yes"), "{}: {}", client.name, asked[0].head);
            assert_eq!(asked[0].wants_stream(), streaming, "{}", client.name);
        }
    }
}

#[tokio::test]
async fn unsendable_requests_are_reported() {
    for client in clients() {
        let agent = client.agent_with_key("http://127.0.0.1:1", "a\nb").retry(quick(1)).build().unwrap();
        let Err(AgentError::Model(error)) = agent.run("hi").await.map_err(AgentError::from) else {
            panic!("{}", client.name)
        };
        assert!(!error.to_string().contains("a\nb"), "{}: {error}", client.name);
        let agent = client.agent("no address").retry(quick(1)).build().unwrap();
        let Err(AgentError::Model(_)) = agent.run("hi").await.map_err(AgentError::from) else {
            panic!("{}", client.name)
        };
    }
}
