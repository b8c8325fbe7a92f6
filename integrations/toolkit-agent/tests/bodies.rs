//! Streams in another form than announced, from a server on loopback.

use crate::faults::server::{Reply, Server, Step, chunk, respond, stream_end, stream_head};
use crate::faults::speech::Speech;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use toolkit_llm::model::BoxModel;
use toolkit_llm::{ChatModel, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, StreamEvent};
use toolkit_llm_http::{Anthropic, Bedrock, Cohere, Gemini, Mistral, Ollama, OpenAi};

fn reply(head: &str, body: &str) -> Reply {
    let head = head.to_owned();
    let body = body.to_owned();
    Arc::new(move |_| respond("200 OK", &head, &body))
}

fn models(url: &str) -> [(&'static str, BoxModel); 5] {
    let openai = OpenAi::new().with_base_url(url);
    [
        ("chat", openai.chat("m").boxed()),
        ("responses", openai.responses("m").boxed()),
        ("messages", Anthropic::new().with_base_url(url).model("m").boxed()),
        ("gemini", Gemini::new().with_base_url(url).model("m").boxed()),
        ("ollama", Ollama::new().with_base_url(url).model("m").boxed()),
    ]
}

fn answers(name: &str) -> (Value, Vec<Value>) {
    let speech = match name {
        "chat" => Speech::Chat,
        "responses" => Speech::Responses,
        "messages" => Speech::Messages,
        "gemini" => Speech::Gemini,
        _ => Speech::Ollama,
    };
    speech.body_and_events()
}

fn sse(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

async fn ask(model: &BoxModel) -> Result<(ModelResponse, usize), ModelError> {
    let mut stream = model.stream(ModelRequest::new([Message::user("hi")])).await?;
    let mut pieces = 0;
    while let Some(piece) = stream.next().await {
        match piece? {
            StreamEvent::Usage(_) => {}
            StreamEvent::Done(response) => return Ok((*response, pieces + 1)),
            _ => pieces += 1,
        }
    }
    panic!("a stream without its end")
}

#[tokio::test]
async fn every_form_of_an_answer_is_understood() {
    for index in 0..5 {
        let name = models("http://127.0.0.1:1")[index].0;
        let (whole, stream) = answers(name);
        let events = if name == "ollama" { lines(&stream) } else { sse(&stream) };
        let whole = whole.to_string();
        let mut forms = vec![
            ("a whole body", "content-type: application/json\r\n", whole.clone()),
            (
                "a whole body, with a charset",
                "content-type: Application/JSON; charset=utf-8\r\n",
                whole.clone(),
            ),
            ("a whole body without a media type", "", format!("\n {whole}")),
            ("a whole body as text", "content-type: text/plain\r\n", whole),
            ("a stream as text", "content-type: text/plain; charset=utf-8\r\n", events.clone()),
            ("a stream as bytes", "content-type: application/octet-stream\r\n", events.clone()),
            ("a stream without a media type", "", events.clone()),
            ("a stream in capitals", "content-type: Text/Event-Stream\r\n", events.clone()),
            (
                "a plain encoding",
                "content-type: text/event-stream\r\ncontent-encoding: Identity\r\n",
                events.clone(),
            ),
            ("an empty encoding", "content-type: text/event-stream\r\ncontent-encoding:\r\n", events.clone()),
            ("a stream as JSON", "content-type: application/json\r\n", events),
        ];
        let marked = |(form, head, body): &(&'static str, &'static str, String)| {
            (*form, *head, format!("\u{feff}{body}"))
        };
        forms.extend(forms.iter().map(marked).collect::<Vec<_>>());
        if name == "gemini" {
            let list = Value::from(stream).to_string();
            forms.push(("a list of events", "content-type: application/json\r\n", list));
        }
        for (form, head, body) in forms {
            let server = Server::start(vec![reply(head, &body)]).await;
            let (_, model) = &models(&server.url)[index];
            let (response, pieces) =
                ask(model).await.unwrap_or_else(|error| panic!("{name}, {form}: {error}"));
            assert_eq!(response.message.text, "done", "{name}, {form}");
            assert_eq!(response.usage.input_tokens, 3, "{name}, {form}");
            assert_eq!(pieces, if form.starts_with("a whole") { 2 } else { 3 }, "{name}, {form}");
        }
    }
}

#[tokio::test]
async fn a_stream_as_text_is_read_as_it_comes() {
    let (_, events) = answers("chat");
    let halves = [sse(&events[..2]), sse(&events[2..])];
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n";
    let begun: Reply =
        Arc::new(move |_| vec![Step::Send(head.into()), Step::Send(halves[0].clone().into()), Step::Silence]);
    let server = Server::start(vec![begun]).await;
    let model = OpenAi::new().with_base_url(&server.url).chat("m");
    let mut stream = model.stream(ModelRequest::new([Message::user("hi")])).await.unwrap();
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first, StreamEvent::Text("do".to_owned()));
}

/// Returns streams that report an error or block with this text.
fn failures(name: &str, text: &str) -> Vec<String> {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": text}});
    let forms = match name {
        "responses" => vec![
            json!({"type": "error", "message": text}),
            json!({"type": "response.failed",
                "response": {"id": "r", "status": "failed", "output": [],
                    "error": {"code": "server_error", "message": text}}}),
        ],
        "messages" => vec![error],
        "gemini" => vec![
            json!({"error": {"code": 500, "status": "INTERNAL", "message": text}}),
            json!({"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": text}}),
        ],
        "ollama" => vec![json!({"error": text})],
        _ => vec![error, json!({"error": {"code": "content_filter", "message": text}})],
    };
    let write = |events: &[Value]| if name == "ollama" { lines(events) } else { sse(events) };
    let begun = answers(name).1.swap_remove(0);
    // At once, and after a part, unless an answer begins with its only part.
    let is_long = matches!(name, "chat" | "messages");
    let after = forms.iter().filter(|_| is_long).map(|form| write(&[begun.clone(), form.clone()]));
    forms.iter().map(|form| write(std::slice::from_ref(form))).chain(after).collect()
}

