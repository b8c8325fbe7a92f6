//! The server beside a bare server of the official SDK with the same tool: calls in memory, over stdio and
//! over HTTP, counted instructions, the list of a thousand tools, and the memory of two hundred sessions.
//!
//! `cargo bench -p toolkit-mcp --all-features --bench server [-- WORD]` measures the sections that contain
//! the word. Both servers take turns in short rounds, so that both meet the same load of the machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "support/bare.rs"]
mod bare;

use bare::{Add, Bare, can_count, count, counted, report_counts};
use rmcp::ServiceExt;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use std::env;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use toolkit::{ClosureTool, ToolRegistry, tool, tools};
use toolkit_mcp::McpServer;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

fn ours() -> McpServer {
    McpServer::new(ToolRegistry::from_tools(tools![add]).unwrap()).unwrap()
}

/// A server in the comparison.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Toolkit,
    Sdk,
    FastMcp,
}

impl Kind {
    const BOTH: [Self; 2] = [Self::Toolkit, Self::Sdk];

    fn name(self) -> &'static str {
        match self {
            Self::Toolkit => "toolkit",
            Self::Sdk => "rmcp",
            Self::FastMcp => "fastmcp",
        }
    }
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A client that writes calls and reads responses as lines, with as little work as possible.
struct LineClient {
    read: BufReader<Pin<Box<dyn AsyncRead + Send>>>,
    write: Pin<Box<dyn AsyncWrite + Send>>,
    line: Vec<u8>,
    next: u64,
    _child: Option<Child>,
}

impl LineClient {
    fn new(
        read: impl AsyncRead + Send + 'static,
        write: impl AsyncWrite + Send + 'static,
        child: Option<Child>,
    ) -> Self {
        let read = BufReader::new(Box::pin(read) as Pin<Box<dyn AsyncRead + Send>>);
        Self { read, write: Box::pin(write), line: Vec::new(), next: 1, _child: child }
    }

    async fn in_memory(kind: Kind) -> Self {
        let (client, server) = tokio::io::duplex(1 << 16);
        match kind {
            Kind::Toolkit => drop(tokio::spawn(ours().serve(server))),
            _ => drop(tokio::spawn(async { Bare::new().serve(server).await.unwrap().waiting().await })),
        }
        let (read, write) = tokio::io::split(client);
        Self::new(read, write, None).open().await
    }

    async fn over_stdio(kind: Kind) -> Option<Self> {
        let mut command = match kind {
            Kind::FastMcp => {
                let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
                let tools = env::var("TOOLKIT_MCP_TOOLS").unwrap_or(format!("{root}/target/mcp-tools"));
                let mut command = Command::new(format!("{tools}/python/bin/python"));
                command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/fastmcp_server.py"));
                command
            }
            _ => {
                let mut command = Command::new(env::current_exe().unwrap());
                command.args(["serve-stdio", kind.name()]);
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().ok()?;
        let (read, write) = (child.stdout.take()?, child.stdin.take()?);
        Some(Self::new(read, write, Some(child)).open().await)
    }

    async fn open(mut self) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
        self.response().await;
        let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        self.write.write_all(initialized.as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
        self
    }

    async fn send(&mut self, calls: u64) {
        let mut lines = String::new();
        for _ in 0..calls {
            let id = self.next;
            self.next += 1;
            lines.push_str(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"add\",\"arguments\":{{\"a\":{id},\"b\":2}}}}}}\n"
            ));
        }
        self.write.write_all(lines.as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
    }

    async fn response(&mut self) {
        self.line.clear();
        let read = self.read.read_until(b'\n', &mut self.line).await.unwrap();
        assert!(read > 0, "the server has left");
    }

    /// Runs one call.
    async fn call(&mut self) {
        self.send(1).await;
        self.response().await;
        debug_assert!(self.line.windows(6).any(|part| part == b"result"));
    }

    /// Runs calls with many on their way at once.
    async fn flood(&mut self, calls: u64) {
        for _ in 0..calls / 50 {
            self.send(50).await;
            for _ in 0..50 {
                self.response().await;
            }
        }
    }
}

/// A client over one HTTP connection that stays open.
struct HttpClient {
    stream: BufReader<TcpStream>,
    session: Option<String>,
    next: u64,
}

impl HttpClient {
    async fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), session: None, next: 1 }
    }

    async fn post(&mut self, headers: &str, body: &str) -> String {
        let session = self.session.as_ref().map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{session}{headers}\r\n{body}",
            body.len(),
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        let (mut head, mut length, mut is_chunked) = (String::new(), 0, false);
        loop {
            let start = head.len();
            assert!(self.stream.read_line(&mut head).await.unwrap() > 0, "the server has left");
            let line = head[start..].trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            is_chunked |= line == "transfer-encoding: chunked";
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        while is_chunked {
            let mut size = String::new();
            self.stream.read_line(&mut size).await.unwrap();
            let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).unwrap() + 2];
            self.stream.read_exact(&mut chunk).await.unwrap();
            is_chunked = chunk.len() > 2;
        }
        head
    }

    /// Runs one call of the version without sessions.
    async fn call(&mut self) {
        let id = self.next;
        self.next += 1;
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"add\",\"arguments\":{{\"a\":{id},\"b\":2}},{META}}}}}"
        );
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n";
        let head = self.post(headers, &body).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }

    async fn open_session(&mut self) {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let head = self.post("", body).await;
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        self.session = Some(session.expect("a session").trim().to_owned());
        self.post(
            "MCP-Protocol-Version: 2025-11-25\r\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )
        .await;
    }
}

