//! A PostgreSQL server for the tests of this process.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tokio_postgres::NoTls;

/// The connection string of a server in which tests create and drop schemas.
const SERVER: &str = "TOOLKIT_POSTGRES";

/// Starts a server in the folder `$2` with the programs in `$1`, and stops it when standard input ends, as
/// after every end of the test process. It listens only on a socket in the folder.
const SCRIPT: &str = r#"
exec >"$2/log" 2>&1
"$1/initdb" --pgdata="$2/data" --username=toolkit --auth=trust --encoding=UTF8 --no-locale --no-sync
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off &
server=$!
read -r line
kill -TERM "$server"
wait "$server"
rm -rf "$2"
"#;

/// A test's own schema, dropped at the end.
pub(crate) struct Schema {
    pub(crate) name: String,
    server: &'static str,
}

impl Schema {
    /// Creates a schema, or says that there is no server outside of CI.
    pub(crate) async fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolkit_test_{}_{number}", std::process::id());
        let server = tokio::task::spawn_blocking(server).await.unwrap()?;
        let schema = Self { name, server };
        schema.execute(&format!("CREATE SCHEMA {}", schema.name)).await;
        Some(schema)
    }

    pub(crate) fn config(&self) -> String {
        self.config_with("")
    }

    pub(crate) fn config_with(&self, options: &str) -> String {
        let options = format!("-csearch_path={} {options}", self.name);
        if !self.server.contains("://") {
            return format!("{} options='{}'", self.server, options.trim().replace('\\', "\\\\"));
        }
        let separator = if self.server.contains('?') { '&' } else { '?' };
        let options = options.trim().replace(' ', "%20").replace('=', "%3D").replace('\\', "%5C");
        format!("{}{separator}options={options}", self.server)
    }

    pub(crate) fn server(&self) -> &'static str {
        self.server
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let (client, connection) = tokio_postgres::connect(self.server, NoTls).await.unwrap();
        let task = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        task.await.unwrap().unwrap();
    }

    pub(crate) async fn drop(self) {
        self.execute(&format!("DROP SCHEMA {} CASCADE", self.name)).await;
    }
}

/// Returns the connection string of the server, which it starts if necessary.
fn server() -> Option<&'static str> {
    static STARTED: OnceLock<Option<(String, Option<Child>)>> = OnceLock::new();
    let started = STARTED.get_or_init(|| match env::var(SERVER) {
        Ok(given) => Some((given, None)),
        Err(_) => programs().map(|programs| start(&programs)).map(|(config, child)| (config, Some(child))),
    });
    if started.is_none() {
        let missing = format!("no PostgreSQL: install it, or set {SERVER} to a connection string");
        assert!(env::var("CI").as_deref() != Ok("true"), "{missing}");
        // `println!` is captured in a passing test.
        let _ = writeln!(std::io::stderr(), "skipped, {missing}");
    }
    started.as_ref().map(|(config, _)| config.as_str())
}

/// Finds the server's programs in the search path or as Debian's latest version.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path()).collect();
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    folders.extend(versions.into_iter().map(|version| version.join("bin")));
    folders.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

fn start(programs: &Path) -> (String, Child) {
    let folder = tempfile::Builder::new().prefix("toolkit-postgres-").tempdir().unwrap().keep();
    let id = Command::new("id").arg("-u").output().unwrap();
    let mut command = Command::new("sh");
    if id.stdout == b"0\n" {
        // The server refuses to run as root.
        let status = Command::new("chown").arg("postgres").arg(&folder).status().unwrap();
        assert!(status.success(), "no user `postgres` to run the server");
        command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    }
    command.args(["-c", SCRIPT, "sh"]).arg(programs).arg(&folder);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let config = format!("host={} user=toolkit dbname=postgres", folder.display());
    let begun = Instant::now();
    while !is_ready(&folder) {
        let mut log = String::new();
        if begun.elapsed() > Duration::from_secs(120) || child.try_wait().unwrap().is_some() {
            let _ = fs::File::open(folder.join("log")).and_then(|mut file| file.read_to_string(&mut log));
            panic!("PostgreSQL does not start: {log}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    (config, child)
}

/// Whether the last line of the server's lock file says that it is ready.
fn is_ready(folder: &Path) -> bool {
    let lock = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    lock.lines().last().is_some_and(|line| line.trim() == "ready")
}
