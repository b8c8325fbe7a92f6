//! A NATS server for the tests of this process.

use async_nats::{Client, Subscriber};
use futures_util::StreamExt as _;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};
use toolkit_nats::Fleet;

const PROGRAM: &str = "TOOLKIT_NATS_SERVER";

/// Runs the server until standard input ends, as it does after every end of the test process.
const SCRIPT: &str = r#"
"$@" >/dev/null 2>&1 &
server=$!
read -r line
kill -TERM "$server"
wait "$server"
"#;

/// Returns the server's address, and starts it first. Outside of CI, it may be missing.
pub(crate) fn address() -> Option<&'static str> {
    static STARTED: OnceLock<Option<(String, Child)>> = OnceLock::new();
    let started = STARTED.get_or_init(|| start(&[]));
    if started.is_none() {
        let missing = format!("no NATS server: install `nats-server`, or set {PROGRAM} to its path");
        assert!(env::var("CI").as_deref() != Ok("true"), "{missing}");
        // `println!` is captured in a passing test.
        let _ = writeln!(std::io::stderr(), "skipped, {missing}");
    }
    started.as_ref().map(|(address, _)| address.as_str())
}

/// Connects with a prefix of its own.
pub(crate) async fn fleet() -> Option<Fleet> {
    let address = tokio::task::spawn_blocking(address).await.unwrap()?;
    Some(Fleet::builder(address).prefix(new_prefix()).connect().await.unwrap())
}

pub(crate) fn new_prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Connects twice, directly and over a link that `forward` makes of each direction, with a prefix of its own.
/// The flag marks bytes from the server.
pub(crate) async fn two_links<F: Future<Output = ()> + Send + 'static>(
    forward: impl Fn(OwnedReadHalf, OwnedWriteHalf, bool) -> F + Send + 'static,
) -> Option<[Fleet; 2]> {
    let address = tokio::task::spawn_blocking(address).await.unwrap()?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = address.trim_start_matches("nats://");
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = tokio::net::TcpStream::connect(server).await.unwrap();
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            tokio::spawn(forward(from_client, to_server, false));
            tokio::spawn(forward(from_server, to_client, true));
        }
    });
    let prefix = new_prefix();
    let near = Fleet::builder(address).prefix(&prefix).connect().await.unwrap();
    let far = Fleet::builder(format!("nats://127.0.0.1:{port}")).prefix(&prefix);
    Some([near, far.connect().await.unwrap()])
}

/// Connects with a link of 20 milliseconds for each byte.
pub(crate) async fn near_and_far() -> Option<[Fleet; 2]> {
    two_links(|from, to, _| delay(from, to)).await
}

/// Connects with a link that holds everything, like a stopped worker, while the value is `false`.
pub(crate) async fn near_and_held() -> Option<([Fleet; 2], watch::Sender<bool>)> {
    let (gate, opened) = watch::channel(true);
    Some((two_links(move |from, to, _| hold(from, to, opened.clone())).await?, gate))
}

async fn hold(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut opened: watch::Receiver<bool>) {
    let mut bytes = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        if opened.wait_for(|is_open| *is_open).await.is_err() || to.write_all(&bytes[..length]).await.is_err()
        {
            return;
        }
    }
}

/// Connects with a link that loses only the first message of a call.
pub(crate) async fn near_and_lossy() -> Option<[Fleet; 2]> {
    two_links(lose_a_call).await
}

async fn lose_a_call(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, is_from_server: bool) {
    let mut bytes = vec![0; 65_536];
    let mut is_lost = false;
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        let bytes = &bytes[..length];
        // Only a call has a line with the remaining time, and ticks come with it.
        if is_from_server && !is_lost && String::from_utf8_lossy(bytes).contains("left_ms") {
            is_lost = true;
        } else if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

async fn delay(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let (sender, mut delayed) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut bytes = vec![0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut bytes).await {
            let _ = sender.send((tokio::time::Instant::now(), bytes[..length].to_vec()));
        }
    });
    while let Some((sent, bytes)) = delayed.recv().await {
        tokio::time::sleep_until(sent + Duration::from_millis(20)).await;
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Connects to watch the calls of a worker.
pub(crate) async fn observe(worker: &str) -> (Client, Subscriber) {
    let client = async_nats::connect(address().unwrap()).await.unwrap();
    let calls = client.subscribe(format!("*.to.{worker}.*.*.*")).await.unwrap();
    // The subscription is read when a later message is back.
    let inbox = client.new_inbox();
    let mut echo = client.subscribe(inbox.clone()).await.unwrap();
    client.publish(inbox, "".into()).await.unwrap();
    echo.next().await.unwrap();
    (client, calls)
}

fn program() -> Option<PathBuf> {
    if let Some(given) = env::var_os(PROGRAM) {
        return Some(given.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|program| program.exists())
}

/// Starts a server with more options, or returns `None` without its program. It ends with the returned
/// process.
pub(crate) fn start(options: &[&str]) -> Option<(String, Child)> {
    let program = program()?;
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "sh"]).arg(program).args(["-a", "127.0.0.1", "-p", &port.to_string()]);
    let child = command.args(options).stdin(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(30), "the NATS server does not start");
        thread::sleep(Duration::from_millis(20));
    }
    Some((format!("nats://127.0.0.1:{port}"), child))
}