async fn serve_http(kind: Kind, listener: TcpListener) {
    let router = match kind {
        Kind::Toolkit => ours().into_router(),
        _ => {
            let config = StreamableHttpServerConfig::default().with_json_response(true);
            let service = StreamableHttpService::new(
                || Ok(Bare::new()),
                std::sync::Arc::new(LocalSessionManager::default()),
                config,
            );
            axum::Router::new().route_service("/mcp", service)
        }
    };
    axum::serve(axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true))), router)
        .await
        .unwrap();
}

/// Starts a server over HTTP in a process of its own and returns its port.
async fn http_child(kind: Kind) -> (Child, u16) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["serve-http", kind.name()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let port = port(&mut child).await;
    (child, port)
}

/// Reads the port of a server.
async fn port(child: &mut Child) -> u16 {
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).await.unwrap();
    port.trim().parse().unwrap()
}

/// Counts the instructions of one call with callgrind, over stdio and over HTTP. The count does not depend on the load
/// of the machine.
async fn instructions() {
    const CALLS: [u64; 2] = [500, 1_000];
    let per_call = |counts: [u64; 2]| (counts[1] - counts[0]) / (CALLS[1] - CALLS[0]);
    let mut stdio = Kind::BOTH.map(|kind| (kind.name(), 0));
    let mut http = stdio;
    for (index, kind) in Kind::BOTH.into_iter().enumerate() {
        let (mut over_stdio, mut over_http) = ([0; 2], [0; 2]);
        for (round, calls) in CALLS.into_iter().enumerate() {
            let mut command = counted(&["serve-stdio", kind.name()]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let (read, write) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
            let mut client = LineClient::new(read, write, None).open().await;
            for _ in 0..calls {
                client.call().await;
            }
            drop(client);
            over_stdio[round] = count(child).await;

            let mut command = counted(&["serve-http", kind.name()]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut client = HttpClient::connect(port(&mut child).await).await;
            for _ in 0..calls {
                client.call().await;
            }
            drop((client, child.stdin.take()));
            over_http[round] = count(child).await;
        }
        (stdio[index].1, http[index].1) = (per_call(over_stdio), per_call(over_http));
    }
    report_counts("instructions/stdio, one call", stdio);
    report_counts("instructions/http without sessions, one call", http);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn report(section: &str, times: &[(Kind, Duration)]) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let sdk = times.iter().find(|(kind, _)| *kind == Kind::Sdk).map(|(_, time)| micros(*time));
    for (kind, time) in times {
        let ratio = sdk.map(|sdk| micros(*time) / sdk).unwrap_or_default();
        println!("{section:<44} {:<8} {:>10.1} µs  {ratio:>5.2}", kind.name(), micros(*time));
    }
}

/// Measures rounds of both sides in turn and returns the medians.
async fn rounds<T: Send>(
    sides: &mut [(Kind, T)],
    rounds: usize,
    mut round: impl for<'a> FnMut(&'a mut T) -> Pin<Box<dyn Future<Output = Duration> + 'a>>,
) -> Vec<(Kind, Duration)> {
    let mut times: Vec<Vec<Duration>> = sides.iter().map(|_| Vec::new()).collect();
    for (_, side) in sides.iter_mut() {
        round(side).await;
    }
    for _ in 0..rounds {
        for (index, (_, side)) in sides.iter_mut().enumerate() {
            times[index].push(round(side).await);
        }
    }
    sides.iter().map(|(kind, _)| *kind).zip(times.into_iter().map(median)).collect()
}

fn one_by_one(client: &mut LineClient) -> Pin<Box<dyn Future<Output = Duration> + '_>> {
    Box::pin(async {
        let started = Instant::now();
        for _ in 0..200 {
            client.call().await;
        }
        started.elapsed() / 200
    })
}

