//! Credentials: where they are sent, and where they never appear.

use crate::recorder::{Recorder, call_with, document, json_answer, registry};
use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use std::io;
use toolkit_ai::{State, ToolError};
use toolkit_openapi::OpenApiErrorKind;
use toolkit_openapi::client::{CallerCredentials, ClientCredentials, Credentials, OpenApiTools};

/// Returns a document with an operation that needs one of these ways.
fn secured(ways: Value, token_url: &str) -> Value {
    let mut document = document("get", "/", json!({"security": ways}));
    let flows = json!({"clientCredentials": {"tokenUrl": token_url, "scopes": {"read": "", "write": ""}}});
    document["components"] = json!({"securitySchemes": {
        "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "query": {"type": "apiKey", "in": "query", "name": "api key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "session"},
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "Bearer"},
        "openid": {"type": "openIdConnect", "openIdConnectUrl": "https://login.example.com"},
        "custom": {"type": "http", "scheme": "Hoba"},
        "oauth": {"type": "oauth2", "flows": flows},
        "tls": {"type": "mutualTLS"},
    }});
    document
}

#[tokio::test]
async fn each_scheme_has_its_place() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let all = Credentials::new()
        .with_secret("header", "key-header")
        .with_secret("query", "key query&")
        .with_secret("cookie", "key;cookie")
        .with_basic("basic", "ada", "pass word")
        .with_secret("bearer", " token ")
        .with_source("openid", |scopes| async move { Ok::<_, io::Error>(scopes.join("+")) })
        .with_secret("custom", "signature")
        .with_secret("tls", "nothing");
    for (ways, line, name, value) in [
        (json!([{"header": []}]), "GET /", "x-key", "key-header"),
        (json!([{"query": []}]), "GET /?api%20key=key%20query%26", "", ""),
        (json!([{"cookie": []}]), "GET /", "cookie", "session=key%3Bcookie"),
        (json!([{"basic": []}]), "GET /", "authorization", "Basic YWRhOnBhc3Mgd29yZA=="),
        (json!([{"bearer": []}]), "GET /", "authorization", "Bearer token"),
        (json!([{"openid": ["a", "b"]}]), "GET /", "authorization", "Bearer a+b"),
        (json!([{"custom": []}]), "GET /", "authorization", "Hoba signature"),
        // The first complete way counts, and anonymous only without any.
        (
            json!([{}, {"tls": []}, {"unknown": [], "header": []}, {"bearer": []}]),
            "GET /",
            "authorization",
            "Bearer token",
        ),
        (json!([{"header": [], "query": []}]), "GET /?api%20key=key%20query%26", "x-key", "key-header"),
        (json!([{}, {"tls": []}]), "GET /", "authorization", ""),
    ] {
        let tools = registry(service.builder().credentials(all.clone()), secured(ways, ""));
        tools.call("call", "{}").await.unwrap();
        let request = service.requests().pop().unwrap();
        assert_eq!((request.line.as_str(), request.header(name)), (line, value));
    }
}

#[tokio::test]
async fn a_credential_that_does_not_fit_its_scheme_is_an_error_before_the_first_call() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let of = Credentials::new;
    for (scheme, credentials, reason) in [
        ("header", of().with_secret("header", " "), "the secret is empty"),
        ("header", of().with_basic("header", "ada", "s3cret"), "it is an API key; use `with_secret`"),
        ("bearer", of().with_basic("bearer", "ada", "s3cret"), "it is a token; use `with_secret`"),
        ("basic", of().with_secret("basic", "s3cret"), "it is a user name and a password; use `with_basic`"),
    ] {
        let document = secured(json!([{scheme: []}]), "");
        let builder = service.builder().credentials(credentials.clone());
        let error = builder.read_document(&document.to_string()).unwrap_err();
        assert_eq!(error.kind(), OpenApiErrorKind::Request);
        let expected = format!("the credentials for `{scheme}` cannot be used: {reason}");
        assert_eq!(error.to_string(), expected);
        // A caller's are known only at the call.
        let callers = CallerCredentials::new().with(service.host(), credentials);
        let tools = registry(service.builder(), document);
        let error = call_with(&tools, json!({}), State::new().with(callers)).await.unwrap_err();
        assert!(error.message().contains(&expected), "{error}");
    }
    let empty = of().with_source("header", |_| async { Ok::<_, io::Error>("") });
    let tools = registry(service.builder().credentials(empty), secured(json!([{"header": []}]), ""));
    let error = tools.call("call", "{}").await.unwrap_err();
    assert!(error.message().contains("`header` cannot be used: the secret is empty"), "{error}");
    assert_eq!(service.requests().len(), 0);
}

