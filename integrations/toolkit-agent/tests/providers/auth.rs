//! Access tokens and credentials that a program renews.

use crate::faults::server::{Reply, Server, respond};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use toolkit_llm::{ChatModel, Message, ModelError, ModelErrorKind, ModelRequest};
use toolkit_llm_http::{AccessToken, AwsCredentials, Bedrock, GenAi, HttpLimits, OpenAi};

const HOUR: Duration = Duration::from_secs(3_600);

fn answer() -> Reply {
    let body = r#"{"choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]}"#;
    Arc::new(move |_| respond("200 OK", "content-type: application/json\r\n", body))
}

fn refused(status: &'static str) -> Reply {
    Arc::new(move |_| respond(status, "", r#"{"error": {"message": "the token has expired"}}"#))
}

fn request() -> ModelRequest {
    ModelRequest::new([Message::user("hi")])
}

/// Returns a client with tokens `t1`, `t2` and so on, and their number.
fn client(server: &Server, lifetime: Option<Duration>) -> (OpenAi, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let client = OpenAi::new().with_base_url(&server.url).with_token_source(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            let token = AccessToken::new(format!("t{number}"));
            Ok::<_, ModelError>(lifetime.map_or(token.clone(), |lifetime| token.with_lifetime(lifetime)))
        }
    });
    (client, count)
}

fn tokens(server: &Server) -> Vec<String> {
    let asked = server.asked();
    let of = |head: &str| {
        head.split("authorization: bearer ").nth(1).and_then(|rest| rest.lines().next()).map(str::to_owned)
    };
    asked.iter().map(|asked| of(&asked.head).unwrap_or_default()).collect()
}

#[tokio::test]
async fn a_token_is_reused_until_it_expires() {
    for (lifetime, expected) in [
        (Some(HOUR), ["t1", "t1", "t1"]),
        (Some(Duration::MAX), ["t1", "t1", "t1"]),
        // The margin before expiry is one minute.
        (Some(Duration::from_secs(30)), ["t1", "t2", "t3"]),
        (Some(Duration::ZERO), ["t1", "t2", "t3"]),
        (None, ["t1", "t2", "t3"]),
    ] {
        let server = Server::start(vec![answer()]).await;
        let (client, _) = client(&server, lifetime);
        for name in ["a", "b", "c"] {
            client.chat(name).respond(request()).await.unwrap();
        }
        assert_eq!(tokens(&server), expected, "{lifetime:?}");
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    // A refused new token is not replaced.
    let server = Server::start(vec![refused("401 Unauthorized"), answer()]).await;
    let (client, _) = client(&server, Some(HOUR));
    let model = client.chat("m");
    let error = model.respond(request()).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ModelErrorKind::Unauthorized, Some(401)));
    assert_eq!(tokens(&server), ["t1"]);
}

#[tokio::test]
async fn a_reused_token_that_the_server_refuses_is_replaced_and_the_request_sent_again() {
    let server = Server::start(vec![answer(), refused("401 Unauthorized"), answer()]).await;
    let (client, _) = client(&server, Some(HOUR));
    let model = client.chat("m");
    for _ in 0..2 {
        assert_eq!(model.respond(request()).await.unwrap().message.text, "done");
    }
    assert_eq!(tokens(&server), ["t1", "t1", "t2"]);
    let asked = server.asked();
    assert_eq!(asked[1].body, asked[2].body);
    let server = Server::start(vec![answer(), refused("403 Forbidden")]).await;
    let (client, count) = self::client(&server, Some(HOUR));
    let model = client.chat("m");
    model.respond(request()).await.unwrap();
    assert_eq!(model.respond(request()).await.unwrap_err().status(), Some(403));
    assert_eq!((tokens(&server).len(), count.load(Ordering::SeqCst)), (2, 1));
}

