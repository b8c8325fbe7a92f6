//! A NATS server for the tests of this process.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};
use toolkit_nats::Fleet;

/// The path of the server's program.
const PROGRAM: &str = "TOOLKIT_NATS_SERVER";

/// Runs the server until the standard input ends: the kernel closes it after every end of the test process.
const SCRIPT: &str = r#"
"$1" -a 127.0.0.1 -p "$2" >/dev/null 2>&1 &
server=$!
read -r line
kill -TERM "$server"
wait "$server"
"#;

/// Returns the address of the server, and starts the server first if necessary. `None`, with a word, if there is none
/// outside of CI.
pub(crate) fn address() -> Option<&'static str> {
    static STARTED: OnceLock<Option<(String, Child)>> = OnceLock::new();
    let started = STARTED.get_or_init(|| program().map(start));
    if started.is_none() {
        let missing = format!("no NATS server: install `nats-server`, or set {PROGRAM} to its path");
        assert!(env::var("CI").as_deref() != Ok("true"), "{missing}");
        println!("skipped, {missing}");
    }
    started.as_ref().map(|(address, _)| address.as_str())
}

/// Connects to the server with a prefix that no other test has.
pub(crate) async fn fleet() -> Option<Fleet> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let address = tokio::task::spawn_blocking(address).await.unwrap()?;
    let prefix = format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    Some(Fleet::builder(address).with_prefix(prefix).connect().await.unwrap())
}

fn program() -> Option<PathBuf> {
    if let Some(given) = env::var_os(PROGRAM) {
        return Some(given.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|program| program.exists())
}

fn start(program: PathBuf) -> (String, Child) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "sh"]).arg(program).arg(port.to_string());
    let child = command.stdin(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_secs(30), "the NATS server does not start");
        thread::sleep(Duration::from_millis(20));
    }
    (format!("nats://127.0.0.1:{port}"), child)
}
