//! Clients that hold a server's resources, each beside an honest one, for this crate's server and that of an
//! OpenAPI document.

use super::client::PATIENCE;
use super::http::{letters, stateless};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use toolkit_ai::{ToolRegistry, tools};
use toolkit_mcp::server::McpServer;
use toolkit_openapi::server::OpenApiServer;

/// Linux has these addresses of this machine.
const EVIL: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const HONEST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

const FOREVER: Duration = Duration::from_secs(3_600);

const TOKEN: &str = "Authorization: Bearer secret\r\n";

#[derive(Debug, Clone, Copy)]
enum Kind {
    Mcp,
    OpenApi,
}

const KINDS: [Kind; 2] = [Kind::Mcp, Kind::OpenApi];

struct Limits {
    time: Duration,
    connections: usize,
    connections_per_address: usize,
    bodies: usize,
    token: Option<&'static str>,
}

impl Default for Limits {
    fn default() -> Self {
        let many = usize::MAX;
        Self { time: FOREVER, connections: 1_000, connections_per_address: many, bodies: many, token: None }
    }
}

struct Serving {
    kind: Kind,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sets limits of one of the servers, whose setters are named alike.
macro_rules! limited {
    ($server:expr, $limits:expr) => {{
        let server = $server
            .with_read_timeout($limits.time)
            .with_max_connections($limits.connections)
            .with_max_connections_per_address($limits.connections_per_address)
            .with_max_unauthenticated_size($limits.bodies);
        match $limits.token {
            Some(token) => server.with_bearer_token(token),
            None => server,
        }
    }};
}

async fn start(kind: Kind, limits: &Limits) -> Serving {
    let registry = ToolRegistry::from_tools(tools![letters]).unwrap();
    match kind {
        Kind::Mcp => {
            let server = limited!(McpServer::new(registry).unwrap(), limits);
            let server = server.bind_http("127.0.0.1:0").await.unwrap();
            let address = server.address();
            let task = tokio::spawn(async move { server.run_until(std::future::pending()).await });
            Serving { kind, address, task }
        }
        Kind::OpenApi => {
            let server = limited!(OpenApiServer::new(registry).unwrap(), limits);
            let server = server.bind("127.0.0.1:0").await.unwrap();
            let address = server.address();
            Serving { kind, address, task: tokio::spawn(server.run_until(std::future::pending())) }
        }
    }
}

impl Serving {
    /// Returns a request for this many letters, with a body of at least `bytes`.
    fn request(&self, count: usize, bytes: usize, more: &str) -> (String, String) {
        let arguments = format!("{{\"count\": {count}{}}}", " ".repeat(bytes));
        let (path, headers, body) = match self.kind {
            Kind::Mcp => {
                let (headers, body) = stateless("letters", &arguments);
                ("/mcp", headers, body)
            }
            Kind::OpenApi => ("/tools/letters", String::new(), arguments),
        };
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{headers}{more}\r\n",
            self.address,
            body.len()
        );
        (head, body)
    }

    async fn connect(&self, source: Ipv4Addr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((source, 0).into()).unwrap();
        // A client that does not read is noticed early.
        socket.set_recv_buffer_size(4_096).unwrap();
        timeout(PATIENCE, socket.connect(self.address)).await.unwrap().unwrap()
    }

    /// An honest client sends a body of this size, and reads the answer.
    async fn serves(&self, bytes: usize, more: &str) {
        let (head, body) = self.request(5, bytes, &format!("{more}Connection: close\r\n"));
        let mut stream = self.connect(HONEST).await;
        let asking = async {
            stream.write_all(format!("{head}{body}").as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.map(|_| answer)
        };
        let answer =
            timeout(PATIENCE, asking).await.expect("the honest client is served").expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("xxxxx"), "{answer}");
    }
}

/// The behaviour of an evil client until the server hangs up.
#[derive(Debug, Clone, Copy)]
enum Evil {
    Idle,
    HalfHead,
    HeadByteByByte,
    HalfBody,
    BodyByteByByte,
    /// Sends requests without reading.
    Unread,
    /// Sends requests, and reads byte by byte.
    ReadByteByByte,
}

const EVILS: [Evil; 7] = [
    Evil::Idle,
    Evil::HalfHead,
    Evil::HeadByteByByte,
    Evil::HalfBody,
    Evil::BodyByteByByte,
    Evil::Unread,
    Evil::ReadByteByByte,
];

/// The pause between bytes of slow clients.
const SLOW: Duration = Duration::from_millis(20);

