//! `call`: one call of a tool, with its parameters as flags.

use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::flags::{Flag, add_values, flags, to_args};
use crate::input::Input;
use crate::outcome;
use crate::screen::{FAINT, NAME};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use toolkit_core::definition::Tool as _;
use toolkit_core::error::Pending;
use toolkit_core::middleware::{Approval, DecidedApprovals};
use toolkit_core::{CancellationToken, Dispatcher, RunContext, ToolCall, ToolError, ToolResult};

/// Runs `call`: the first word is the name of a tool, the others are its flags.
pub(crate) async fn call(desk: &mut Desk, matches: &ArgMatches) -> Result<(), Failure> {
    let (name, words) = super::words(matches);
    let tool = desk.tool(name)?;
    let definition = tool.definition();
    let flags = flags(&definition.parameters);
    let own = [
        Arg::new("timeout")
            .long("timeout")
            .value_name("SECONDS")
            .value_parser(seconds)
            .help("Cancels the call after this time"),
        Arg::new("yes").long("yes").action(ArgAction::SetTrue).help("Approves the call if it needs approval"),
    ];
    let path = format!("{} call {name}", desk.program);
    let command = command(path, &definition.description, &flags, own.into());
    let (text, given) = arguments(desk, command, words, &flags)?;
    let limit = given.get_one::<Duration>("timeout").copied();
    let call = ToolCall::new("call_1", name, text);
    let result = approved_result(desk, &call, limit, given.get_flag("yes")).await?;
    outcome::write(&desk.screen, &desk.program, &result, folder(&given))
}

/// Returns the command of a tool or a prompt. Its parameters come first in the help.
pub(crate) fn command(path: String, about: &str, flags: &[Flag], own: Vec<Arg>) -> Command {
    let option = |id: &'static str| Arg::new(id).long(id);
    Command::new(path.clone())
        .bin_name(path.clone())
        .about(about.to_owned())
        .override_usage(format!("{path} [--PARAMETER VALUE]… [OPTIONS]"))
        .disable_help_flag(true)
        .args(to_args(flags))
        .next_help_heading("Options of a call")
        .args([
            option("args").value_name("JSON|FILE|-").help("All arguments as JSON; flags come on top"),
            super::format_arg(),
            save_arg(),
        ])
        .args(own)
        .arg(option("help").short('h').action(ArgAction::Help).help("Print help"))
}

pub(crate) fn save_arg() -> Arg {
    let save = Arg::new("save").long("save").value_name("FOLDER");
    save.help("Where images, audio and files are saved")
}

/// Returns the folder of [`save_arg`].
pub(crate) fn folder(matches: &ArgMatches) -> &Path {
    Path::new(matches.get_one::<String>("save").map_or(".", String::as_str))
}

/// Returns the text of the arguments that the words give, and the options beside them.
pub(crate) fn arguments(
    desk: &mut Desk,
    command: Command,
    words: Vec<OsString>,
    flags: &[Flag],
) -> Result<(String, ArgMatches), Failure> {
    let matches = command.try_get_matches_from(words).map_err(mistake)?;
    if let Some(is_json) = super::is_json(&matches) {
        desk.screen.is_json = is_json;
    }
    let text = given(&matches)?.unwrap_or_else(|| "{}".to_owned());
    let read: Result<Map<String, Value>, _> = serde_json::from_str(&text);
    let is_object = read.is_ok();
    let mut arguments = read.unwrap_or_default();
    if !add_values(flags, &matches, &mut arguments) {
        return Ok((text, matches));
    }
    if !is_object {
        return Err(Failure::usage("`--args` is no JSON object, so flags cannot be added to it"));
    }
    Ok((Value::Object(arguments).to_string(), matches))
}

/// Other programs take `NAME=VALUE`.
fn mistake(error: clap::Error) -> Failure {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && let Some((name, value)) = word.split_once('=')
        && !name.starts_with('-')
    {
        return Failure::usage(format!("a parameter is a flag: write `--{name} {value}`, not `{word}`"));
    }
    super::usage(error)
}