#[tokio::test]
async fn errors_in_a_stream_show_no_secret() {
    const SECRET: &str = "sk-abcdef0123456789";
    for index in 0..5 {
        let name = models("http://127.0.0.1:1")[index].0;
        for body in failures(name, &format!("Key {SECRET} is not known here")) {
            let at = body.find(SECRET).unwrap();
            for cut in [at, at + 5, body.len()] {
                let (one, rest) = body.split_at(cut);
                let steps = [stream_head(), chunk(one), Step::Pause(Duration::from_millis(5))].into_iter();
                let rest = (!rest.is_empty()).then(|| chunk(rest));
                let steps: Vec<Step> = steps.chain(rest).chain([stream_end()]).collect();
                let server = Server::start(vec![Arc::new(move |_| steps.clone())]).await;
                let url = server.url.as_str();
                let header = ("x-secret", SECRET);
                let openai = OpenAi::new().with_base_url(url).with_header(header.0, header.1);
                let model = match name {
                    "chat" => openai.chat("m").boxed(),
                    "responses" => openai.responses("m").boxed(),
                    "messages" => {
                        Anthropic::new().with_base_url(url).with_header(header.0, header.1).model("m").boxed()
                    }
                    "gemini" => {
                        Gemini::new().with_base_url(url).with_header(header.0, header.1).model("m").boxed()
                    }
                    _ => Ollama::new().with_base_url(url).with_header(header.0, header.1).model("m").boxed(),
                };
                let said = match ask(&model).await {
                    Ok((response, _)) => format!("{:?}", response.message),
                    Err(error) => format!("{error:?} {error}"),
                };
                assert!(!said.contains(SECRET), "{name}, {body}: {said}");
                assert!(
                    said.contains("is not known here") || said.contains("done"),
                    "{name}, {body}: {said}"
                );
            }
        }
    }
}

