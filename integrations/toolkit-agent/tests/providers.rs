//! Addresses, authentication and bodies of the clients, against a server on loopback.

mod auth;
mod binary;
mod cases;

use crate::faults::server::{Asked, Reply, Server, respond};
use binary::message;
use cases::{AWS, Case, cases};
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit_agent::Agent;
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::{ChatModel, Message, ModelErrorKind, ModelOptions, ModelRequest};
use toolkit_llm_http::{AzureOpenAi, Bedrock, Cohere, Mistral, Vertex};

fn reply(body: Vec<u8>, media_type: &str) -> Reply {
    let head = format!("content-type: {media_type}\r\n");
    Arc::new(move |_| respond("200 OK", &head, &body))
}

fn request() -> ModelRequest {
    ModelRequest::new([Message::user("hi")])
}

fn check(case: &Case, asked: &Asked, line: &str, accept: &str) {
    let name = case.name;
    assert_eq!(asked.line, line, "{name}");
    for header in [case.header, accept, "content-type: application/json\r"] {
        assert!(asked.head.contains(header), "{name}: no `{header}` in {}", asked.head);
    }
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    for (path, value) in &case.fields {
        assert_eq!(body.pointer(path), Some(value), "{name}: {path}");
    }
    for field in case.missing {
        assert_eq!(body.get(field), None, "{name}");
    }
}

#[tokio::test]
async fn each_client_sends_to_its_address_and_reads_both_kinds_of_answers() {
    for case in cases() {
        let whole = reply(case.whole.to_string().into_bytes(), "application/json");
        let server = Server::start(vec![whole, reply(case.streamed.clone(), case.media_type)]).await;
        let model = (case.model)(&server.url);
        let answer = model.respond(request()).await.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(answer.message.text, "done", "{}", case.name);
        let stream = model.stream(request()).await.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let streamed = stream.collect().await.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(streamed.message.text, "done", "{}", case.name);
        let [first, second] = &server.asked()[..] else { panic!("two requests") };
        check(&case, first, case.lines[0], "accept: application/json\r");
        check(&case, second, case.lines[1], &format!("accept: {}\r", case.media_type));
        let shown = format!("{model:?}");
        assert!(
            ["secret", "microsoft", "gcloud", "private", "session"].iter().all(|it| !shown.contains(it)),
            "{shown}"
        );
    }
}

/// They are also cut within events and binary messages.
#[tokio::test]
async fn a_cut_stream_is_the_whole_answer_or_an_error_that_can_be_retried() {
    const CUTS: usize = 24;
    for case in cases() {
        let positions = (0..CUTS).map(|number| case.streamed.len() * number / CUTS);
        let replies = positions.map(|end| reply(case.streamed[..end].to_vec(), case.media_type)).collect();
        let server = Server::start(replies).await;
        let model = (case.model)(&server.url);
        let mut errors = 0;
        for number in 0..CUTS {
            let ended = match model.stream(request()).await {
                Ok(stream) => stream.collect().await,
                Err(error) => Err(error),
            };
            match ended {
                Ok(answer) => assert_eq!(answer.message.text, "done", "{}, cut {number}", case.name),
                Err(error) => {
                    assert!(error.is_retryable(), "{}, cut {number}: {error}", case.name);
                    errors += 1;
                }
            }
        }
        // The last events only announce the end.
        assert!(errors >= CUTS / 4, "{}: {errors} errors", case.name);
    }
}

