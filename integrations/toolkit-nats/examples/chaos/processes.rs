//! The servers, workers and callers of a case, as child processes.

use std::env;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A child process that is killed at the end of the case.
pub(crate) struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// Sends a signal, such as `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status();
        assert!(status.unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The folder and the servers of a case.
pub(crate) struct Site {
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    nats: Option<Process>,
    postgres: Option<Process>,
    pub(crate) has_ledger: bool,
    pub(crate) planted: bool,
    /// Whether nothing is lost in this case, so each call has an outcome.
    pub(crate) loses_none: bool,
}

impl Site {
    pub(crate) fn new(name: &str, has_ledger: bool) -> Self {
        let folder = PathBuf::from(env::var("CHAOS_FOLDER").unwrap()).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let planted = name == "planted";
        let loses_none = matches!(name, "calm" | "stopped-caller" | "large" | "duplicates")
            || matches!(name, "ledger-stopped" | "ledger-duplicates");
        let mut site = Self { folder, port: 0, nats: None, postgres: None, has_ledger, planted, loses_none };
        site.start_nats();
        if has_ledger {
            site.run_as_postgres("initdb", &["-A", "trust", "-U", "toolkit", "--no-sync", "-D"])
                .0
                .wait()
                .unwrap();
            site.start_postgres();
        }
        site
    }

    /// Starts the server, at first at a port that it chooses itself: one that was chosen before may be that of another case.
    pub(crate) fn start_nats(&mut self) {
        let mut command = Command::new(env::var("NATS_SERVER").unwrap());
        let port = if self.port == 0 { "-1".to_owned() } else { self.port.to_string() };
        command
            .args(["-a", "127.0.0.1", "-p", &port, "--ports_file_dir"])
            .arg(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let nats = Process::start(&mut command);
        let ports = self.folder.join(format!("nats-server_{}.ports", nats.0.id()));
        self.nats = Some(nats);
        let started = Instant::now();
        while self.port == 0 {
            assert!(started.elapsed() < Duration::from_secs(30), "the NATS server names no port");
            let written = std::fs::read_to_string(&ports).unwrap_or_default();
            let port = written.strip_suffix("\"]}").and_then(|text| text.rsplit(':').next());
            self.port = port.map_or(0, |port| port.parse().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(30), "the NATS server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn kill_nats(&mut self) {
        self.nats.as_mut().unwrap().kill();
    }

    /// Runs a program of PostgreSQL on the data of the case. It refuses to run as root.
    fn run_as_postgres(&self, program: &str, arguments: &[&str]) -> Process {
        let folder = self.folder.join("postgres");
        std::fs::create_dir_all(&folder).unwrap();
        let program = Path::new(&env::var("POSTGRES_BIN").unwrap()).join(program);
        let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut command = if is_root {
            Command::new("chown").arg("postgres").arg(&folder).status().unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).arg(folder.join("data")).stdout(Stdio::null()).stderr(Stdio::null());
        Process::start(&mut command)
    }

    pub(crate) fn start_postgres(&mut self) {
        let socket = self.folder.join("postgres").display().to_string();
        let lock = self.folder.join("postgres/data/postmaster.pid");
        let started = Instant::now();
        loop {
            let mut server =
                self.run_as_postgres("postgres", &["-k", &socket, "-c", "listen_addresses=", "-D"]);
            let id = server.0.id().to_string();
            // The lock file of a killed server says that it is ready, too.
            let is_ready = || {
                let text = std::fs::read_to_string(&lock).unwrap_or_default();
                text.lines().next() == Some(&id) && text.trim_end().ends_with("ready")
            };
            while !server.has_ended() {
                if is_ready() {
                    self.postgres = Some(server);
                    return;
                }
                assert!(started.elapsed() < Duration::from_secs(60), "PostgreSQL does not start");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Kills the server with all of its processes.
    pub(crate) fn kill_postgres(&mut self) {
        let server = self.postgres.as_mut().unwrap();
        let id = server.0.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        server.kill();
        for child in children.split_whitespace() {
            // It may have ended with the server.
            let _ = Command::new("kill").args(["-KILL", child]).stderr(Stdio::null()).status();
        }
    }

    fn child(&self, role: &str, options: &[(&str, String)]) -> Process {
        let mut command = Command::new(env::current_exe().unwrap());
        command.arg(role).args(options.iter().map(|(name, value)| format!("{name}={value}")));
        Process::start(&mut command)
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Starts a worker that connects to `port`, with more options.
    pub(crate) fn worker_at(&self, port: u16, more: &[(&str, &str)]) -> Process {
        let mut options =
            vec![("server", format!("nats://127.0.0.1:{port}")), ("effects", self.file("effects"))];
        if self.has_ledger {
            // A process lists its options with `=` and spaces between them.
            options.push(("ledger", format!("host~{}+user~toolkit+dbname~postgres", self.file("postgres"))));
        }
        if self.planted {
            options.push(("planted", "yes".to_owned()));
        }
        options.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        self.child("worker", &options)
    }

    pub(crate) fn worker(&self) -> Process {
        self.worker_at(self.port, &[])
    }

    /// Returns whether a caller has made a call.
    pub(crate) fn has_begun(&self, caller: &str) -> bool {
        let issued = std::fs::read_to_string(self.file("issued")).unwrap_or_default();
        issued.lines().any(|id| id.split_once('/').is_some_and(|(name, _)| name == caller))
    }

    /// Starts a caller. A caller that comes back has the same name, and so the same ids.
    pub(crate) fn caller(&self, name: &str, calls: usize, concurrency: usize) -> Process {
        self.child(
            "caller",
            &[
                ("server", format!("nats://127.0.0.1:{}", self.port)),
                ("name", name.to_owned()),
                ("calls", calls.to_string()),
                ("concurrency", concurrency.to_string()),
                ("deadline", super::faults::DEADLINE.as_millis().to_string()),
                ("issued", self.file("issued")),
                ("results", self.file("results")),
            ],
        )
    }
}
