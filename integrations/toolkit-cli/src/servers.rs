//! The program `toolkit`: the commands over an MCP server, one command or several over one connection.

mod questions;
mod shell_words;
mod target;

use crate::commands::{format_arg, output_format, run as run_command, tool_commands, usage};
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::screen::Screen;
use clap::{ArgMatches, Command};
use questions::TerminalQuestions;
use shell_words::split;
use std::ffi::OsString;
use std::process::ExitCode;
use target::{connect, server_args};
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
    let matches = match command().try_get_matches_from(own) {
        Ok(matches) => matches,
        Err(error) => return usage(error).exit.into(),
    };
    let Some((name, of_command)) = matches.subcommand() else { return Exit::Usage.into() };
    let screen = Screen::new(output_format(of_command));
    let input = Input::default();
    let questions = TerminalQuestions::new(input.clone());
    let client = match connect(&screen, of_command, &server, questions).await {
        Ok(client) => client,
        Err(failure) => return screen.end(Err(failure)).into(),
    };
    let ended = over(&client, screen, input, name, of_command).await;
    client.close().await;
    ended.into()
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
        .subcommand(Command::new("shell").about("Runs a command from each line, over one connection"))
}

/// Runs a command, or a shell, over a connected server.
async fn over(client: &McpClient, screen: Screen, input: Input, name: &str, matches: &ArgMatches) -> Exit {
    let dispatcher = match Dispatcher::new(client) {
        Ok(dispatcher) => dispatcher,
        Err(error) => return screen.end(Err(Failure::new(Exit::Failed, error.to_string()))),
    };
    let mut desk = Desk { program: "toolkit".to_owned(), dispatcher, screen, input };
    for issue in client.issues() {
        // Without a standard error, nobody reads it.
        let _ = desk.screen.note(format_args!("note: {issue}"));
    }
    if name == "shell" {
        return shell(&mut desk, client).await;
    }
    let ended = run_command(&mut desk, name, matches).await;
    desk.screen.end(ended.unwrap_or_else(|| Err(Failure::silent(Exit::Usage))))
}

/// Runs the commands of all lines. A script ends with the exit code of its first failure.
async fn shell(desk: &mut Desk, client: &McpClient) -> Exit {
    let is_interactive = Input::is_interactive();
    let format = desk.screen.format;
    let mut first = Exit::Success;
    loop {
        if is_interactive {
            // Without a standard error, there is no prompt.
            let _ = desk.screen.prompt(">");
        }
        let line = desk.input.line().await;
        let Some(text) = line.filter(|line| !["exit", "quit"].contains(&line.trim())) else { break };
        desk.screen.format = format;
        let ended = run_line(desk, client, &text).await;
        let exit = desk.screen.end(ended);
        if first == Exit::Success {
            first = exit;
        }
    }
    if is_interactive { Exit::Success } else { first }
}

async fn run_line(desk: &mut Desk, client: &McpClient, line: &str) -> Result<(), Failure> {
    let words = split(line)?;
    if words.is_empty() {
        return Ok(());
    }
    let command = Command::new("toolkit")
        .no_binary_name(true)
        .disable_help_subcommand(true)
        .override_usage("list | show TOOL | call TOOL [FLAGS] | check | exit")
        .arg(format_arg().global(true))
        .subcommands(tool_commands("toolkit"));
    let matches = command.try_get_matches_from(words).map_err(usage)?;
    let Some((name, of_command)) = matches.subcommand() else { return Ok(()) };
    if of_command.value_source("format").is_some() {
        desk.screen.format = output_format(of_command);
    }
    // The server may have changed its tools.
    match Dispatcher::new(client) {
        Ok(dispatcher) => desk.dispatcher = dispatcher,
        Err(error) => return Err(Failure::new(Exit::Failed, error.to_string())),
    }
    run_command(desk, name, of_command).await.unwrap_or(Ok(()))
}