/// AWS, for example, repeats the session token for a wrong signature.
#[tokio::test]
async fn secrets_that_a_server_repeats_are_not_in_errors() {
    let words = "Refused: secret, Bearer gcloud and microsoft\nx-amz-security-token:session-token\nfor anthropic-beta.";
    let body = json!({"message": words}).to_string();
    for case in cases() {
        for (status, media_type) in [("400 Bad Request", "application/json"), ("200 OK", "text/html")] {
            let head = format!("content-type: {media_type}\r\n");
            let body = body.clone();
            let server = Server::start(vec![Arc::new(move |_| respond(status, &head, &body))]).await;
            let Err(error) = (case.model)(&server.url).stream(request()).await else {
                panic!("{}", case.name)
            };
            let secret = case.secret;
            assert!(words.contains(secret) && !error.message().contains(secret), "{}: {error}", case.name);
            assert!(
                error.message().contains("Refused") && error.message().contains("anthropic-beta"),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn tool_calls_of_bedrock_start_while_the_answer_is_streamed() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Add {
        a: i64,
        b: i64,
    }
    let call = [
        message("messageStart", &json!({"role": "assistant"})),
        message(
            "contentBlockStart",
            &json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t_1", "name": "add"}}}),
        ),
        message(
            "contentBlockDelta",
            &json!({"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{\"a\": 17, \"b\""}}}),
        ),
        message(
            "contentBlockDelta",
            &json!({"contentBlockIndex": 0, "delta": {"toolUse": {"input": ": 25}"}}}),
        ),
        message("contentBlockStop", &json!({"contentBlockIndex": 0})),
        message("messageStop", &json!({"stopReason": "tool_use"})),
    ];
    let text = cases().into_iter().find(|case| case.name.starts_with("Bedrock")).unwrap().streamed;
    let server = Server::start(vec![reply(call.concat(), AWS), reply(text, AWS)]).await;
    let add = ClosureTool::new("add", "Adds.", |Add { a, b }: Add| a + b).unwrap();
    let model = Bedrock::new("us-east-1").with_base_url(&server.url).with_key("k").model("m");
    let agent = Agent::builder(model).tools(ToolRegistry::from_tools([add]).unwrap());
    let output = agent.build().unwrap().run("What is 17 + 25?").await.unwrap();
    assert_eq!((output.text.as_str(), output.tool_calls), ("done", 1));
    let body: Value = serde_json::from_str(&server.asked()[1].body).unwrap();
    assert_eq!(body["messages"][2]["content"][0]["toolResult"]["toolUseId"], "t_1");
    assert!(body["messages"][2].to_string().contains("42"), "{body}");
}

#[tokio::test]
async fn mistral_gets_options_under_its_own_names() {
    let case = cases().into_iter().find(|case| case.name == "Mistral").unwrap();
    let server = Server::start(vec![reply(case.whole.to_string().into_bytes(), "application/json")]).await;
    let options = ModelOptions::new()
        .with_max_output_tokens(9)
        .with_seed(7)
        .with_metadata("team", "a")
        .with_user_id("u");
    let answer = (case.model)(&server.url).respond(request().with_options(options)).await.unwrap();
    let body: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    let expected = json!({"model": "mistral-large", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9,
        "random_seed": 7, "metadata": {"team": "a"}});
    assert_eq!(body, expected);
    let lost: Vec<&str> = answer.losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(lost, ["/options/user_id"]);
}

#[tokio::test]
async fn missing_authentication_fails_before_any_request() {
    for (model, words) in [
        (AzureOpenAi::new("https://x.openai.azure.com").chat("m"), "`AZURE_OPENAI_API_KEY`"),
        (AzureOpenAi::new("https://x.services.ai.azure.com:443/openai").chat("m"), "`with_token_source`"),
        (Vertex::new("p", "global").gemini("m"), "`with_token_source`"),
        (Vertex::new("p", "eu").anthropic("m"), "access token for Vertex AI"),
        (Bedrock::new("us-east-1").model("m"), "`AWS_BEARER_TOKEN_BEDROCK`"),
        (Cohere::new().model("m"), "`CO_API_KEY`"),
        (Mistral::new().model("m"), "`MISTRAL_API_KEY`"),
    ] {
        let error = model.respond(request()).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Unauthorized);
        assert!(error.message().contains(words), "{error}");
    }
}

#[test]
fn addresses_follow_the_location_and_the_region() {
    let shown = |client: &dyn std::fmt::Debug| format!("{client:?}");
    for (location, host) in [
        ("global", "https://aiplatform.googleapis.com"),
        ("us", "https://aiplatform.us.rep.googleapis.com"),
        ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ("us-east5", "https://us-east5-aiplatform.googleapis.com"),
    ] {
        let shown = shown(&Vertex::new("p", location));
        assert!(shown.contains(&format!("\"{host}\"")), "{shown}");
    }
    for (region, host) in [
        ("eu-central-1", "https://bedrock-runtime.eu-central-1.amazonaws.com"),
        ("cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
    ] {
        let shown = shown(&Bedrock::new(region));
        assert!(shown.contains(&format!("\"{host}\"")), "{shown}");
    }
}
