//! The server that the user names: a command, a URL or an entry of a configuration file.

use super::questions::TerminalQuestions;
use crate::commands::call::seconds;
use crate::exit::Failure;
use crate::screen::Screen;
use clap::{Arg, ArgAction, ArgMatches};
use std::ffi::OsString;
use std::time::Duration;
use toolkit_mcp::client::{McpClient, McpClientBuilder, McpCommand};
use toolkit_mcp::config::{ConfigFile, ServerEntry, ServerTransport, client_builder};

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help).help_heading("Server").global(true)
}

/// Options that stand before `call TOOL`, because what follows is for the tool.
pub(crate) const OPTIONS: [&str; 5] = ["--url", "--header", "--config", "--server", "--env"];

/// The options that name a server, and the time for it.
pub(crate) fn server_args() -> Vec<Arg> {
    vec![
        option("url", "URL", "A server over HTTP").conflicts_with("config"),
        option("header", "NAME: VALUE", "A header for the URL; may be repeated").action(ArgAction::Append),
        option("config", "FILE", "A configuration file, such as `.mcp.json`"),
        option("server", "NAME", "The server in the file, if it has several"),
        option("env", "NAME[=VALUE]", "A variable for the command after `--`; may be repeated")
            .action(ArgAction::Append),
        option("timeout", "SECONDS", "The time for everything, without which it has 90 to connect")
            .value_parser(seconds),
    ]
}

fn texts(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
}

/// Connects to the server that the options and the words after `--` name.
pub(crate) async fn connect(
    screen: &Screen,
    matches: &ArgMatches,
    words: &[OsString],
    questions: TerminalQuestions,
) -> Result<McpClient, Failure> {
    let url = matches.get_one::<String>("url");
    let config = matches.get_one::<String>("config");
    let mut builder = match (words, url, config) {
        ([program, args @ ..], None, None) => {
            let command = McpCommand::new(program).args(args);
            McpClient::builder(with_env(command, &texts(matches, "env"))?)
        }
        ([], Some(url), None) => of_entry(&url_server(url, &texts(matches, "header"))?)?,
        ([], None, Some(path)) => configured(screen, path, matches.get_one::<String>("server"))?,
        ([], None, None) => {
            return Err(Failure::usage(
                "name a server: a command after `--`, `--url URL` or `--config FILE`",
            ));
        }
        _ => {
            return Err(Failure::usage(
                "name one server: a command after `--`, `--url URL` or `--config FILE`",
            ));
        }
    };
    if let Some(limit) = matches.get_one::<Duration>("timeout") {
        // The limit of the whole run ends first.
        builder = builder.connect_timeout(*limit * 2);
    }
    let client = builder
        .client_info("toolkit", env!("CARGO_PKG_VERSION"))
        .tool_search_above(usize::MAX)
        .elicitation(questions)
        .connect()
        .await;
    client.map_err(Failure::unreachable)
}

fn with_env(command: McpCommand, variables: &[String]) -> Result<McpCommand, Failure> {
    let mut command = command;
    for variable in variables {
        let (name, value) = match variable.split_once('=') {
            Some((name, value)) => (name, OsString::from(value)),
            None => match std::env::var_os(variable) {
                Some(value) => (variable.as_str(), value),
                None => {
                    return Err(Failure::usage(format!("the variable `{variable}` of `--env` is not set")));
                }
            },
        };
        command = command.env(name, value);
    }
    Ok(command)
}

fn url_server(url: &str, headers: &[String]) -> Result<ServerEntry, Failure> {
    let mut transport = ServerTransport::url(url);
    if let ServerTransport::Http { headers: given, .. } = &mut transport {
        for header in headers {
            match header.split_once(':') {
                Some((name, value)) => given.insert(name.trim().to_owned(), value.trim().to_owned()),
                None => return Err(Failure::usage("`--header` has the form `NAME: VALUE`")),
            };
        }
    }
    Ok(ServerEntry::new(url, transport))
}

fn of_entry(entry: &ServerEntry) -> Result<McpClientBuilder, Failure> {
    client_builder(entry, |name| std::env::var(name).ok()).map_err(Failure::unreachable)
}

/// Returns a client for one server of a configuration file.
fn configured(screen: &Screen, path: &str, name: Option<&String>) -> Result<McpClientBuilder, Failure> {
    let file = ConfigFile::open(path).map_err(Failure::unreachable)?;
    for issue in file.issues() {
        screen.note(format_args!("note: {issue}"))?;
    }
    of_entry(chosen(&file, path, name)?)
}

/// Returns the named server of a file, or its only one.
fn chosen<'a>(file: &'a ConfigFile, path: &str, name: Option<&String>) -> Result<&'a ServerEntry, Failure> {
    let names: Vec<&str> = file.servers().iter().map(|server| server.name.as_str()).collect();
    let Some(name) = name else {
        return match file.servers() {
            [only] => Ok(only),
            _ => Err(Failure::usage(format!(
                "choose a server of `{path}` with `--server`: {}",
                names.join(", ")
            ))),
        };
    };
    for failure in file.failures() {
        if failure.server() == name {
            return Err(Failure::unreachable(failure));
        }
    }
    match file.servers().iter().find(|server| server.name == *name) {
        Some(server) if server.is_disabled => {
            Err(Failure::usage(format!("server `{name}` is disabled in `{path}`")))
        }
        Some(server) => Ok(server),
        None => {
            Err(Failure::usage(format!("server `{name}` not found in `{path}`; it has {}", names.join(", "))))
        }
    }
}
