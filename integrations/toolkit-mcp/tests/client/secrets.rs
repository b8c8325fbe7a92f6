//! Secrets of the configuration reach the server, and nothing shown or logged.

use serde_json::json;
use toolkit_mcp::client::{McpCommand, McpEndpoint};
use toolkit_mcp::config::ConfigFile;

/// The texts that show a secret's origin.
const SECRETS: [&str; 9] = [
    "s3cret-argument",
    "s3cret-user",
    "s3cret-password",
    "s3cret-path",
    "s3cret-query",
    "s3cret-fragment",
    "s3cret-header",
    "s3cret-token",
    "s3cret-variable",
];

fn check(output: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{output} shows {secret}: {text}");
    }
}

#[test]
fn debug_of_a_command_and_of_a_configuration_shows_names_only() {
    let command =
        McpCommand::new("server").arg("--fast").args(["--key=s3cret-argument", "--key", "s3cret-argument"]);
    let command =
        command.args(["-ps3cret-argument", "db://u:s3cret-argument@h", "-y"]).env("TOKEN", "s3cret-variable");
    let text = format!("{command:?} {:?}", McpEndpoint::from(command.clone()));
    check("a command", &text);
    assert!(text.contains("TOKEN"), "{text}");
    let arguments = r#"["--fast", "--key=…", "--key", "…", "…", "…", "-y"]"#;
    assert!(text.contains(arguments), "{text}");
    let url =
        "https://s3cret-user:s3cret-password@example.com:8/s3cret-path?key=s3cret-query#s3cret-fragment";
    let config = json!({"mcpServers": {
        "a": {"url": url, "headers": {"Authorization": "Bearer s3cret-header"}},
        "b": {"command": "server", "args": ["--key=s3cret-variable"], "env": {"TOKEN": "s3cret-variable"}},
    }});
    let config = ConfigFile::read(&config.to_string()).unwrap();
    let text = format!("{config:?} {config:#?}");
    check("a configuration", &text);
    assert!(["Authorization", "TOKEN"].iter().all(|name| text.contains(name)), "{text}");
}

#[test]
fn an_invalid_entry_is_reported_without_its_values() {
    for entry in [
        json!({"command": "server", "env": "TOKEN=s3cret-variable \"quoted\""}),
        json!({"url": "https://example.com", "headers": "Authorization: Bearer s3cret-header"}),
        json!({"command": ["server", ["s3cret-variable"]]}),
        json!({"command": "server", "disabled": "s3cret-variable"}),
        json!("https://example.com?key=s3cret-query"),
    ] {
        let config = ConfigFile::read(&json!({"mcpServers": {"a": entry}}).to_string()).unwrap();
        let text = config.failures()[0].to_string();
        check("an invalid entry", &format!("{text} {config:?}"));
        assert!(text.contains("must be"), "{text}");
    }
}

#[cfg(feature = "client-http")]
#[tokio::test]
async fn errors_and_events_of_a_server_behind_a_url_show_no_secret() {
    use super::bare::Bare;
    use super::{call, event, within};
    use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
    use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
    use std::sync::Arc;
    use std::time::Duration;
    use toolkit_mcp::client::{McpBackoff, McpClient, McpEvent, McpUrl};

    let secret = |address: &str| {
        let url = format!(
            "http://s3cret-user:s3cret-password@{address}/s3cret-path?key=s3cret-query#s3cret-fragment"
        );
        McpUrl::new(url).with_header("x-key", "s3cret-header").with_bearer_token("s3cret-token")
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let listener = listener.into_std().unwrap();
    let service = StreamableHttpService::new(
        || Ok(Bare::new()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/s3cret-path", service);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = std::thread::spawn(move || {
        // Its own runtime ends kept connections, too.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            tokio::select! {
                _ = stopped => {}
                served = async { axum::serve(listener, router).await } => served.unwrap(),
            }
        });
    });
    let url = secret(&address);
    check("a URL", &format!("{url:?} {:?}", McpEndpoint::from(url.clone())));
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    let builder = McpClient::builder(url).backoff(backoff);
    check("a builder", &format!("{builder:?}"));
    let client = within(builder.connect()).await.unwrap();
    let mut events = client.events();
    check("a client", &format!("{client:?} {:?}", client.server_info()));
    stop.send(()).unwrap();
    server.join().unwrap();
    let lost = call(&client, "add", r#"{"a": 2, "b": 3}"#).await.unwrap_err();
    check("the error of a call", &format!("{lost:?} {lost:#}"));
    // The first call may have lost its own connection.
    let refused = call(&client, "add", r#"{"a": 2, "b": 3}"#).await.unwrap_err();
    check("the error of the next call", &format!("{refused:?} {refused:#}"));
    event(&mut events, |event| {
        check("an event", &format!("{event:?}"));
        matches!(event, McpEvent::ReconnectFailed { .. }).then_some(())
    })
    .await;
    check("the error of a list", &format!("{:?}", client.refresh().await));
    let down = call(&client, "add", r#"{"a": 2, "b": 3}"#).await.unwrap_err();
    check("the error of a refused call", &format!("{down:?} {down:#}"));
    let failed = within(McpClient::builder(secret(&address)).connect()).await.unwrap_err();
    check("the error of a connection", &format!("{failed:?} {failed}"));
    assert!(failed.to_string().contains("Connection refused"), "the cause stays: {failed}");
}