fn flood(client: &mut LineClient) -> Pin<Box<dyn Future<Output = Duration> + '_>> {
    Box::pin(async {
        let started = Instant::now();
        client.flood(2_000).await;
        started.elapsed() / 2_000
    })
}

async fn calls() {
    let mut sides = Vec::new();
    for kind in Kind::BOTH {
        sides.push((kind, LineClient::in_memory(kind).await));
    }
    report("calls/memory, one by one", &rounds(&mut sides, 25, one_by_one).await);
    report("calls/memory, 50 at once, per call", &rounds(&mut sides, 25, flood).await);

    let mut sides = Vec::new();
    for kind in [Kind::Toolkit, Kind::Sdk, Kind::FastMcp] {
        match LineClient::over_stdio(kind).await {
            Some(client) => sides.push((kind, client)),
            None => println!("{} is not installed; `conformance/peers.sh` installs it", kind.name()),
        }
    }
    report("calls/stdio, one by one", &rounds(&mut sides, 15, one_by_one).await);
    report("calls/stdio, 50 at once, per call", &rounds(&mut sides, 15, flood).await);

    let mut sides = Vec::new();
    for kind in Kind::BOTH {
        let (child, port) = http_child(kind).await;
        sides.push((kind, (child, HttpClient::connect(port).await)));
    }
    let http = rounds(&mut sides, 25, |(_, client): &mut (Child, HttpClient)| {
        Box::pin(async {
            let started = Instant::now();
            for _ in 0..100 {
                client.call().await;
            }
            started.elapsed() / 100
        })
    });
    report("calls/http without sessions, one by one", &http.await);
}

/// A server of the SDK whose router is rebuilt for each request, as its macro does by default.
struct Rebuilt(usize);

impl Rebuilt {
    fn router(&self) -> ToolRouter<Self> {
        let mut router = ToolRouter::new();
        for number in 0..self.0 {
            let schema = rmcp::handler::server::tool::schema_for_type::<Add>();
            let tool = Tool::new(format!("tool_{number:04}"), "Adds two numbers.", schema);
            router.add_route(ToolRoute::new_dyn(tool, |_| {
                Box::pin(async { Ok(CallToolResult::success(vec![ContentBlock::text("")]).into()) })
            }));
        }
        router
    }
}

