//! This crate's client and server, over HTTP and with both versions of the protocol.

use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::output::Truncation;
use toolkit_ai::{
    ClosureTool, Dispatcher, LiveRegistry, RunContext, ToolContext, ToolError, ToolName, ToolRegistry, tool,
    tools,
};
use toolkit_mcp::client::{
    ElicitationAnswer, ElicitationRequest, McpClient, McpClientBuilder, McpEndpoint, McpEvent, McpProtocol,
    McpUrl,
};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, LogLevel, ask_client};

/// The time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

const PROTOCOLS: [McpProtocol; 2] = [McpProtocol::Stateless, McpProtocol::Handshake];

struct Tenant(String);

/// Tells the tenant and the region.
#[tool]
fn tenant(#[state] tenant: &Tenant, #[state] caller: &Caller) -> String {
    let region = caller.extension::<Region>().map_or("none", |region| region.0);
    format!("{} in {region}", tenant.0)
}

/// Deletes everything.
#[tool(destructive)]
fn delete() -> &'static str {
    "deleted"
}

/// Reports progress and logs.
#[tool]
async fn steps(context: &ToolContext, #[state] caller: &Caller) -> &'static str {
    for step in 1..=4 {
        context.progress(f64::from(step) / 4.0, format!("step {step}"));
        caller.log(LogLevel::Info, format!("step {step}")).await;
    }
    "stepped"
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Balance {
    wei: u128,
    debts: Vec<i128>,
    ratio: f64,
    mean: Option<f32>,
}

/// Pays, and returns the balance. No JSON value holds its numbers.
#[tool]
fn balance() -> Balance {
    let wei = 123_456_789_012_345_678_901_234_567_890;
    Balance { wei, debts: vec![1, -18_446_744_073_709_551_617], ratio: f64::NAN, mean: Some(f32::INFINITY) }
}

/// What a layer found out about a request.
#[derive(Clone)]
struct Region(&'static str);

async fn serve() -> (String, LiveRegistry) {
    let registry = ToolRegistry::from_tools(tools![tenant, delete, steps, balance]).unwrap();
    let live = LiveRegistry::new(registry.with_run_state::<Caller>().with_run_state::<Tenant>()).unwrap();
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it deletes data").for_tool("delete").unwrap())
        .rule(PermissionRule::allow())
        .with_handler(ask_client);
    let dispatcher = Dispatcher::new(live.clone()).unwrap().with_middleware(permissions);
    let server = McpServer::from(dispatcher).with_call_state(|caller| {
        let tenant = caller.header("x-tenant").map(|tenant| Tenant(tenant.to_owned()));
        tenant.ok_or_else(|| ToolError::failed("the header `x-tenant` is missing"))
    });
    let add_region = |mut request: axum::extract::Request| {
        request.extensions_mut().insert(Region("north"));
        request
    };
    let app = axum::Router::new().nest_service("/mcp", server.into_service());
    let app = app.layer(tower::util::MapRequestLayer::new(add_region));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, live)
}

fn builder(url: &str, protocol: McpProtocol) -> McpClientBuilder {
    McpClient::builder(McpUrl::new(url).with_header("x-tenant", "acme")).protocol(protocol)
}

async fn connect(builder: McpClientBuilder) -> McpClient {
    timeout(PATIENCE, builder.connect()).await.expect("nothing hangs").unwrap()
}

async fn call(client: &McpClient, name: &str, run: RunContext) -> Result<String, ToolError> {
    let mut registry = ToolRegistry::new();
    registry.register_provider(client.clone()).unwrap();
    let context = ToolContext::new(ToolName::new(name).unwrap()).with_run(run);
    let tool = registry.get(name).expect("a tool").clone();
    let output = timeout(PATIENCE, tool.call("{}", &context)).await.expect("nothing hangs");
    output.map(|output| output.to_text().into_owned())
}

#[tokio::test]
async fn headers_and_extensions_of_a_request_become_state_of_the_call() {
    let (url, _live) = serve().await;
    for protocol in PROTOCOLS {
        let client = connect(builder(&url, protocol)).await;
        assert_eq!(call(&client, "tenant", RunContext::new()).await.unwrap(), "acme in north");
        client.close().await;
        let anonymous = connect(McpClient::builder(McpUrl::new(&url)).protocol(protocol)).await;
        let error = call(&anonymous, "tenant", RunContext::new()).await.unwrap_err();
        assert!(error.message().contains("the header `x-tenant` is missing"), "{error}");
        anonymous.close().await;
    }
}

#[tokio::test]
async fn numbers_that_no_value_holds_are_in_the_text_of_a_success() {
    let (url, _live) = serve().await;
    let expected = r#"{"wei":123456789012345678901234567890,"debts":[1,-18446744073709551617],"ratio":null,"mean":null}"#;
    for protocol in PROTOCOLS {
        let client = connect(builder(&url, protocol)).await;
        assert_eq!(call(&client, "balance", RunContext::new()).await.unwrap(), expected);
        client.close().await;
    }
}

#[tokio::test]
async fn the_user_of_the_client_approves_or_refuses_a_call() {
    let (url, _live) = serve().await;
    for protocol in PROTOCOLS {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let questions = asked.clone();
        let client = builder(&url, protocol).elicitation(move |request: ElicitationRequest| {
            let questions = questions.clone();
            async move {
                let mut questions = questions.lock().unwrap();
                questions.push(request.message);
                match questions.len() {
                    1 => ElicitationAnswer::Accept(serde_json::Map::new()),
                    _ => ElicitationAnswer::Decline,
                }
            }
        });
        let client = connect(client).await;
        assert_eq!(call(&client, "delete", RunContext::new()).await.unwrap(), "deleted");
        let error = call(&client, "delete", RunContext::new()).await.unwrap_err();
        assert!(error.message().contains("the user refused it"), "{error}");
        let question = "Allow the tool `delete` to run? Reason: it deletes data. Arguments: {}";
        assert_eq!(*asked.lock().unwrap(), [question, question]);
        client.close().await;
        // Without a handler, a client cannot ask its user.
        let client = connect(builder(&url, protocol)).await;
        let error = call(&client, "delete", RunContext::new()).await.unwrap_err();
        assert!(error.message().contains("the client cannot ask its user"), "{error}");
        client.close().await;
    }
}

#[tokio::test]
async fn progress_and_log_messages_reach_the_program() {
    let (url, _live) = serve().await;
    for protocol in PROTOCOLS {
        let client = connect(builder(&url, protocol)).await;
        let mut events = client.events();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let listener = seen.clone();
        let run = RunContext::new().on_progress(move |progress| {
            listener.lock().unwrap().push((progress.fraction, progress.message.clone()));
        });
        assert_eq!(call(&client, "steps", run).await.unwrap(), "stepped");
        let expected = [(0.25, "step 1"), (0.5, "step 2"), (0.75, "step 3"), (1.0, "step 4")];
        let expected = expected.map(|(fraction, text)| (fraction, text.to_owned()));
        assert_eq!(*seen.lock().unwrap(), expected, "{protocol:?}");
        // Since 2026-07-28, a request asks for log messages itself, which this client does not do.
        for step in (1..=4).filter(|_| protocol == McpProtocol::Handshake) {
            let event = timeout(PATIENCE, events.next()).await.expect("nothing hangs").expect("an event");
            let Ok(McpEvent::Log { level, data, .. }) = event else { panic!("{event:?}") };
            assert_eq!((level.as_str(), data), ("info", json!(format!("step {step}"))));
        }
        client.close().await;
    }
}

#[tokio::test]
async fn a_change_of_a_live_registry_reaches_the_live_registry_of_the_client() {
    for protocol in PROTOCOLS {
        let (url, live) = serve().await;
        let client = connect(builder(&url, protocol).namespace("far")).await;
        let near = LiveRegistry::new(ToolRegistry::new()).unwrap();
        let _following = client.follow(&near).unwrap();
        let mut events = near.subscribe();
        // A stateless subscription opens in the background, so the first changes may be missed.
        let changes = tokio::spawn(async move {
            loop {
                let new = ClosureTool::without_arguments("new", "Is new.", || "new").unwrap();
                live.change(|registry| registry.register(new)).unwrap();
                tokio::time::sleep(Duration::from_millis(300)).await;
                live.change(|registry| registry.unregister("new").map(drop)).unwrap();
            }
        });
        let event = timeout(PATIENCE, events.next()).await.expect("the change arrives").unwrap().unwrap();
        changes.abort();
        assert_eq!(event.tool.to_string(), "far-new", "{protocol:?}");
        client.close().await;
    }
}

/// Counts far.
#[tool]
fn count() -> String {
    (0..1_000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn the_full_text_of_a_truncated_result_is_read_by_its_link() {
    for protocol in PROTOCOLS {
        let server = McpServer::new(ToolRegistry::from_tools(tools![count]).unwrap()).unwrap();
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(server.with_truncation(Truncation::new(200)).serve(far));
        let (reader, writer) = tokio::io::split(near);
        let client =
            connect(McpClient::builder(McpEndpoint::streams(reader, writer)).protocol(protocol)).await;
        let mut registry = ToolRegistry::new();
        registry.register_provider(client.clone()).unwrap();
        registry.register_provider(client.resource_tools().unwrap()).unwrap();
        let short = registry.call("count", "{}").await.unwrap().to_text().into_owned();
        let start = short.find("toolkit://outputs/").expect("a link");
        let uri: String = short[start..]
            .chars()
            .take_while(|part| !part.is_whitespace() && !"`];,)".contains(*part))
            .collect();
        let full = registry.call("read_resource", json!({ "uri": uri })).await.unwrap();
        assert!(full.to_text().ends_with("998 999"), "{protocol:?}: {full:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_without_prompts_lists_none_and_says_so() {
    let server = McpServer::new(ToolRegistry::new()).unwrap().bind_http("127.0.0.1:0").await.unwrap();
    let url = server.url();
    tokio::spawn(server.run());
    for protocol in PROTOCOLS {
        let builder = McpClient::builder(McpUrl::new(&url)).name("shop").protocol(protocol);
        let client = timeout(PATIENCE, builder.connect()).await.unwrap().unwrap();
        assert_eq!(timeout(PATIENCE, client.prompts()).await.unwrap().unwrap(), []);
        assert_eq!(timeout(PATIENCE, client.resources()).await.unwrap().unwrap(), []);
        let none: [(String, String); 0] = [];
        let error = timeout(PATIENCE, client.prompt("greet", none)).await.unwrap().unwrap_err();
        let expected = "MCP server `shop`: the server has no prompts: it does not know `prompts/get`";
        assert_eq!(error.to_string(), expected);
        client.close().await;
    }
}
