//! Logins with OAuth.

use super::authorization_server::{Secured, browse, get};
use super::{call, within};
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit_mcp::client::{FileTokenStore, Login, McpClient, McpUrl};
use toolkit_mcp::{McpError, McpErrorKind};

const SUM: &str = r#"{"a": 2, "b": 3}"#;

/// A user who logs in at once, and the number of logins.
pub(super) fn user(login: Login) -> (Login, Arc<AtomicUsize>) {
    let logins = Arc::new(AtomicUsize::new(0));
    let counted = logins.clone();
    let login = login.with_prompt(move |address| {
        counted.fetch_add(1, Ordering::Relaxed);
        browse(address);
    });
    (login, logins)
}

pub(super) async fn connect(url: &str, login: Login) -> Result<McpClient, McpError> {
    within(McpClient::builder(McpUrl::new(url).with_login(login)).name("shop").connect()).await
}

pub(super) async fn sum(client: &McpClient) -> String {
    call(client, "add", SUM).await.unwrap().to_text().into_owned()
}

#[tokio::test]
async fn a_user_logs_in_once_and_tokens_are_refreshed() {
    let server = Secured::serve().await;
    let (login, logins) = user(Login::new("Shop Assistant"));
    let client = connect(&server.url, login).await.unwrap();
    assert_eq!(sum(&client).await, "5");
    server.revoke();
    assert_eq!(sum(&client).await, "5");
    assert_eq!(logins.load(Ordering::Relaxed), 1);
    assert_eq!(server.exchanges("refresh_token"), 1);
    let known = server.known.lock().unwrap();
    assert_eq!(known.registered[0]["client_name"], "Shop Assistant");
    let request = &known.authorized[0];
    assert_eq!((request["scope"].as_str(), request["resource"].as_str()), ("list", server.url.as_str()));
    assert!(known.exchanged.iter().all(|request| request["resource"] == server.url));
}