/// Asks whole and streamed with the secret as key, and returns the errors.
async fn errors_with_key(secret: &str, replies: impl Fn() -> Vec<u8>) -> Vec<(String, ModelError)> {
    let mut errors = Vec::new();
    let bytes = replies();
    let server = Server::start(vec![Arc::new(move |_| vec![Step::Send(bytes.clone())])]).await;
    let url = &server.url;
    let openai = OpenAi::new().with_base_url(url).with_key(secret);
    let models = [
        ("chat", openai.chat("m").boxed()),
        ("responses", openai.responses("m").boxed()),
        ("messages", Anthropic::new().with_base_url(url).with_key(secret).model("m").boxed()),
        ("gemini", Gemini::new().with_base_url(url).with_key(secret).model("m").boxed()),
        ("interactions", Gemini::new().with_base_url(url).with_key(secret).interactions("m").boxed()),
        (
            "ollama",
            Ollama::new()
                .with_base_url(url)
                .with_header("authorization", format!("Basic {secret}"))
                .model("m")
                .boxed(),
        ),
        ("cohere", Cohere::new().with_base_url(url).with_key(secret).model("m").boxed()),
        ("mistral", Mistral::new().with_base_url(url).with_key(secret).model("m").boxed()),
        ("bedrock", Bedrock::new("eu-west-1").with_base_url(url).with_key(secret).model("m").boxed()),
    ];
    for (name, model) in models {
        let whole = model.respond(ModelRequest::new([Message::user("hi")])).await;
        errors.push((name.to_owned(), whole.unwrap_err()));
        errors.push((format!("{name}, streamed"), ask(&model).await.unwrap_err()));
    }
    errors
}

fn http(status: &str, head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let steps = respond(status, head, body);
    steps.into_iter().flat_map(|step| if let Step::Send(bytes) = step { bytes } else { Vec::new() }).collect()
}

#[tokio::test]
async fn reports_of_errors_show_no_secret_in_any_form() {
    const SECRET: &str = "sk-abcdef0123456789";
    let report = json!({"code": "x", "message": format!("Key {SECRET} is not known here")});
    let text = &report["message"];
    let json = "content-type: application/json\r\n";
    let page = format!("location: http://x.example/?key={SECRET}\r\ncontent-type: text/html\r\n");
    for (status, head, body) in [
        ("200 OK", json, json!({"error": report})),
        ("200 OK", json, json!([{"error": report}])),
        ("200 OK", json, json!({"error": text})),
        ("200 OK", json, json!({"message": text})),
        ("200 OK", json, json!({"detail": text})),
        ("200 OK", json, text.clone()),
        ("200 OK", "content-type: text/html\r\n", text.clone()),
        ("400 Bad Request", json, json!({"error": report})),
        ("400 Bad Request", json, json!([{"error": report}])),
        ("400 Bad Request", json, json!({"detail": [text]})),
        ("307 Temporary Redirect", page.as_str(), text.clone()),
    ] {
        for (name, error) in errors_with_key(SECRET, || http(status, head, body.to_string())).await {
            assert!(!format!("{error:?} {error}").contains(SECRET), "{name}, {status} {body}: {error}");
        }
    }
}

#[tokio::test]
async fn a_report_with_a_good_status_is_shown_in_its_own_words() {
    let report =
        json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Please retry in 3.5s."}});
    for body in [report.clone(), json!([report])] {
        let reply = || http("200 OK", "content-type: application/json\r\n", body.to_string());
        for (name, error) in errors_with_key("k", reply).await {
            assert_eq!(error.kind(), ModelErrorKind::RateLimited, "{name}, {body}: {error}");
            assert_eq!(error.retry_after(), Some(Duration::from_millis(3_500)), "{name}, {body}: {error}");
            assert!(error.message().contains("Please retry"), "{name}, {body}: {error}");
        }
    }
}

