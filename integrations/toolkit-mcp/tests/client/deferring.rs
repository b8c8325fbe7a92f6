//! Servers with many tools, which a model finds by a search.

use super::bare::{Bare, tool};
use super::{call, within};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use toolkit_ai::llm::ApiFormat;
use toolkit_ai::registry::IntoRegistrySource;
use toolkit_ai::{LiveRegistry, ToolProvider, ToolRegistry};
use toolkit_mcp::client::{McpClient, McpClientBuilder};
use toolkit_mcp::config::{ConfigFile, McpServers};

/// Returns a server with as many tools, the first of them `add`.
fn server(tools: usize) -> Bare {
    let server = Bare::new();
    grow(&server, tools);
    server
}

fn grow(server: &Bare, tools: usize) {
    let mut listed = server.tools.lock().unwrap();
    listed.truncate(1);
    listed.extend((1..tools).map(|number| tool(&format!("t{number}"), json!({"type": "object"}))));
}

fn published(source: impl IntoRegistrySource) -> usize {
    let definitions = source.into_registry_source().snapshot().definitions(ApiFormat::OpenAiChat).to_value();
    definitions.as_array().unwrap().len()
}

#[tokio::test]
async fn more_than_forty_tools_are_deferred() {
    for (tools, above, listed) in [(40, None, 40), (41, None, 2), (41, Some(41), 41), (3, Some(2), 2)] {
        let mut builder = McpClient::builder(server(tools).endpoint());
        if let Some(above) = above {
            builder = builder.tool_search_above(above);
        }
        let client = within(builder.connect()).await.unwrap();
        let deferred = client.tools().iter().filter(|tool| tool.metadata.defer).count();
        assert_eq!(deferred, if listed == tools { 0 } else { tools }, "{tools} {above:?}");
        assert_eq!(published(&client), listed, "{tools} {above:?}");
        assert_eq!(call(&client, "add", r#"{"a": 2, "b": 3}"#).await.unwrap().to_text(), "5");
    }
}

#[tokio::test]
async fn a_list_that_grows_and_shrinks_is_deferred_while_it_is_long() {
    let server = server(40);
    let client = within(McpClient::builder(server.endpoint()).connect()).await.unwrap();
    let live = LiveRegistry::new(ToolRegistry::new().with_tool_search()).unwrap();
    client.follow(&live).unwrap().detach();
    for (tools, listed) in [(40, 42), (41, 2), (50, 2), (12, 14)] {
        grow(&server, tools);
        client.refresh().await.unwrap();
        within(async {
            while live.snapshot().len() != tools || published(&live) != listed {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    assert_eq!(live.snapshot().call("add", r#"{"a": 2, "b": 3}"#).await.unwrap().to_text(), "5");
}

async fn serve(server: Bare) -> String {
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

async fn connect(
    servers: [usize; 3],
    change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
) -> McpServers {
    let [a, b, c] = servers;
    let config = json!({"mcpServers": {
        "a": {"url": serve(server(a)).await},
        "b": {"url": serve(server(b)).await},
        "c": {"url": serve(server(c)).await},
    }});
    let config = ConfigFile::read(&config.to_string()).unwrap();
    within(McpServers::connect_with(&config, |_| None, change)).await.unwrap()
}

#[tokio::test]
async fn the_tools_of_all_servers_are_counted_together() {
    for (counts, listed) in [([10, 10, 20], 40), ([10, 10, 21], 2)] {
        let servers = connect(counts, |_, builder| builder).await;
        assert_eq!(published(servers.registry()), listed, "{counts:?}");
        let registry = servers.registry().snapshot();
        let sum = within(registry.call("c-add", r#"{"a": 2, "b": 3}"#)).await.unwrap();
        assert_eq!(sum.to_text(), "5");
        within(servers.close()).await;
    }
    // One server's tools stay listed, whatever others have.
    let never = |name: &str, builder: McpClientBuilder| {
        if name == "a" { builder.tool_search_above(usize::MAX) } else { builder }
    };
    let servers = connect([10, 10, 30], never).await;
    assert_eq!(published(servers.registry()), 12);
    within(servers.close()).await;
}