#[tokio::test]
async fn a_token_is_refreshed_before_it_expires() {
    let server = Secured::serve().await;
    server.known.lock().unwrap().lifetime = 0;
    let (login, logins) = user(Login::new("shop"));
    let client = connect(&server.url, login).await.unwrap();
    let before = server.exchanges("refresh_token");
    assert_eq!(sum(&client).await, "5");
    assert!(server.exchanges("refresh_token") > before);
    assert_eq!(logins.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_call_that_needs_a_scope_asks_the_user_once() {
    let server = Secured::serve().await;
    server.known.lock().unwrap().calls_need_scope = true;
    let (login, logins) = user(Login::new("shop"));
    let client = connect(&server.url, login).await.unwrap();
    assert_eq!(sum(&client).await, "5");
    {
        let known = server.known.lock().unwrap();
        assert_eq!(known.authorized[1]["scope"], "call list");
        // A registration holds for its scopes.
        assert_eq!(known.registered[1]["scope"], "call list");
    }
    // The user has not granted the scope, and is not asked again.
    for scopes in server.known.lock().unwrap().tokens.values_mut() {
        *scopes = "list".to_owned();
    }
    for _ in 0..2 {
        let error = call(&client, "add", SUM).await.unwrap_err();
        let expected = "Error running tool: MCP server `shop` refuses access; \
                        the user must renew the credentials; use another tool";
        assert_eq!(error.message(), expected);
    }
    assert_eq!(logins.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn processes_share_stored_tokens_and_refresh_them_once() {
    let server = Secured::serve().await;
    let folder = tempfile::tempdir().unwrap();
    let store = FileTokenStore::new(folder.path().join("logins"));
    let (login, logins) = user(Login::new("shop").with_token_store(store));
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(connect(&server.url, login.clone()).await.unwrap());
    }
    server.revoke();
    let sums = futures_util::future::join_all(clients.iter().map(sum)).await;
    assert_eq!(sums, ["5", "5", "5"]);
    assert_eq!((server.exchanges("refresh_token"), logins.load(Ordering::Relaxed)), (1, 1));
    // Another server never receives these tokens.
    let other = Secured::serve().await;
    connect(&other.url, login).await.unwrap();
    assert_eq!(logins.load(Ordering::Relaxed), 2);
    let files = fs::read_dir(folder.path().join("logins")).unwrap().map(|file| file.unwrap().path());
    let (tokens, locks): (Vec<_>, Vec<_>) =
        files.partition(|file| file.extension().is_some_and(|ending| ending == "json"));
    assert_eq!((tokens.len(), locks.len()), (2, 2));
    #[cfg(unix)]
    for file in tokens {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_program_without_a_user_proves_itself() {
    let key = include_str!("../rsa_key.pem");
    let bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    let programs = [
        (Login::client_credentials("robot", "s3cret-client"), "client_credentials"),
        (Login::private_key_jwt("robot", key).unwrap(), "client_credentials"),
        (Login::workload_identity("robot", || Ok("s3cret-workload\n".to_owned())), bearer),
    ];
    for (login, grant) in programs {
        let server = Secured::serve().await;
        let shown = format!("{login:?} {:?}", McpUrl::new(&server.url).with_login(login.clone()));
        assert!(!shown.contains("s3cret"), "{shown}");
        let client = connect(&server.url, login.with_issuer(server.issuer())).await.unwrap();
        server.revoke();
        assert_eq!(sum(&client).await, "5");
        assert_eq!(server.exchanges(grant), 2);
        let known = server.known.lock().unwrap();
        assert!(known.exchanged.iter().all(|request| request["resource"] == server.url));
        assert!(known.exchanged.iter().all(|request| request["scope"] == "list"));
    }
    assert!(Login::private_key_jwt("robot", "no key").is_err());
}

#[tokio::test]
async fn an_assertion_reaches_only_the_named_authorization_server_and_its_refusal_is_told() {
    let server = Secured::serve().await;
    let login = Login::workload_identity("robot", || Ok("s3cret-other".to_owned()));
    let error = connect(&server.url, login.clone()).await.unwrap_err().to_string();
    assert!(error.contains("refused a token with HTTP 400 Bad Request: invalid_grant"), "{error}");
    assert_eq!(server.exchanges("urn:ietf:params:oauth:grant-type:jwt-bearer"), 1);
    let error = connect(&server.url, login.with_issuer("https://login.example.com")).await.unwrap_err();
    assert!(error.to_string().contains("names another authorization server than the login"), "{error}");
    assert_eq!(server.known.lock().unwrap().exchanged.len(), 1);
}

#[tokio::test]
async fn a_program_registers_itself_once_unless_it_is_forgotten() {
    let server = Secured::serve().await;
    let folder = tempfile::tempdir().unwrap();
    let login = || user(Login::new("shop").with_token_store(FileTokenStore::new(folder.path()))).0;
    let registered = || server.known.lock().unwrap().registered.len();
    connect(&server.url, login()).await.unwrap();
    for _ in 0..2 {
        server.known.lock().unwrap().forget_logins();
        connect(&server.url, login()).await.unwrap();
        assert_eq!(registered(), 1);
    }
    server.known.lock().unwrap().forget_logins();
    server.known.lock().unwrap().forgotten = 1;
    let forgotten = login().with_timeout(Duration::from_millis(200));
    connect(&server.url, forgotten).await.unwrap_err();
    connect(&server.url, login()).await.unwrap();
    assert_eq!(registered(), 2);
}

#[tokio::test]
async fn a_program_whose_registration_is_lost_registers_itself_again() {
    let server = Secured::serve().await;
    let folder = tempfile::tempdir().unwrap();
    let login = |login: Login| user(login.with_token_store(FileTokenStore::new(folder.path())));
    let registered = || server.known.lock().unwrap().registered.len();
    connect(&server.url, login(Login::new("shop")).0).await.unwrap();
    // The authorization server refuses to refresh for an unknown program.
    server.revoke();
    server.known.lock().unwrap().lost = 1;
    let (again, logins) = login(Login::new("shop"));
    let client = connect(&server.url, again).await.unwrap();
    assert_eq!((sum(&client).await.as_str(), registered(), logins.load(Ordering::Relaxed)), ("5", 2, 1));
    client.close().await;
    // It shows its page, and refuses the code.
    {
        let mut known = server.known.lock().unwrap();
        known.forget_logins();
        known.lost = 2;
    }
    let (again, logins) = login(Login::new("shop"));
    let client = connect(&server.url, again).await.unwrap();
    assert_eq!((sum(&client).await.as_str(), registered(), logins.load(Ordering::Relaxed)), ("5", 3, 2));
    client.close().await;
    // It knows no program, so the login is tried just once more.
    {
        let mut known = server.known.lock().unwrap();
        known.forget_logins();
        known.lost = 100;
    }
    let (again, logins) = login(Login::new("shop"));
    let error = connect(&server.url, again).await.unwrap_err();
    assert!(error.to_string().contains("invalid_client: no such client"), "{error}");
    assert_eq!((registered(), logins.load(Ordering::Relaxed)), (4, 2));
    // A program's own client id is not replaced.
    let (known, logins) = user(Login::new("shop").with_client_id("client-1"));
    let error = connect(&server.url, known).await.unwrap_err();
    assert!(error.to_string().contains("invalid_client: no such client"), "{error}");
    assert_eq!((registered(), logins.load(Ordering::Relaxed)), (4, 1));
}

#[tokio::test]
async fn a_resource_with_a_slash_at_its_end_is_the_same_and_another_is_named() {
    let server = Secured::serve().await;
    server.known.lock().unwrap().resource_path = Some("/mcp/".to_owned());
    let client = connect(&server.url, user(Login::new("shop")).0).await.unwrap();
    assert_eq!(sum(&client).await, "5");
    assert_eq!(server.known.lock().unwrap().authorized[0]["resource"], format!("{}/", server.url));
    let other = Secured::serve().await;
    other.known.lock().unwrap().resource_path = Some("/other".to_owned());
    let error = connect(&other.url, user(Login::new("shop")).0).await.unwrap_err().to_string();
    let named = format!("the metadata of the server are about `{}/other`", other.issuer());
    assert!(error.contains(&named), "{error}");
}

#[tokio::test]
async fn a_lifetime_of_tokens_may_be_a_text() {
    let server = Secured::serve().await;
    server.known.lock().unwrap().token_fields = json!({"expires_in": "3600", "ext_expires_in": "3600"});
    let client = connect(&server.url, user(Login::new("shop")).0).await.unwrap();
    server.revoke();
    assert_eq!(sum(&client).await, "5");
    server.known.lock().unwrap().token_fields = json!({"expires_in": "0"});
    server.revoke();
    assert_eq!(sum(&client).await, "5");
    let before = server.exchanges("refresh_token");
    assert_eq!(sum(&client).await, "5");
    assert!(server.exchanges("refresh_token") > before, "the token has expired");
}

#[tokio::test]
async fn the_reason_of_the_token_endpoint_is_told_without_secrets() {
    for (status, body, expected) in [
        (200, r#"{"error": "bad_code", "error_description": "CODE is old."}"#, "bad_code: … is old."),
        (400, r#"{"error": {"code": "E1", "message": "CODE is old."}}"#, "E1: … is old."),
        (500, r#"{"message": "CODE is old."}"#, "HTTP 500 Internal Server Error: … is old."),
        (502, "<p>CODE is old.</p>", "HTTP 502 Bad Gateway: <p>… is old.</p>"),
        (200, r#"{"code": "CODE"}"#, "HTTP 200 OK: there is no `access_token`"),
    ] {
        let server = Secured::serve().await;
        server.known.lock().unwrap().refusal = Some((status, body.to_owned()));
        let error = connect(&server.url, user(Login::new("shop")).0).await.unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{expected}: {error}");
    }
}

#[tokio::test]
async fn a_known_program_registers_nothing() {
    let document = "https://example.com/client.json";
    let programs = [
        (Login::new("shop").with_client_id("known"), "known"),
        (Login::new("shop").with_client_metadata_url(document), document),
    ];
    for (login, id) in programs {
        let server = Secured::serve().await;
        server.known.lock().unwrap().metadata = json!({"client_id_metadata_document_supported": true});
        connect(&server.url, user(login).0).await.unwrap();
        let known = server.known.lock().unwrap();
        assert_eq!((known.registered.len(), known.authorized[0]["client_id"].as_str()), (0, id));
    }
}

#[tokio::test]
async fn a_login_that_fails_says_why_and_shows_no_secret() {
    let issuer = "https://other.example.com";
    let cases = [
        (json!({}), ("iss", issuer), "issuer mismatch"),
        (json!({}), ("error", "access_denied"), "the login was refused: access_denied"),
        (json!({}), ("state", "s3cret"), "the user did not log in within 0.5 s"),
        (json!({}), ("code", "s3cret-guess"), "invalid_grant"),
        (json!({"issuer": issuer}), ("a", "b"), "issuer mismatch"),
        (json!({"authorization_endpoint": "file:///bin/sh"}), ("a", "b"), "is not safe; use `https`"),
        (json!({"authorization_endpoint": "http://192.0.2.1/"}), ("a", "b"), "is not safe; use `https`"),
        (json!({"token_endpoint": "http://192.0.2.1/"}), ("a", "b"), "OAuth token exchange failed"),
        (json!({"token_endpoint": "/moved"}), ("a", "b"), "OAuth token exchange failed"),
        (json!({"code_challenge_methods_supported": ["plain"]}), ("a", "b"), "S256"),
        (json!({"code_challenge_methods_supported": null}), ("a", "b"), "use `Login::with_unannounced_pkce`"),
        (json!({"padding": "a".repeat(2 << 20)}), ("a", "b"), "longer than 1048576 bytes"),
    ];
    for (mut metadata, (name, value), expected) in cases {
        let server = Secured::serve().await;
        if metadata["token_endpoint"] == "/moved" {
            metadata["token_endpoint"] = json!(server.url.replace("/mcp", "/moved"));
        }
        {
            let mut known = server.known.lock().unwrap();
            known.metadata = metadata;
            known.redirect.insert(name.to_owned(), value.to_owned());
        }
        let (login, _) = user(Login::new("shop").with_timeout(Duration::from_millis(500)));
        let error = connect(&server.url, login).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected) && !text.contains("s3cret"), "{expected}: {text}");
        assert_eq!(error.kind(), McpErrorKind::Unauthorized, "{text}");
        assert!(server.known.lock().unwrap().tokens.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn a_login_without_announced_pkce_needs_the_word_of_the_program() {
    let server = Secured::serve().await;
    server.known.lock().unwrap().metadata = json!({"code_challenge_methods_supported": null});
    let client = connect(&server.url, user(Login::new("shop").with_unannounced_pkce()).0).await.unwrap();
    assert_eq!(sum(&client).await, "5");
    // Without a user, there is no redirect to protect.
    let robot = Login::client_credentials("robot", "s3cret-client");
    assert_eq!(sum(&connect(&server.url, robot).await.unwrap()).await, "5");
}

#[cfg(feature = "server-http")]
#[tokio::test]
async fn a_login_at_a_server_with_a_fixed_token_says_so() {
    use toolkit_mcp::server::McpServer;

    let server = McpServer::new(toolkit_ai::ToolRegistry::new()).unwrap().with_bearer_token("s3cret");
    let server = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.run());
    for login in [Login::new("shop"), Login::new("shop").with_unannounced_pkce()] {
        let error = connect(&url, user(login).0).await.unwrap_err();
        let expected = "the server names no authorization server; if it takes a fixed token, use `McpUrl::with_bearer_token`";
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.kind(), McpErrorKind::Unauthorized);
    }
}

#[tokio::test]
async fn other_requests_to_the_port_of_the_redirect_do_not_end_the_login() {
    let server = Secured::serve().await;
    let login = Login::new("shop").with_prompt(|address| {
        let address = address.to_owned();
        tokio::spawn(async move {
            let redirect = get(&address).await.unwrap();
            let (base, _) = redirect.split_once("/callback").unwrap();
            let _idle = tokio::net::TcpStream::connect(base.strip_prefix("http://").unwrap()).await.unwrap();
            for path in ["/favicon.ico", "/callback", "/callback?code=a&state=b", "/callback?error=a&state=b"]
            {
                get(&format!("{base}{path}")).await;
            }
            get(&redirect).await;
        });
    });
    connect(&server.url, login).await.unwrap();
}
