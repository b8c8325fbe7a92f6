//! Servers that fail, in every way that was seen: each failure passes or is told, and nothing hangs.
//!
//! | what the server does | what becomes of it |
//! | --- | --- |
//! | 408, 429, 500, 502, 503, 529; `Retry-After` in seconds or as a date | asked again |
//! | 429 with a `Retry-After` beyond patience | told, with the time |
//! | 400, 401, 403, 404 | told at once, with the server's words |
//! | a redirect | told at once: keys go to no other address |
//! | closed before, within, after the headers; within the body | asked again |
//! | silent before the headers, within the body | asked again, after the limit |
//! | slow, but never silent | waited for |
//! | an empty body, HTML with 200, JSON cut or malformed | asked again |
//! | an error in the middle of a stream, a malformed event, a stream without its end | asked again |
//! | a stream of calls cut before the first is complete | asked again |
//! | a stream of calls cut after one is complete | goes on with its result |
//! | a body without end | told at once, with bounded memory |

mod cases;
mod clients;
pub(crate) mod server;
mod speech;

use cases::{Case, Outcome, cases};
use clients::{Client, clients};
use server::{Reply, Server};
use speech::{Cut, Speech};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use toolkit_agent::{AgentBuilder, AgentError, Message, ModelError, ModelRetry};
use toolkit_core::{ClosureTool, ToolRegistry};

/// Longer than anything here may take, and shorter than anybody's patience.
const HANGS: Duration = Duration::from_secs(60);

fn reply(make: impl Fn(bool) -> Vec<server::Step> + Send + Sync + 'static) -> Reply {
    Arc::new(make)
}

fn quick(attempts: u32) -> ModelRetry {
    ModelRetry::new(attempts).with_pauses(Duration::from_millis(1), Duration::from_secs(5))
}

/// What comes of a question, and how often the server was asked.
async fn ask(name: &str, agent: AgentBuilder, server: &Server) -> (Result<String, ModelError>, usize) {
    let ended = tokio::time::timeout(HANGS, agent.run("hi")).await;
    let ended = ended.unwrap_or_else(|_| panic!("{name} hangs"));
    let answer = match ended {
        Ok(output) => Ok(output.text),
        Err(AgentError::Model(error)) => Err(error),
        Err(other) => panic!("{other}"),
    };
    (answer, server.asked().len())
}

/// What is wrong with what comes of a case.
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
        let agent = match case.takes_time {
            true => client.hurried_agent(&server.url),
            false => client.agent(&server.url),
        };
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
                return fails(format!("not asked again: {asked:?}"));
            }
            let (answer, _) = ask(vec![fault], 1).await;
            let is_told = answer.as_ref().is_err_and(|error| kinds.contains(&error.kind));
            (!is_told).then(|| fails(format!("{answer:?}")))?
        }
        Outcome::Told(kind, words) => {
            let (answer, asked) = ask(vec![fault, good], 3).await;
            let is_told = asked == 1
                && answer
                    .as_ref()
                    .is_err_and(|error| error.kind == kind && error.to_string().contains(words));
            (!is_told).then(|| fails(format!("asked {asked} times: {answer:?}")))?
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_passes_or_is_told() {
    let (mut waiting, mut wrong) = (JoinSet::new(), Vec::new());
    let all = clients().into_iter().flat_map(|client| cases().into_iter().map(move |case| (client, case)));
    for (client, case) in all.filter(|(client, case)| client.is_bounded || !case.only_bounded) {
        for streaming in [false, true] {
            let checked = check(client, streaming, case);
            // Those that only wait do so side by side; the others come one after another, so that none is late
            // because of them.
            match case.takes_time {
                true => drop(waiting.spawn(checked)),
                false => wrong.extend(checked.await),
            }
        }
    }
    wrong.extend(waiting.join_all().await.into_iter().flatten());
    wrong.sort();
    assert!(wrong.is_empty(), "{} fail:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn the_wish_of_the_server_is_told() {
    for client in clients() {
        let busy = reply(|_| server::respond("429 Too Many Requests", "retry-after: 3600\r\n", "{}"));
        let server = Server::start(vec![busy]).await;
        let (answer, asked) = ask(client.name, client.agent(&server.url).retry(quick(3)), &server).await;
        let error = answer.unwrap_err();
        assert_eq!((error.retry_after, asked), (Some(Duration::from_secs(3600)), 1), "{}", client.name);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    for client in clients() {
        // Nobody listens at a port that was given back.
        let url = Server::start(Vec::new()).await.url.clone();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let agent = client.agent(&url).retry(quick(1)).build().unwrap();
        let Err(AgentError::Model(error)) = agent.run("hi").await else { panic!("{}", client.name) };
        assert_eq!(error.kind, toolkit_agent::ModelErrorKind::Connection, "{}: {error}", client.name);
    }
}

/// The tool `add`, and how often it ran.
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

/// What the history must hold after a run: an answer to every call.
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
async fn calls_come_through() {
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
            // The results reach the model, each with the id of its call where the API has ids.
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
async fn a_cut_stream_of_calls_goes_on_where_it_can() {
    for client in clients().into_iter().filter(|client| client.streams_calls) {
        for cut in [Cut::BeforeTheFirstCall, Cut::InArguments, Cut::AfterTheFirstCall] {
            for silent in [false, true] {
                // Where a call runs before the answer is complete, the model goes on from its result.
                let goes_on = client.calls_at_once && matches!(cut, Cut::AfterTheFirstCall);
                let speech = client.speech;
                let broken = reply(move |_| {
                    let mut steps = speech.cut_calls(cut);
                    // Either the connection breaks, or the stream ends as if it were complete.
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
async fn keys_and_headers_go_where_each_api_wants_them() {
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
async fn what_cannot_be_sent_is_told() {
    for client in clients() {
        let agent = client.agent_with_key("http://127.0.0.1:1", "a\nb").retry(quick(1)).build().unwrap();
        let Err(AgentError::Model(error)) = agent.run("hi").await else { panic!("{}", client.name) };
        assert!(!error.to_string().contains("a\nb"), "{}: {error}", client.name);
        let agent = client.agent("no address").retry(quick(1)).build().unwrap();
        let Err(AgentError::Model(_)) = agent.run("hi").await else { panic!("{}", client.name) };
    }
}
