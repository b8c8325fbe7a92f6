//! The direct answer to a usual call over HTTP is the answer of the SDK: requests with random deviations, sent twice.

use super::client::{PATIENCE, STATELESS};
use super::http::open_session;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use toolkit::middleware::{PermissionRule, Permissions};
use toolkit::{ClosureTool, Dispatcher, ToolContext, ToolError, ToolParams, ToolRegistry, tool, tools};
use toolkit_mcp::McpServer;
use toolkit_mcp::server::{Caller, LogLevel, ask_client};

/// Repeats a number.
#[tool]
fn number(big: u128) -> String {
    big.to_string()
}

/// Fails.
#[tool]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("no luck"))
}

/// Tells about the request.
#[tool]
async fn request(#[state] caller: &Caller) -> String {
    caller.log(LogLevel::Error, "asked").await;
    let header = caller.header("mcp-method").unwrap_or("none");
    let version = caller.protocol_version().unwrap_or_default();
    format!("{header} {version} {:?} {}", caller.client_name(), caller.can_elicit())
}

/// Reports progress.
#[tool]
fn steps(context: &ToolContext) -> &'static str {
    for step in 1..=4 {
        context.progress(f64::from(step) / 4.0, format!("step {step}"));
    }
    "stepped"
}

#[derive(ToolParams)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// Asks for approval.
#[tool]
fn pay() -> &'static str {
    "paid"
}

async fn serve(settings: impl FnOnce(McpServer) -> McpServer) -> SocketAddr {
    let mut registry = ToolRegistry::from_tools(tools![number, fail, request, pay, steps]).expect("legal");
    let region = ClosureTool::new("region", "Returns a region.", |place: Place| place.region).expect("legal");
    registry.register(region).expect("a new name");
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("pay").expect("a pattern"))
        .rule(PermissionRule::allow())
        .with_handler(ask_client);
    let dispatcher = Dispatcher::new(registry.with_run_state::<Caller>()).expect("complete");
    let server = settings(McpServer::from(dispatcher.with_middleware(permissions)).with_secret("secret"));
    let server = server.bind_http("127.0.0.1:0").await.expect("a free port");
    let address = server.address();
    tokio::spawn(server.run_until(std::future::pending()));
    address
}