/// Reads a time limit.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "give a number of seconds above 0".to_owned())
}

/// Returns the text of `--args`.
fn given(matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let Some(text) = matches.get_one::<String>("args") else { return Ok(None) };
    if text == "-" {
        return Ok(Some(io::read_to_string(io::stdin())?));
    }
    if text.trim_start().starts_with(['{', '[']) {
        return Ok(Some(text.clone()));
    }
    match std::fs::read_to_string(text) {
        Ok(read) => Ok(Some(read)),
        Err(error) => Err(Failure::usage(format!("`--args` is neither JSON nor a file: `{text}`: {error}"))),
    }
}

/// Runs the call. If it needs approval, the user decides, and it runs again.
async fn approved_result(
    desk: &Desk,
    call: &ToolCall,
    limit: Option<Duration>,
    is_approved: bool,
) -> Result<ToolResult, Failure> {
    let result = result(&desk.dispatcher, call, limit).await;
    let Some(Pending::Approval { reason, .. }) = result.error().and_then(ToolError::pending) else {
        return Ok(result);
    };
    let approval = if is_approved {
        Approval::Approve
    } else if Input::is_interactive() {
        ask(desk, call, reason).await?
    } else {
        let message = format!(
            "Tool `{}` needs approval: {reason}\nrun it in a terminal, or approve it with `--yes`",
            call.name
        );
        return Err(Failure::new(Exit::Waiting, message));
    };
    let decided = DecidedApprovals::new().with(call, approval);
    let run = match desk.dispatcher.run_context() {
        Some(run) => (**run).clone(),
        None => RunContext::new(),
    };
    let dispatcher = desk.dispatcher.clone().with_run(run.with_extension(decided));
    Ok(self::result(&dispatcher, call, limit).await)
}

/// Asks the user whether a call may run.
pub(crate) async fn ask(desk: &Desk, call: &ToolCall, reason: &str) -> Result<Approval, Failure> {
    desk.screen.note(format_args!("{NAME}{}{NAME:#} needs approval: {reason}", call.name))?;
    desk.screen.note(format_args!("  {FAINT}{}{FAINT:#}", call.arguments.as_str()))?;
    desk.screen.prompt("Run it? [y/N]")?;
    Ok(match desk.input.agreement().await {
        Some(true) => Approval::Approve,
        _ => Approval::Deny("the user refused the call".to_owned()),
    })
}

/// Dispatches the call. Ctrl+C and the time limit cancel it.
async fn result(dispatcher: &Dispatcher, call: &ToolCall, limit: Option<Duration>) -> ToolResult {
    let token = CancellationToken::new();
    let shown = with_progress(dispatcher);
    let mut running = pin!(shown.dispatch_with([call.clone()], token.clone()));
    let late = tokio::select! {
        results = &mut running => return only(results, call),
        _ = tokio::signal::ctrl_c() => None,
        late = passed(limit) => Some(late),
    };
    token.cancel();
    let cancelled = only(running.await, call);
    match late {
        Some(limit) if cancelled.is_error() => {
            ToolResult::of(call, Err(ToolError::timed_out(&call.name, limit)))
        }
        _ => cancelled,
    }
}

/// Returns the time limit once it has passed.
async fn passed(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}

/// One call has one result.
fn only(mut results: Vec<ToolResult>, call: &ToolCall) -> ToolResult {
    results.pop().unwrap_or_else(|| ToolResult::of(call, Err(ToolError::cancelled(&call.name))))
}

#[cfg(feature = "progress")]
fn with_progress(dispatcher: &Dispatcher) -> Dispatcher {
    let progress = crate::progress::CallProgress::new();
    dispatcher.clone().with_listener(move |event| progress.show(event))
}

#[cfg(not(feature = "progress"))]
fn with_progress(dispatcher: &Dispatcher) -> Dispatcher {
    dispatcher.clone()
}