#[tokio::test]
async fn an_encoding_that_the_client_does_not_accept_is_named() {
    let zipped = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
    for (status, kind, words) in [
        ("200 OK", ModelErrorKind::InvalidResponse, "turn compression off"),
        ("429 Too Many Requests", ModelErrorKind::RateLimited, "Too Many Requests"),
    ] {
        for media in ["application/json", "text/event-stream", "text/plain"] {
            let head = format!("content-type: {media}\r\ncontent-encoding: gzip\r\n");
            for (name, error) in errors_with_key("k", || http(status, &head, zipped)).await {
                assert_eq!(error.kind(), kind, "{name}, {status}: {error}");
                assert!(error.message().contains(words), "{name}, {status}: {error}");
                assert_eq!(error.is_retryable(), status != "200 OK", "{name}, {status}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn a_failure_is_reported_although_its_body_does_not_end() {
    let head =
        "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\n\r\n{\"error\": {\"message\": \"slow down";
    let drip =
        [Step::Send(b" ".to_vec()), Step::Pause(Duration::from_millis(100))].into_iter().cycle().take(400);
    let steps: Vec<Step> = std::iter::once(Step::Send(head.into())).chain(drip).collect();
    let server = Server::start(vec![Arc::new(move |_| steps.clone())]).await;
    let (_, model) = &models(&server.url)[0];
    let error = tokio::time::timeout(Duration::from_secs(20), ask(model)).await.unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.retry_after()),
        (ModelErrorKind::RateLimited, Some(Duration::from_secs(7)))
    );
    assert!(error.message().contains("slow down"), "{error}");
}

#[tokio::test]
async fn other_bodies_are_errors() {
    for (head, body, kinds) in [
        ("content-type: text/html\r\n", "<p>Log in</p>", &[ModelErrorKind::InvalidResponse][..]),
        ("content-type: text/plain\r\n", "{\"ok\": 1}", &[ModelErrorKind::InvalidResponse]),
        ("content-type: text/plain\r\n", "Log in first", &[ModelErrorKind::Connection]),
        ("content-type: application/json\r\n", "", &[ModelErrorKind::Connection, ModelErrorKind::Empty]),
        (
            "content-type: application/json\r\n",
            "{\"error\": {\"message\": \"This model's maximum context length is 4096 tokens.\"}}",
            &[ModelErrorKind::ContextTooLong],
        ),
    ] {
        let server = Server::start(vec![reply(head, body)]).await;
        let error = ask(&models(&server.url)[0].1).await.unwrap_err();
        assert!(kinds.contains(&error.kind()), "{head}, {body}: {:?} {error}", error.kind());
    }
}

#[tokio::test]
async fn the_code_of_a_refused_request_tells_its_kind() {
    for (status, body, kind) in [
        (
            "400 Bad Request",
            json!({"error": {"code": "context_length_exceeded", "message": "no"}}),
            ModelErrorKind::ContextTooLong,
        ),
        (
            "400 Bad Request",
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "no"}}),
            ModelErrorKind::ContextTooLong,
        ),
        (
            "400 Bad Request",
            json!({"message": "Input is too long for requested model."}),
            ModelErrorKind::ContextTooLong,
        ),
        (
            "400 Bad Request",
            json!({"error": {"code": "invalid_value", "message": "no"}}),
            ModelErrorKind::InvalidRequest,
        ),
        (
            "400 Bad Request",
            json!([{"error": {"code": "context_length_exceeded", "message": "no"}}]),
            ModelErrorKind::ContextTooLong,
        ),
        (
            "429 Too Many Requests",
            json!({"error": {"code": "context_length_exceeded", "message": "no"}}),
            ModelErrorKind::RateLimited,
        ),
    ] {
        let text = format!("\u{feff}{body}");
        let server = Server::start(vec![Arc::new(move |_| respond(status, "", &text))]).await;
        let model = OpenAi::new().with_base_url(&server.url).chat("m");
        let error = model.respond(ModelRequest::new([Message::user("hi")])).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{status} {body}");
    }
}
