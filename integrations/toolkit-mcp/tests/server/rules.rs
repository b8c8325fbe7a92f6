//! A server with rules that select no tool does not start.

use toolkit_ai::mcp::server::McpServer;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::registry::IntoRegistrySource;
use toolkit_ai::{ClosureTool, Dispatcher, LiveRegistry, ToolRegistry};
use toolkit_mcp::{McpError, McpErrorKind};

fn tools() -> ToolRegistry {
    let pay = ClosureTool::without_arguments("pay", "Pays.", || "paid").expect("a legal name");
    let pay = pay.map_metadata(|metadata| metadata.with_tags(["billing"]));
    ToolRegistry::from_tools([pay]).expect("one tool")
}

fn server(tools: impl IntoRegistrySource, tag: &str) -> McpServer {
    let rules = Permissions::new().rule(PermissionRule::ask("it costs money").for_tag(tag));
    let dispatcher = Dispatcher::new(tools).expect("complete");
    dispatcher.with_middleware(rules.rule(PermissionRule::allow())).into()
}

async fn serve(server: McpServer) -> Result<(), McpError> {
    let (stream, client) = tokio::io::duplex(1_024);
    drop(client);
    server.serve(stream).await
}

fn assert_refused(started: Result<(), McpError>) {
    let error = started.expect_err("the rule selects no tool");
    let expected = "rule `ask` for the tag `biling` selects no tool; did you mean `billing`?";
    assert_eq!((error.kind(), &*error.to_string()), (McpErrorKind::Build, expected));
}

#[tokio::test]
async fn a_server_with_a_rule_that_selects_no_tool_does_not_start() {
    assert_refused(serve(server(tools(), "biling")).await);
    assert!(serve(server(tools(), "billing")).await.is_ok());
    let live = LiveRegistry::new(tools()).expect("complete");
    assert!(serve(server(&live, "biling")).await.is_ok());
}

#[cfg(feature = "server-http")]
#[tokio::test]
async fn a_server_over_http_with_a_rule_that_selects_no_tool_is_not_bound() {
    assert_refused(server(tools(), "biling").bind_http("127.0.0.1:0").await.map(drop));
    assert_refused(server(tools(), "biling").serve_http("127.0.0.1:0").await);
    assert!(server(tools(), "billing").bind_http("127.0.0.1:0").await.is_ok());
}
