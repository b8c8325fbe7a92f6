//! The program `toolkit`: the commands over an MCP server, one command or several over one connection.

mod offers;
mod questions;
mod target;

use crate::commands::{format_arg, is_json, run as run_command, tool_commands, usage, words};
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::screen::{Screen, end};
use clap::{ArgMatches, Command};
use questions::TerminalQuestions;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use target::{OPTIONS, connect, server_args};
use toolkit_core::Dispatcher;
use toolkit_mcp::client::McpClient;

const ABOUT: &str =
    "The tools of an MCP server, on the command line. It starts only the server that you name.";

const SERVERS: &str = "\
A server is a command after `--`, a URL, or an entry of a configuration file:
  toolkit list -- npx -y @modelcontextprotocol/server-everything
  toolkit --url https://example.com/mcp --header 'Authorization: Bearer …' list
  toolkit --config .mcp.json --server issues call search --query rust";

/// Runs the program with its arguments.
pub async fn run() -> ExitCode {
    // What follows `--` is for the server.
    let mut own: Vec<OsString> = std::env::args_os().collect();
    let mut server = Vec::new();
    if let Some(at) = own.iter().position(|word| word == "--") {
        server = own.split_off(at);
        server.remove(0);
    }
    let matches = match command().try_get_matches_from(&own) {
        Ok(matches) => matches,
        Err(error) => {
            let exit = usage(error).exit;
            let is_named = own.iter().any(|word| word == "--url" || word == "--config");
            if exit == Exit::Usage && own.len() > 1 && server.is_empty() && !is_named {
                // Without a standard error, only the exit code is left.
                let _ = Screen::new(false).note(SERVERS);
            }
            return exit.into();
        }
    };
    let Some((name, of_command)) = matches.subcommand() else { return Exit::Usage.into() };
    let running = over(name, of_command, &server);
    let ended = match of_command.get_one::<Duration>("timeout") {
        None => running.await,
        Some(limit) => match tokio::time::timeout(*limit, running).await {
            Ok(ended) => ended,
            Err(_) => {
                let message = format!("the {} s of `--timeout` are over", limit.as_secs_f64());
                Err(Failure::new(Exit::TimedOut, message))
            }
        },
    };
    end(ended).into()
}

fn command() -> Command {
    Command::new("toolkit")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(SERVERS)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .arg(format_arg().global(true))
        .args(server_args())
        .subcommands(tool_commands("toolkit"))
        .subcommands(offers::commands())
        .subcommand(Command::new("shell").about("Runs a command from each line, over one connection"))
}

/// Connects to the server, and runs a command or a shell.
async fn over(name: &str, matches: &ArgMatches, server: &[OsString]) -> Result<(), Failure> {
    let screen = Screen::new(is_json(matches) == Some(true));
    let input = Input::default();
    let client = connect(&screen, matches, server, TerminalQuestions::new(input.clone())).await?;
    let dispatcher = Dispatcher::new(&client).map_err(Failure::unreachable)?;
    let mut desk = Desk { program: "toolkit".to_owned(), dispatcher, screen, input };
    if ["list", "check", "shell"].contains(&name) {
        for issue in client.issues() {
            desk.screen.note(format_args!("note: {issue}"))?;
        }
    }
    let ended = match name {
        "shell" => shell(&mut desk, &client).await,
        _ => run_one(&mut desk, &client, name, matches).await,
    };
    client.close().await;
    ended
}

async fn run_one(
    desk: &mut Desk,
    client: &McpClient,
    name: &str,
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let ended = match run_command(desk, name, matches).await {
        Some(ended) => ended,
        None => offers::run(desk, client, name, matches).await,
    };
    if ended == Err(Failure::silent(Exit::Usage)) {
        let (_, given) = words(matches);
        for option in OPTIONS {
            if given.iter().any(|word| word == option) {
                desk.screen.note(format_args!("write `{option}` of the server before `{name}`"))?;
            }
        }
    }
    ended
}

/// Runs the commands of all lines. A script ends with the exit code of its first failure.
async fn shell(desk: &mut Desk, client: &McpClient) -> Result<(), Failure> {
    let is_interactive = Input::is_interactive();
    let is_json = desk.screen.is_json;
    let mut first = Exit::Success;
    loop {
        if is_interactive {
            desk.screen.prompt(">")?;
        }
        let line = desk.input.line().await;
        let Some(text) = line.filter(|line| !["exit", "quit"].contains(&line.trim())) else { break };
        desk.screen.is_json = is_json;
        let exit = end(run_line(desk, client, &text).await);
        if first == Exit::Success {
            first = exit;
        }
    }
    if is_interactive || first == Exit::Success { Ok(()) } else { Err(Failure::silent(first)) }
}

async fn run_line(desk: &mut Desk, client: &McpClient, line: &str) -> Result<(), Failure> {
    let Some(words) = shlex::split(line) else {
        return Err(Failure::usage("a quote is not closed"));
    };
    if words.is_empty() {
        return Ok(());
    }
    let command = Command::new("toolkit")
        .no_binary_name(true)
        .disable_help_subcommand(true)
        .override_usage("COMMAND [OPTIONS], or `exit`; `--help` lists the commands")
        .arg(format_arg().global(true))
        .subcommands(tool_commands("toolkit"))
        .subcommands(offers::commands());
    let matches = command.try_get_matches_from(words).map_err(usage)?;
    let Some((name, of_command)) = matches.subcommand() else { return Ok(()) };
    desk.screen.is_json = is_json(of_command).unwrap_or(desk.screen.is_json);
    // The server may have changed its tools.
    desk.dispatcher = Dispatcher::new(client).map_err(Failure::unreachable)?;
    run_one(desk, client, name, of_command).await
}
