//! A NATS server for an example, on a free port of this machine.

use std::env;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that ends with this value.
pub(crate) struct LocalServer {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl LocalServer {
    /// Starts the program of `TOOLKIT_NATS_SERVER`, or `nats-server` of the search path. `None`, with a word, if there is
    /// none.
    pub(crate) fn start() -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut found = env::split_paths(&path).map(|folder| folder.join("nats-server"));
        let found = found.find(|program| program.exists());
        let Some(program) = env::var_os("TOOLKIT_NATS_SERVER").map(PathBuf::from).or(found) else {
            println!("no NATS server: install `nats-server`, or set TOOLKIT_NATS_SERVER to its path");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut command = Command::new(program);
        command
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let server = Self { process: command.spawn().ok()?, address: format!("nats://127.0.0.1:{port}") };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(server)
    }
}