impl Evil {
    /// Returns the first bytes and the repeated ones.
    fn bytes(self, server: &Serving) -> (String, String) {
        let (head, body) = server.request(100_000, 0, "");
        let slow = "x".to_owned();
        match self {
            Self::Idle => (String::new(), String::new()),
            Self::HalfHead => (head[..30].to_owned(), String::new()),
            Self::HeadByteByByte => (format!("{}\r\nX-Slow: ", head.trim_end()), slow),
            Self::HalfBody => (head + &body[..body.len() / 2], String::new()),
            Self::BodyByteByByte => (server.request(5, 100_000, "").0, slow),
            Self::Unread | Self::ReadByteByByte => (String::new(), head + &body),
        }
    }

    async fn misbehave(self, stream: TcpStream, first: String, again: String) {
        let (mut reader, mut writer) = stream.into_split();
        let writing = async {
            let mut is_open = writer.write_all(first.as_bytes()).await.is_ok();
            while is_open && !again.is_empty() {
                is_open = writer.write_all(again.as_bytes()).await.is_ok();
                if again.len() == 1 {
                    sleep(SLOW).await;
                }
            }
            if is_open {
                std::future::pending::<()>().await;
            }
        };
        let reading = async {
            let mut byte = [0];
            while !matches!(self, Self::Unread) && matches!(reader.read(&mut byte).await, Ok(1)) {
                if matches!(self, Self::ReadByteByByte) {
                    sleep(SLOW).await;
                }
            }
            if matches!(self, Self::Unread) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = writing => {}
            () = reading => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_hold_all_connections_are_closed_and_another_one_is_served() {
    const CONNECTIONS: usize = 4;
    for (kind, evil) in KINDS.into_iter().flat_map(|kind| EVILS.map(|evil| (kind, evil))) {
        let limits =
            Limits { time: Duration::from_millis(300), connections: CONNECTIONS, ..Limits::default() };
        let server = start(kind, &limits).await;
        let mut evils = FuturesUnordered::new();
        for _ in 0..CONNECTIONS {
            let stream = server.connect(EVIL).await;
            let (first, again) = evil.bytes(&server);
            evils.push(tokio::spawn(evil.misbehave(stream, first, again)));
        }
        server.serves(0, "").await;
        for _ in 0..CONNECTIONS {
            let closed = timeout(PATIENCE, evils.next()).await;
            closed.unwrap_or_else(|_| panic!("{kind:?} closes {evil:?}")).unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_does_not_take_the_connections_of_all() {
    for kind in KINDS {
        let limits = Limits { connections: 8, connections_per_address: 6, ..Limits::default() };
        let server = start(kind, &limits).await;
        let mut evils = FuturesUnordered::new();
        for _ in 0..50 {
            let stream = server.connect(EVIL).await;
            evils.push(tokio::spawn(Evil::Idle.misbehave(stream, String::new(), String::new())));
        }
        server.serves(0, "").await;
        for _ in 0..44 {
            timeout(PATIENCE, evils.next()).await.expect("the server closes further ones").unwrap().unwrap();
        }
        assert_eq!(evils.iter().filter(|evil| evil.is_finished()).count(), 0, "{kind:?}");
    }
}

/// Sends half a body, and returns the answer.
async fn half_body(mut stream: TcpStream, head: String, body: String) -> String {
    let _ = stream.write_all((head + &body).as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_do_not_end_make_room_for_others() {
    const PART: usize = 64 << 10;
    for kind in KINDS {
        let server = start(kind, &Limits { bodies: 10 * PART, ..Limits::default() }).await;
        let mut evils = FuturesUnordered::new();
        for _ in 0..30 {
            let (head, mut body) = server.request(5, 2 * PART, "");
            body.truncate(PART);
            evils.push(tokio::spawn(half_body(server.connect(EVIL).await, head, body)));
        }
        for _ in 0..20 {
            let answer = timeout(PATIENCE, evils.next()).await.expect("the server makes room");
            assert!(answer.as_ref().unwrap().as_ref().unwrap().starts_with("HTTP/1.1 408"), "{answer:?}");
        }
        // A body larger than what is left is read to its end.
        server.serves(5 * PART, "").await;
        for _ in 0..5 {
            timeout(PATIENCE, evils.next()).await.expect("the server makes room").unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_clients_with_a_token_are_read_to_their_end() {
    for kind in KINDS {
        let server = start(kind, &Limits { bodies: 1_000, token: Some("secret"), ..Limits::default() }).await;
        let mut clients = Vec::new();
        for _ in 0..10 {
            let (head, body) = server.request(5, 100_000, &format!("{TOKEN}Connection: close\r\n"));
            let mut stream = server.connect(EVIL).await;
            stream.write_all((head + &body[..50_000]).as_bytes()).await.unwrap();
            clients.push((stream, body[50_000..].to_owned()));
        }
        server.serves(5_000, TOKEN).await;
        for (stream, rest) in clients {
            let answer = timeout(PATIENCE, half_body(stream, String::new(), rest)).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{kind:?}: {answer}");
        }
    }
}
