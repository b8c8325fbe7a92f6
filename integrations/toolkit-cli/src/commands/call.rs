//! `call`: one call of a tool, with its parameters as flags.

use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::flags::{Flag, add_values, flags, to_args};
use crate::input::Input;
use crate::outcome;
use crate::screen::{FAINT, NAME, OutputFormat};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use toolkit_core::definition::Tool as _;
use toolkit_core::error::Pending;
use toolkit_core::middleware::{Approval, DecidedApprovals};
use toolkit_core::{
    CancellationToken, Dispatcher, RunContext, ToolCall, ToolDefinition, ToolError, ToolResult,
};

/// Runs `call`: the first word is the name of a tool, the others are its flags.
pub(crate) async fn call(desk: &mut Desk, words: Vec<OsString>) -> Result<(), Failure> {
    let name = words.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let tool = desk.tool(&name)?;
    let definition = tool.definition();
    let flags = flags(&definition.parameters);
    let command = command(&desk.program, definition, &flags);
    let matches = command.try_get_matches_from(words).map_err(super::usage)?;
    if let Some(format) = matches.get_one::<OutputFormat>("format") {
        desk.screen.format = *format;
    }
    let given = given(&matches)?;
    let mut arguments = Map::new();
    let mut text = given.unwrap_or_else(|| "{}".to_owned());
    if let Ok(Value::Object(object)) = serde_json::from_str(&text) {
        arguments = object;
        if add_values(&flags, &matches, &mut arguments) {
            text = Value::Object(arguments).to_string();
        }
    } else if add_values(&flags, &matches, &mut arguments) {
        return Err(Failure::new(Exit::Usage, "`--args` is no JSON object, so flags cannot be added to it"));
    }
    let limit = matches.get_one::<f64>("timeout").map(|seconds| Duration::from_secs_f64(*seconds));
    let call = ToolCall::new("call_1", name, text);
    let result = approved_result(desk, &call, limit, matches.get_flag("yes")).await?;
    let folder = matches.get_one::<String>("save").map_or(".", String::as_str);
    outcome::write(&desk.screen, &desk.program, &result, Path::new(folder))
}

/// Returns the command of a tool. Its parameters come first in the help.
fn command(program: &str, definition: &ToolDefinition, flags: &[Flag]) -> Command {
    let name = definition.name.as_str();
    let option = |id: &'static str| Arg::new(id).long(id);
    let own = [
        option("args").value_name("JSON|FILE|-").help("All arguments as JSON; flags come on top"),
        super::format_arg(),
        option("save").value_name("FOLDER").help("Where images, audio and files are saved"),
        option("timeout")
            .value_name("SECONDS")
            .value_parser(seconds)
            .help("Cancels the call after this time"),
        option("yes").action(ArgAction::SetTrue).help("Approves the call if it needs approval"),
        option("help").short('h').action(ArgAction::Help).help("Print help"),
    ];
    Command::new(name.to_owned())
        .bin_name(format!("{program} call {name}"))
        .about(definition.description.clone())
        .override_usage(format!("{program} call {name} [--PARAMETER VALUE]… [OPTIONS]"))
        .disable_help_flag(true)
        .args(to_args(flags))
        .args(own.map(|arg| arg.help_heading("Options of a call")))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("give a number of seconds above 0".to_owned()),
    }
}

/// Returns the text of `--args`.
fn given(matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let Some(text) = matches.get_one::<String>("args") else { return Ok(None) };
    if text == "-" {
        let mut read = String::new();
        io::stdin().read_to_string(&mut read)?;
        return Ok(Some(read));
    }
    if text.trim_start().starts_with(['{', '[']) {
        return Ok(Some(text.clone()));
    }
    match std::fs::read_to_string(text) {
        Ok(read) => Ok(Some(read)),
        Err(error) => {
            let message = format!("`--args` is neither JSON nor a file: `{text}`: {error}");
            Err(Failure::new(Exit::Usage, message))
        }
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
    let late = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let is_late = tokio::select! {
        results = &mut running => return only(results, call),
        _ = tokio::signal::ctrl_c() => false,
        () = late => true,
    };
    token.cancel();
    let cancelled = only(running.await, call);
    match limit {
        Some(limit) if is_late && cancelled.is_error() => {
            ToolResult::of(call, Err(ToolError::timed_out(&call.name, limit)))
        }
        _ => cancelled,
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