/// Each header and each member of the body of a request. The usual form is first, followed by deviations.
type Parts = [(&'static str, &'static [&'static str]); 15];

/// Requests of the version without sessions.
const PARTS: Parts = [
    (
        "Host",
        &[
            "127.0.0.1",
            "localhost:8000",
            "[::1]:1",
            "tools.example.com",
            "LOCALHOST",
            "::1",
            "localhost:99999",
            "localhost:",
            "evil.example.com",
            "localhost.evil.example.com",
            "localhost@evil.example.com",
            "evil.example.com:localhost",
            "",
            "[::1",
        ],
    ),
    (
        "Accept",
        &[
            "application/json, text/event-stream",
            "text/event-stream, application/json",
            "application/json,text/event-stream",
            "application/json",
            "*/*",
            "application/json;q=0, text/event-stream",
        ],
    ),
    (
        "Content-Type",
        &["application/json", "application/json; charset=utf-8", "text/plain", "Application/JSON"],
    ),
    (
        "MCP-Protocol-Version",
        &[
            "2026-07-28",
            "2025-11-25",
            "2099-01-01",
            " 2026-07-28",
            "2026-07-28\r\nMCP-Protocol-Version: 2025-11-25",
        ],
    ),
    ("Mcp-Method", &["tools/call", "tools/list", "TOOLS/CALL", "tools/call\r\nMcp-Method: tools/call"]),
    (
        "Mcp-Name",
        &["NAME", "number", "=?base64?bnVtYmVy?=", "=?base64?x?=", "NAME\r\nMcp-Name: NAME", "Number"],
    ),
    (
        "X-More",
        &[
            "1",
            "1\r\nMcp-Param-Region: north",
            "1\r\nMcp-Session-Id: 5",
            "1\r\nOrigin: http://evil.example.com",
        ],
    ),
    ("\"jsonrpc\":", &["\"2.0\"", "\"1.0\"", "2.0"]),
    ("\"id\":", &["1", "\"one\"", "null", "1.5", "-1", "1,\"id\":2", "99999999999999999999"]),
    ("\"method\":", &["\"tools/call\"", "\"tools/list\"", "\"tools\\/call\"", "5"]),
    ("\"name\":", &["\"NAME\"", "\"number\"", "\"nothing\"", "5", "\"NAME\",\"name\":\"number\""]),
    (
        "\"arguments\":",
        &[
            "{}",
            "{\"big\":340282366920938463463374607431768211455}",
            "{\"region\":\"north\"}",
            "null",
            "[1]",
            "\"{}\"",
            "{}}",
        ],
    ),
    (
        "\"io.modelcontextprotocol/protocolVersion\":",
        &["\"2026-07-28\"", "\"2025-11-25\"", "\"2099-01-01\"", "5"],
    ),
    (
        "\"io.modelcontextprotocol/clientCapabilities\":",
        &[
            "{}",
            "{\"elicitation\":{}}",
            "null",
            "5",
            "{},\"io.modelcontextprotocol/logLevel\":\"debug\"",
            "{},\"progressToken\":7",
        ],
    ),
    (
        "\"requestState\":",
        &[
            "null",
            "\"forged\"",
            "null,\"inputResponses\":{\"toolkit.approval\":{\"action\":\"accept\",\"content\":{}}}",
            "5",
            "null,\"other\":1",
        ],
    ),
];

/// Requests in a session.
const SESSION_PARTS: Parts = [
    PARTS[0],
    PARTS[1],
    PARTS[2],
    (
        "MCP-Protocol-Version",
        &[
            "2025-11-25",
            "2025-06-18",
            "2025-03-26",
            "2024-11-05",
            "2026-07-28",
            "2099-01-01",
            "2025-11-25\r\nMCP-Protocol-Version: 2025-11-25",
        ],
    ),
    ("Mcp-Session-Id", &["SESSION", "5", "", "SESSION\r\nMcp-Session-Id: SESSION"]),
    ("Mcp-Method", &["tools/call", "tools/list"]),
    PARTS[6],
    PARTS[7],
    PARTS[8],
    PARTS[9],
    PARTS[10],
    PARTS[11],
    ("\"progressToken\":", &["7", "\"seven\"", "null", "{}"]),
    (
        "\"more\":",
        &[
            "1",
            "1,\"io.modelcontextprotocol/logLevel\":\"debug\"",
            "1,\"io.modelcontextprotocol/protocolVersion\":\"2025-11-25\"",
            "1,\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"",
            "1,\"io.modelcontextprotocol/protocolVersion\":5",
            "1,\"io.modelcontextprotocol/clientCapabilities\":{}",
        ],
    ),
    PARTS[14],
];

const NAMES: [&str; 7] = ["number", "fail", "request", "region", "pay", "steps", "nothing"];

/// A choice for each part: usually the usual form, sometimes a deviation, and rarely none of it.
fn requests(parts: &'static Parts) -> impl Strategy<Value = (String, String)> {
    let choice = prop_oneof![12 => Just(Some(0_usize)), 3 => any::<usize>().prop_map(Some), 1 => Just(None)];
    (prop::sample::select(&NAMES[..]), prop::collection::vec(choice, parts.len())).prop_map(
        move |(name, choices)| {
            let chosen: Vec<Option<&str>> = parts
                .iter()
                .zip(choices)
                .map(|((_, forms), choice)| choice.map(|index| forms[index % forms.len()]))
                .collect();
            let written = |range: std::ops::Range<usize>, between: &str| {
                let parts = parts[range.clone()].iter().zip(&chosen[range]);
                let parts = parts.filter_map(|((key, _), form)| Some(format!("{key}{between}{}", (*form)?)));
                parts.collect::<Vec<_>>()
            };
            let headers: String = written(0..7, ": ").iter().map(|line| format!("{line}\r\n")).collect();
            let envelope = written(7..10, "").join(",");
            let params =
                written(10..12, "").into_iter().chain(written(14..15, "")).collect::<Vec<_>>().join(",");
            let meta = written(12..14, "").join(",");
            let body = format!("{{{envelope},\"params\":{{{params},\"_meta\":{{{meta}}}}}}}");
            (headers.replace("NAME", name), body.replace("NAME", name))
        },
    )
}

/// The status, the headers, and the lines of the body without the framing of chunks.
type Answer = (String, Vec<String>, Vec<Value>);

async fn send(address: SocketAddr, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let request =
        format!("POST /mcp HTTP/1.1\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}");
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response).await.map(|_| response)
    };
    let response =
        timeout(PATIENCE, exchange).await.expect("the server answers").expect("the server is there");
    let response = String::from_utf8(response).expect("text");
    let (head, mut body) = response.split_once("\r\n\r\n").expect("a head");
    let mut lines = head.lines().map(str::to_owned);
    let status = lines.next().unwrap_or_default();
    let mut headers: Vec<String> = lines.filter(|line| !line.starts_with("date:")).collect();
    headers.sort();
    let mut whole = String::new();
    if headers.iter().any(|line| line == "transfer-encoding: chunked") {
        while let Some((size, rest)) = body.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).expect("a size");
            whole.push_str(&rest[..size]);
            body = rest[size..].trim_start_matches("\r\n");
        }
    } else {
        whole.push_str(body);
    }
    let lines = whole.lines().filter(|line| !line.starts_with("id:"));
    // Compared as JSON, because the SDK writes the members of some objects in a random order.
    let json = |line: &str| match line.strip_prefix("data: ").map(serde_json::from_str::<Value>) {
        Some(Ok(message)) => Value::Array(vec![message]),
        _ => serde_json::from_str(line).unwrap_or_else(|_| line.into()),
    };
    (status, headers, lines.map(json).collect())
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime")
}