/// A refused token is replaced, streamed or not.
#[tokio::test]
async fn tokens_for_genai_are_reused_and_replaced() {
    let streamed: Reply = Arc::new(|_| {
        let piece = r#"{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "done"}}]}"#;
        let end = r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#;
        let body = format!("data: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        respond("200 OK", "content-type: text/event-stream\r\n", body)
    });
    for is_streamed in [false, true] {
        let done = if is_streamed { streamed.clone() } else { answer() };
        let server = Server::start(vec![done.clone(), refused("401 Unauthorized"), done]).await;
        let count = Arc::new(AtomicUsize::new(0));
        let model = GenAi::new()
            .with_base_url(format!("{}/v1", server.url))
            .with_token_source(move || {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                async move { Ok::<_, ModelError>(AccessToken::new(format!("t{number}")).with_lifetime(HOUR)) }
            })
            .model("openai::m");
        for _ in 0..2 {
            let response = if is_streamed {
                model.stream(request()).await.unwrap().collect().await
            } else {
                model.respond(request()).await
            };
            assert_eq!(response.unwrap().message.text, "done", "{is_streamed}");
        }
        assert_eq!(tokens(&server), ["t1", "t1", "t2"], "{is_streamed}");
    }
    let server = Server::start(vec![answer()]).await;
    let failed = GenAi::new()
        .with_base_url(&server.url)
        .with_token_source(|| async { Err::<String, _>("the metadata server is away") });
    let error = failed.model("openai::m").respond(request()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unauthorized);
    assert_eq!(error.message(), "no access token for the provider: the metadata server is away");
    let illegal = GenAi::new()
        .with_base_url(&server.url)
        .with_token_source(|| async { Ok::<_, ModelError>("se\ncret") });
    let error = illegal.model("openai::m").respond(request()).await.unwrap_err();
    assert!(!error.message().contains("cret"), "{error}");
    assert_eq!(server.asked().len(), 0);
}

/// Servers repeat secrets in error messages, and a long body may be cut within one.
#[tokio::test]
async fn secrets_are_not_in_the_errors_of_genai() {
    let token = || async { Ok::<_, ModelError>(AccessToken::new("token-secret").with_lifetime(HOUR)) };
    let plain = GenAi::new().with_header("x-team-key", "header-secret");
    let clients = [plain.clone().with_key("key-secret"), plain.with_token_source(token)];
    let secrets = ["key-secret", "token-secret", "header-secret"];
    for (status, kind) in [
        ("401 Unauthorized", "application/json"),
        ("400 Bad Request", "text/plain"),
        ("200 OK", "application/json"),
        ("200 OK", "text/html"),
    ] {
        for (client, own) in clients.iter().zip(secrets) {
            for long in [false, true] {
                let filler = if long { "x".repeat(300 - 4) } else { String::new() };
                let body = match (status, kind) {
                    (_, "application/json") if !long => {
                        format!(r#"{{"error": {{"message": "wrong: {own} header-secret"}}}}"#)
                    }
                    _ => format!("{filler}{own} header-secret"),
                };
                let head = format!("content-type: {kind}\r\n");
                let reply: Reply = Arc::new(move |_| respond(status, &head, &body));
                for model in ["openai::m", "anthropic::m"] {
                    for streamed in [false, true] {
                        let server = Server::start(vec![reply.clone()]).await;
                        let model = client.clone().with_base_url(format!("{}/v1", server.url)).model(model);
                        let error = if streamed {
                            match model.stream(request()).await {
                                Ok(stream) => stream.collect().await.unwrap_err(),
                                Err(error) => error,
                            }
                        } else {
                            model.respond(request()).await.unwrap_err()
                        };
                        // Without its last letters, a secret is cut.
                        let shown = secrets.iter().any(|secret| error.message().contains(&secret[..4]));
                        assert!(!shown, "{status} {kind} {streamed}: {}", error.message());
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn credentials_are_renewed_after_their_refusal() {
    let body = r#"{"output": {"message": {"role": "assistant", "content": [{"text": "done"}]}}, "stopReason": "end_turn"}"#;
    let answer: Reply = Arc::new(move |_| respond("200 OK", "content-type: application/json\r\n", body));
    let expired: Reply = Arc::new(|_| respond("403 Forbidden", "", r#"{"Message": "The token is expired"}"#));
    let server = Server::start(vec![answer.clone(), expired, answer]).await;
    let count = Arc::new(AtomicUsize::new(0));
    let bedrock =
        Bedrock::new("eu-central-1").with_base_url(&server.url).with_credentials_source(move || {
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            let credentials =
                AwsCredentials::new(format!("akid{number}"), "s").with_expiry(SystemTime::now() + HOUR);
            async move { Ok::<_, ModelError>(credentials) }
        });
    let model = bedrock.model("m");
    for _ in 0..2 {
        assert_eq!(model.respond(request()).await.unwrap().message.text, "done");
    }
    let ids: Vec<bool> = ["akid1/", "akid1/", "akid2/"]
        .iter()
        .zip(server.asked())
        .map(|(id, asked)| asked.head.contains(&format!("authorization: aws4-hmac-sha256 credential={id}")))
        .collect();
    assert_eq!(ids, [true; 3]);
}

#[tokio::test]
async fn failures_of_a_source_are_clear_and_reach_no_server() {
    let server = Server::start(vec![answer()]).await;
    let openai = || OpenAi::new().with_base_url(&server.url);
    let limits = HttpLimits::default().with_idle(Duration::from_millis(50));
    let ask = async |client: OpenAi| client.chat("m").respond(request()).await.unwrap_err();
    let failed = openai().with_token_source(|| async { Err::<String, _>("the metadata server is away") });
    let error = ask(failed).await;
    assert_eq!(error.kind(), ModelErrorKind::Unauthorized);
    assert_eq!(error.message(), "no access token for OpenAI: the metadata server is away");
    let empty = ask(openai().with_token_source(|| async { Ok::<_, ModelError>(" \n") })).await;
    assert_eq!(empty.message(), "no access token for OpenAI: the source has returned an empty string");
    let hanging = openai().with_limits(limits).with_token_source(|| async {
        std::future::pending::<()>().await;
        Ok::<_, ModelError>("never")
    });
    let error = ask(hanging).await;
    assert_eq!(error.kind(), ModelErrorKind::TimedOut);
    assert!(error.message().contains("has not answered within 0.05 s"), "{error}");
    // A `ModelError` passes unchanged, so that the program decides about retries.
    let own = ModelError::new(ModelErrorKind::Unavailable, "try later");
    let same = own.clone();
    let passed = ask(openai().with_token_source(move || {
        let own = own.clone();
        async move { Err::<String, _>(own) }
    }))
    .await;
    assert_eq!(passed, same);
    let illegal = ask(openai().with_token_source(|| async { Ok::<_, ModelError>("se\ncret") })).await;
    assert!(!illegal.message().contains("cret"), "{illegal}");
    let keyless = ask(OpenAi::new().with_base_url(&server.url).with_key("se\ncret")).await;
    assert!(!keyless.message().contains("cret"), "{keyless}");
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_wait_for_one_token() {
    let server = Server::start(vec![answer()]).await;
    let (client, count) = client(&server, Some(HOUR));
    let model = client.chat("m");
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let model = model.clone();
        asked.spawn(async move { model.respond(request()).await.unwrap() });
    }
    assert_eq!(asked.join_all().await.len(), 8);
    assert_eq!((tokens(&server), count.load(Ordering::SeqCst)), (vec!["t1".to_owned(); 8], 1));
}

proptest! {
    #![proptest_config(crate::support::cases(24))]

    /// For every series of refusals, the requests carry the tokens of a simple model: a token is used until it is
    /// refused, a reused one is replaced at once, and a new one that is refused fails the request.
    #[test]
    fn tokens_follow_every_series_of_refusals(refusals in prop::collection::vec(any::<bool>(), 1..10)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let replies: Vec<Reply> =
                refusals.iter().map(|is_refused| if *is_refused { refused("401 Unauthorized") } else { answer() }).collect();
            let mut left: VecDeque<bool> = refusals.into();
            let server = Server::start(replies).await;
            let (client, _) = client(&server, Some(HOUR));
            let model = client.chat("m");
            let sent = Mutex::new(Vec::new());
            let mut latest = 0;
            let mut is_kept = false;
            let mut send = |is_reused: &mut bool| {
                *is_reused = is_kept;
                if !is_kept {
                    latest += 1;
                    is_kept = true;
                }
                sent.lock().unwrap().push(format!("t{latest}"));
                let is_refused = left.pop_front().unwrap_or_default();
                if is_refused && *is_reused {
                    is_kept = false;
                }
                (is_refused, left.is_empty())
            };
            loop {
                let mut is_reused = false;
                let (is_refused, mut is_last) = send(&mut is_reused);
                let mut expected = !is_refused;
                if is_refused && is_reused {
                    if is_last {
                        break;
                    }
                    let (again, last) = send(&mut is_reused);
                    expected = !again;
                    is_last = last;
                }
                assert_eq!(model.respond(request()).await.is_ok(), expected);
                if is_last {
                    break;
                }
            }
            let sent = sent.into_inner().unwrap();
            let tokens = tokens(&server);
            assert_eq!(&sent[..tokens.len()], tokens);
        });
    }
}