#[test]
fn credentials_for_a_scheme_that_the_document_does_not_have_are_an_issue() {
    let credentials = Credentials::new().with_secret("Bearer_", "a").with_basic("other", "ada", "b");
    let builder = OpenApiTools::builder().credentials(credentials);
    let toolset = builder.read_document(&secured(json!([]), "").to_string()).unwrap();
    let issues: Vec<String> = toolset.issues().iter().map(ToString::to_string).collect();
    let expected = ["`Bearer_`; did you mean `bearer`?", "`other`"];
    assert_eq!(issues, expected.map(|name| format!("No security scheme has the name {name}")));
}

#[tokio::test]
async fn without_credentials_no_request_is_sent() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let ways = json!([{"header": [], "basic": []}, {"tls": []}]);
    let tools = registry(service.builder(), secured(ways.clone(), ""));
    let error = tools.call("call", "{}").await.unwrap_err();
    let expected = "the service needs authentication with `header` and `basic` or with `tls`, for which the program has no \
                    credentials; another call of this tool will fail as well";
    assert!(error.message().ends_with(expected), "{error}");
    assert_eq!(service.requests().len(), 0);
    // A caller's credentials replace the program's, even where they have less.
    let own = Credentials::new().with_secret("header", "k").with_basic("basic", "a", "b");
    let tools = registry(service.builder().credentials(own), secured(ways.clone(), ""));
    let none = State::new().with(CallerCredentials::new().with(service.host(), Credentials::new()));
    assert!(call_with(&tools, json!({}), none).await.is_err());
    // Without secrets, there is nothing to mix up.
    let open = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let elsewhere = || State::new().with(CallerCredentials::new().with("127.0.0.1", Credentials::new()));
    call_with(&registry(open.builder(), secured(json!([{}]), "")), json!({}), elsewhere()).await.unwrap();
    let with_header = open.builder().credentials(Credentials::new().with_header("X-Key", "abcdef"));
    assert!(call_with(&registry(with_header, secured(json!([]), "")), json!({}), elsewhere()).await.is_err());
    assert!(
        call_with(&registry(open.builder(), secured(ways.clone(), "")), json!({}), elsewhere())
            .await
            .is_err()
    );
    assert_eq!(open.requests().len(), 1);
    // A program's header authenticates where the document knows no way.
    let header = Credentials::new().with_header("Authorization", "Token abcdef");
    let tools = registry(service.builder().credentials(header), secured(ways, ""));
    tools.call("call", "{}").await.unwrap();
    assert_eq!(service.requests()[0].header("authorization"), "Token abcdef");
}

#[tokio::test]
async fn no_secret_is_in_an_error_an_answer_or_debug() {
    // The service repeats everything.
    let echo = |status: u16| {
        move |request: &crate::recorder::Recorded, _: usize| {
            json_answer(status, &json!({"message": format!("{} {:?}", request.line, request.headers)}))
        }
    };
    let credentials = Credentials::new()
        .with_secret("header", "s3cret-header")
        .with_secret("query", "s3cret query")
        .with_secret("cookie", "s3cret;cookie")
        .with_basic("basic", "ada", "s3cret-pass");
    let ways = json!([{"header": [], "query": [], "cookie": [], "basic": []}]);
    assert!(!format!("{credentials:?}").contains("s3cret"));
    for status in [200, 401, 422, 500] {
        let service = Recorder::start(echo(status)).await;
        let tools = registry(service.builder().credentials(credentials.clone()), secured(ways.clone(), ""));
        let shown = match tools.call("call", "{}").await {
            Ok(output) => output.to_text().into_owned(),
            Err(error) => format!("{error:#} {error:?} {}", serde_json::to_string(&error).unwrap()),
        };
        assert!(!shown.contains("s3cret") && !shown.contains("YWRhOnMzY3JldC1wYXNz"), "{shown}");
        assert!(shown.contains('…'), "{shown}");
    }
    let service = Recorder::start(echo(403)).await;
    let builder = service.builder().header("Authorization", "Token s3cret-token");
    let error = registry(builder, secured(json!([{"tls": []}]), "")).call("call", "{}").await.unwrap_err();
    assert!(service.requests().len() == 1 && !error.message().contains("s3cret"), "{error}");
    let service = Recorder::start(echo(200)).await;
    let illegal = Credentials::new().with_secret("header", "s3cret\nheader");
    let tools = registry(service.builder().credentials(illegal), secured(json!([{"header": []}]), ""));
    let error = tools.call("call", "{}").await.unwrap_err();
    assert!(
        error.message().contains("`header` cannot be used") && !format!("{error:#}").contains("s3cret"),
        "{error}"
    );
}

fn token(value: &str, seconds: u64) -> Response<Body> {
    json_answer(200, &json!({"access_token": value, "token_type": "Bearer", "expires_in": seconds}))
}

