//! The bare server of the official SDK that the benchmarks compare with, and counted instructions.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, ServiceExt, tool_handler, tool_router};
use std::env;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Add {
    pub(crate) a: i64,
    pub(crate) b: i64,
}

/// The server of the SDK, with a router that is made once.
#[derive(Clone)]
pub(crate) struct Bare {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Bare {
    pub(crate) fn new() -> Self {
        Self { tool_router: Self::tool_router() }
    }

    #[rmcp::tool(description = "Adds two numbers.")]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// Serves the bare server over standard input and output.
pub(crate) async fn serve_stdio() {
    let running = Bare::new().serve(rmcp::transport::stdio_pipes()).await.unwrap();
    running.waiting().await.map(drop).unwrap();
}

/// Returns whether a section is measured: the arguments of the program name parts of sections, or no section.
pub(crate) fn wanted(section: &str) -> bool {
    let mut words = env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    words.peek().is_none() || words.any(|word| section.contains(&word))
}

/// The command that starts this program again under callgrind.
pub(crate) fn counted(arguments: &[&str]) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(env::current_exe().unwrap()).args(arguments).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Returns whether callgrind is installed.
pub(crate) async fn can_count() -> bool {
    let version = Command::new("valgrind").arg("--version").output().await;
    let is_installed = version.is_ok_and(|version| version.status.success());
    if !is_installed {
        println!("instructions: skipped, because valgrind is not installed");
    }
    is_installed
}

/// Waits for the end of a counted program and returns the number of instructions.
pub(crate) async fn count(mut child: Child) -> u64 {
    let mut report = String::new();
    child.stderr.take().unwrap().read_to_string(&mut report).await.unwrap();
    let count = report.lines().find_map(|line| line.split_once("Collected : "));
    count.and_then(|(_, count)| count.trim().parse().ok()).unwrap_or_else(|| panic!("no count: {report}"))
}

/// Prints the instructions of one call, and the ratio to the second number.
pub(crate) fn report_counts(section: &str, counts: [(&str, u64); 2]) {
    for (name, count) in counts {
        println!("{section:<44} {name:<8} {count:>10}     {:>5.2}", count as f64 / counts[1].1 as f64);
    }
}