/// Sends random requests twice: as they are, and with a header that leaves the request to the SDK. Returns the
/// number of accepted requests.
fn compare(parts: &'static Parts, addresses: [SocketAddr; 2], session: &str) -> usize {
    let runtime = runtime();
    let mut runner = TestRunner::new(ProptestConfig { cases: 600, ..ProptestConfig::default() });
    let direct = std::cell::Cell::new(0);
    let checked = runner.run(&(requests(parts), any::<bool>()), |((headers, body), is_first)| {
        let address = addresses[usize::from(is_first)];
        let headers = headers.replace("SESSION", session);
        // An origin of this machine is always accepted, and leaves the request to the SDK.
        let by_sdk = format!("Origin: http://localhost:3000\r\n{headers}");
        let is_refused = headers.contains("Origin:");
        let (ours, sdk) = runtime
            .block_on(async { (send(address, &headers, &body).await, send(address, &by_sdk, &body).await) });
        if !is_refused {
            direct.set(direct.get() + usize::from(ours.0.contains("200")));
            prop_assert_eq!(signed(ours), signed(sdk), "{}\n{}", headers, body);
        }
        Ok(())
    });
    checked.expect("the same responses");
    direct.get()
}

#[test]
fn a_request_has_the_same_response_with_and_without_the_sdk() {
    let servers = runtime();
    let local = servers.block_on(serve(|server| server));
    let named =
        servers.block_on(serve(|server| server.with_allowed_hosts(["tools.example.com", "localhost:8000"])));
    let accepted = compare(&PARTS, [local, named], "none");
    assert!(accepted > 30, "only {accepted} requests were accepted");
}

#[test]
fn a_request_in_a_session_has_the_same_response_with_and_without_the_sdk() {
    let servers = runtime();
    let address = servers.block_on(serve(|server| server));
    let session = servers.block_on(open_session(address));
    let session = session.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: "));
    let accepted = compare(&SESSION_PARTS, [address, address], session.expect("a session"));
    assert!(accepted > 30, "only {accepted} requests were accepted");
}

/// Removes the signed state, which contains the time.
fn signed((status, headers, mut messages): Answer) -> (String, Vec<String>, Vec<Value>) {
    let mut is_changed = false;
    for message in &mut messages {
        if let Some(state) = message.pointer_mut("/result/requestState") {
            *state = "signed".into();
            is_changed = true;
        }
    }
    // The state has a length of its own.
    let headers = headers.into_iter().filter(|line| !is_changed || !line.starts_with("content-length:"));
    (status, headers.collect(), messages)
}

#[test]
fn the_usual_form_is_the_first_of_each_part() {
    assert_eq!((PARTS[3].1[0], SESSION_PARTS[3].1[0]), (STATELESS, "2025-11-25"));
}