async fn oauth_call(service: &Recorder, client: ClientCredentials) -> Result<Vec<String>, ToolError> {
    let credentials = Credentials::new().with_client("oauth", client);
    let document = secured(json!([{"oauth": ["read"]}]), &format!("{}/token", service.url));
    let tools = registry(service.builder().credentials(credentials), document);
    let calls = tokio::join!(tools.call("call", "{}"), tools.call("call", "{}"));
    calls.0?;
    calls.1?;
    tools.call("call", "{}").await?;
    let requests = service.requests().into_iter();
    Ok(requests.map(|request| format!("{} {}", request.line, request.header("authorization"))).collect())
}

#[tokio::test]
async fn a_token_is_fetched_once_and_again_when_it_expires_or_is_refused() {
    let client = || ClientCredentials::new("id:1", "s3cret %").with_parameter("audience", "a b");
    let login = "POST /token Basic aWQlM0ExOnMzY3JldCUyMCUyNQ==";
    let service = Recorder::start(|request, _| {
        if request.line.starts_with("POST") { token("t1", 3_600) } else { json_answer(200, &json!({})) }
    })
    .await;
    let call = "GET / Bearer t1";
    assert_eq!(oauth_call(&service, client()).await.unwrap(), [login, call, call, call]);
    assert_eq!(service.requests()[0].body, "grant_type=client_credentials&scope=read&audience=a%20b");

    // A token without a life is replaced for every call.
    let service = Recorder::start(|request, earlier| {
        if request.line.starts_with("POST") {
            token(&format!("t{earlier}"), 0)
        } else {
            json_answer(200, &json!({}))
        }
    })
    .await;
    let lines = oauth_call(&service, client()).await.unwrap();
    assert_eq!(lines.iter().filter(|line| line.starts_with("POST")).count(), 3, "{lines:?}");

    // The service withdraws the first token after one call.
    let service = Recorder::start(|request, earlier| match request.line.as_str() {
        "POST /token" => token(&format!("t{earlier}"), 3_600),
        _ if request.header("authorization") == "Bearer t0" && earlier > 2 => json_answer(401, &json!({})),
        _ => json_answer(200, &json!({})),
    })
    .await;
    let lines = oauth_call(&service, client().with_secret_in_body()).await.unwrap();
    assert_eq!(lines[3..], ["GET / Bearer t0", "POST /token ", "GET / Bearer t4"]);
    let body =
        "grant_type=client_credentials&scope=read&audience=a%20b&client_id=id%3A1&client_secret=s3cret%20%25";
    assert_eq!(service.requests()[0].body, body);

    // The message has the server's code, and no text that may repeat the secret.
    let service = Recorder::start(|_, _| {
        json_answer(400, &json!({"error": "invalid_client", "error_description": "s3cret %"}))
    })
    .await;
    let error = oauth_call(&service, client()).await.unwrap_err();
    let message = "the credentials for `oauth` cannot be used: no access token: 400 Bad Request invalid_client; the program \
                   must correct them";
    assert!(error.message().ends_with(message), "{error}");
}

#[tokio::test]
async fn the_error_of_a_source_is_for_the_program() {
    let service = Recorder::start(|_, _| json_answer(200, &json!({}))).await;
    let source = |_| async { Err::<String, _>(io::Error::other("vault at 10.0.0.1 is sealed")) };
    let credentials = Credentials::new().with_source("openid", source);
    let tools = registry(service.builder().credentials(credentials), secured(json!([{"openid": []}]), ""));
    let error = tools.call("call", "{}").await.unwrap_err();
    assert!(!error.message().contains("vault"), "{error}");
    assert_eq!(error.details(), Some("vault at 10.0.0.1 is sealed"));
}

#[tokio::test]
async fn a_redirect_elsewhere_is_not_followed() {
    let other = Recorder::start(|_, _| json_answer(200, &json!("stolen"))).await;
    let elsewhere = format!("{}/download", other.url);
    let service = Recorder::start(move |request, _| {
        let place = if request.line == "GET /" { "/moved?a=b".to_owned() } else { elsewhere.clone() };
        Response::builder().status(302).header("location", place).body(Body::empty()).unwrap()
    })
    .await;
    let credentials = Credentials::new().with_secret("bearer", "s3cret-token");
    let tools = registry(service.builder().credentials(credentials), secured(json!([{"bearer": []}]), ""));
    let text = tools.call("call", "{}").await.unwrap().to_text().into_owned();
    let expected = format!(
        "The service has answered 302 Found: it is at {}/download, which was not fetched.",
        other.url
    );
    assert_eq!(text, expected);
    assert_eq!(
        (service.lines(), other.lines().len()),
        (vec!["GET /".to_owned(), "GET /moved?a=b".to_owned()], 0)
    );
    assert_eq!(service.requests()[1].header("authorization"), "Bearer s3cret-token");
}
