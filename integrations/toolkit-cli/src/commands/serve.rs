//! `serve`: the tools as an MCP server.

use crate::desk::Desk;
use crate::exit::Failure;
use clap::{ArgMatches, Command};
use toolkit_mcp::McpError;
use toolkit_mcp::server::McpServer;

pub(crate) fn command() -> Command {
    Command::new("serve")
        .about("Serves the tools with the Model Context Protocol")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            Command::new("mcp").about("Serves one client over standard input and output"),
            #[cfg(feature = "serve-http")]
            http_command(),
        ])
}

#[cfg(feature = "serve-http")]
fn http_command() -> Command {
    Command::new("http").about("Serves clients over HTTP").args([
        clap::Arg::new("address")
            .long("address")
            .value_name("HOST:PORT")
            .default_value("127.0.0.1:8000")
            .help("Where to listen; port 0 is any free port"),
        clap::Arg::new("token-env")
            .long("token-env")
            .value_name("NAME")
            .help("The environment variable with the token that clients must send"),
    ])
}

pub(crate) async fn serve(desk: &Desk, version: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let server = McpServer::from(desk.dispatcher.clone()).with_name(desk.program.as_str(), version);
    match matches.subcommand() {
        #[cfg(feature = "serve-http")]
        Some(("http", of_http)) => serve_http(desk, server, of_http).await,
        _ => server.serve_stdio().await.map_err(failure),
    }
}

#[cfg(feature = "serve-http")]
async fn serve_http(desk: &Desk, server: McpServer, matches: &ArgMatches) -> Result<(), Failure> {
    let address = matches.get_one::<String>("address").map_or("127.0.0.1:8000", String::as_str);
    let guarded = match matches.get_one::<String>("token-env") {
        None => server,
        Some(name) => match std::env::var(name) {
            Ok(token) if !token.is_empty() => server.with_bearer_token(token),
            _ => {
                let message = format!("the environment variable `{name}` of `--token-env` is not set");
                return Err(Failure::usage(message));
            }
        },
    };
    let bound = guarded.bind_http(address).await.map_err(failure)?;
    desk.screen.note(format_args!("serving {} (Ctrl+C ends it)", bound.url()))?;
    bound.run().await;
    Ok(())
}

fn failure(error: McpError) -> Failure {
    Failure::unreachable(error.to_string())
}
