//! The program `toolkit`: the tools of an MCP server, on the command line.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    toolkit_cli::__toolkit().await
}
