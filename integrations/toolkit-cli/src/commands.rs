//! The commands, and which of them a program has.

pub(crate) mod call;
#[cfg(feature = "chat")]
pub(crate) mod chat;
mod check;
#[cfg(feature = "install")]
pub(crate) mod install;
mod list;
#[cfg(feature = "serve")]
pub(crate) mod serve;
mod show;

use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use check::Level;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::ffi::OsString;

/// The commands that any list of tools has.
pub(crate) fn tool_commands(program: &str) -> [Command; 4] {
    let name = Arg::new("tool").value_name("TOOL").required(true).help("The name of the tool");
    let apis = Arg::new("api").long("api").value_name("API").help("An API, such as `anthropic`");
    let level = Arg::new("level").long("level").value_name("LEVEL").value_parser(Level::NAMES);
    [
        Command::new("list").about("Lists the tools, with their hints and tokens"),
        Command::new("show")
            .about("Shows a tool: its parameters, or its JSON for the API of a provider")
            .args([name, apis.clone()]),
        with_flags("call", "TOOL", program).about("Calls a tool; `call TOOL --help` has its flags"),
        Command::new("check").about("Finds what APIs refuse or lose, and what models miss").args([
            apis.action(ArgAction::Append).help("Checks for this API only; may be repeated"),
            level.default_value("error").help("Exits with 1 at findings of this level or worse"),
        ]),
    ]
}

/// A command whose flags depend on what is named first.
pub(crate) fn with_flags(command: &'static str, named: &'static str, program: &str) -> Command {
    Command::new(command)
        .arg_required_else_help(true)
        .subcommand_value_name(named)
        .subcommand_help_heading(named)
        .override_usage(format!("{program} {command} {named} [--PARAMETER VALUE]… [OPTIONS]"))
        .allow_external_subcommands(true)
}

/// The option of all commands.
pub(crate) fn format_arg() -> Arg {
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["text", "json"]);
    format.help("The form of the result")
}

/// Returns whether the user has chosen JSON for the results, if there is a choice.
pub(crate) fn is_json(matches: &ArgMatches) -> Option<bool> {
    matches.get_one::<String>("format").map(|format| format == "json")
}

/// Runs one of the [`tool_commands`]. Returns `None` if the command is another.
pub(crate) async fn run(desk: &mut Desk, name: &str, matches: &ArgMatches) -> Option<Result<(), Failure>> {
    let text = |id: &str| matches.try_get_one::<String>(id).ok().flatten().map(String::as_str);
    Some(match name {
        "list" => list::list(desk),
        "show" => show::show(desk, text("tool").unwrap_or_default(), text("api")),
        "call" => call::call(desk, matches).await,
        "check" => {
            let apis = matches.get_many::<String>("api").into_iter().flatten();
            let names: Vec<&str> = apis.map(String::as_str).collect();
            check::check(desk, &names, Level::named(text("level").unwrap_or_default()))
        }
        _ => return None,
    })
}

/// Returns what a command [with flags](with_flags) names, and this with everything after it.
pub(crate) fn words(matches: &ArgMatches) -> (&str, Vec<OsString>) {
    let Some((name, rest)) = matches.subcommand() else { return ("", Vec::new()) };
    let mut words = vec![OsString::from(name)];
    words.extend(rest.get_many::<OsString>("").into_iter().flatten().cloned());
    (name, words)
}

/// Prints what clap has to say: help, a version or a mistake.
pub(crate) fn usage(error: clap::Error) -> Failure {
    let exit = if error.exit_code() == 0 { Exit::Success } else { Exit::Usage };
    match error.print() {
        Ok(()) => Failure::silent(exit),
        Err(error) => error.into(),
    }
}