async fn listing() {
    const TOOLS: usize = 1_000;
    let tools = (0..TOOLS).map(|number| {
        ClosureTool::new(&format!("tool_{number:04}"), "Adds two numbers.", |Add { a, b }: Add| a + b)
            .unwrap()
    });
    let registry = ToolRegistry::from_tools(tools).unwrap();
    let server = McpServer::new(registry).unwrap();
    let bare = Rebuilt(TOOLS);
    let stored = bare.router();
    let time = |mut list: Box<dyn FnMut() -> usize>| {
        list();
        let times = (0..25).map(|_| {
            let started = Instant::now();
            assert_eq!(black_box(list()), TOOLS);
            started.elapsed()
        });
        median(times.collect())
    };
    let ours = time(Box::new(move || server.list_once()));
    let rebuilt = time(Box::new(move || bare.router().list_all().len()));
    let stored = time(Box::new(move || stored.list_all().len()));
    report("listing a thousand tools", &[(Kind::Toolkit, ours), (Kind::Sdk, rebuilt)]);
    report("listing a thousand tools, stored router", &[(Kind::Sdk, stored)]);
}

/// The way of arguments to the decoder: the client's own text, or the parsed object written as text.
fn argument_texts() {
    #[derive(serde::Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: &'a serde_json::value::RawValue,
    }
    let rows: Vec<_> =
        (0..100).map(|row| json!({"id": row, "name": "a name", "value": 1.5, "on": true})).collect();
    for (size, arguments) in [("small", json!({"a": 1, "b": 2})), ("6 KB", json!({ "rows": rows }))] {
        let params = json!({"name": "add", "arguments": arguments});
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let time = |work: &dyn Fn() -> usize| {
            let times = (0..101).map(|_| {
                let started = Instant::now();
                for _ in 0..100 {
                    black_box(work());
                }
                started.elapsed() / 100
            });
            median(times.collect())
        };
        let raw = time(&|| {
            let message: Message<'_> = serde_json::from_str(&message).unwrap();
            let text: std::sync::Arc<str> = message.params.arguments.get().into();
            black_box(&*text).to_owned().len()
        });
        let written = time(&|| arguments.to_string().len());
        for (way, time) in [("found in the message", raw), ("written again", written)] {
            println!("arguments, {size:<6} {way:<26} {:>20.2} µs", time.as_secs_f64() * 1e6);
        }
    }
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0)
}

async fn sessions() {
    for kind in Kind::BOTH {
        let (child, port) = http_child(kind).await;
        let pid = child.id().unwrap();
        let mut first = HttpClient::connect(port).await;
        first.open_session().await;
        let before = resident(pid);
        let mut clients = Vec::new();
        for _ in 0..200 {
            let mut client = HttpClient::connect(port).await;
            client.open_session().await;
            clients.push(client);
        }
        let used = resident(pid).saturating_sub(before);
        println!(
            "sessions, 200 open {:>33} {used:>8} KiB, {:.1} KiB each",
            kind.name(),
            used as f64 / clients.len() as f64
        );
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let kind = |name: &str| if name == "toolkit" { Kind::Toolkit } else { Kind::Sdk };
    match words[..] {
        ["serve-stdio", name] => match kind(name) {
            Kind::Toolkit => ours().serve_stdio().await.unwrap(),
            _ => bare::serve_stdio().await,
        },
        // Ends with standard input.
        ["serve-http", name] => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            println!("{}", listener.local_addr().unwrap().port());
            let mut input = tokio::io::stdin();
            tokio::select! {
                () = serve_http(kind(name), listener) => {}
                _ = input.read_u8() => {}
            }
        }
        _ => {
            let wanted = |section: &str| {
                let mut words = words.iter().filter(|word| !word.starts_with('-')).peekable();
                words.peek().is_none() || words.any(|word| section.contains(word))
            };
            println!("{:<44} {:<8} {:>13}  {:>5}", "", "", "median", "/rmcp");
            if wanted("calls") {
                calls().await;
            }
            if wanted("instructions") && can_count().await {
                instructions().await;
            }
            if wanted("arguments") {
                argument_texts();
            }
            if wanted("listing") {
                listing().await;
            }
            if wanted("sessions") {
                sessions().await;
            }
        }
    }
}
