//! `install` and `uninstall`: the program in the configuration files of clients.

use crate::config_text::{ConfigText, Saved};
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use std::env;
use std::path::PathBuf;
use toolkit_mcp_config::{Dialect, ServerEntry, ServerTransport, remove_entry, write_entry};

const CLIENTS: [(&str, Dialect); 13] = [
    ("amp", Dialect::Amp),
    ("claude-code", Dialect::ClaudeCode),
    ("claude-desktop", Dialect::ClaudeDesktop),
    ("cline", Dialect::Cline),
    ("codex", Dialect::Codex),
    ("copilot", Dialect::CopilotCli),
    ("cursor", Dialect::Cursor),
    ("gemini", Dialect::GeminiCli),
    ("goose", Dialect::Goose),
    ("opencode", Dialect::OpenCode),
    ("vscode", Dialect::VsCode),
    ("windsurf", Dialect::Windsurf),
    ("zed", Dialect::Zed),
];

pub(crate) fn commands() -> [Command; 2] {
    let value = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let common = [
        Arg::new("client")
            .value_name("CLIENT")
            .value_parser(CLIENTS.map(|(name, _)| name))
            .required(true)
            .help("The client whose file is changed"),
        value("file", "FILE").help("Another file than the client's own"),
        value("name", "NAME").help("The name of the server; the name of the program by default"),
        switch("project").help("Changes the file of the project in this folder").conflicts_with("file"),
        switch("print").help("Prints the new text of the file, and writes nothing"),
        switch("yes").help("Writes without a question"),
    ];
    let env = value("env", "NAME[=VALUE]").action(ArgAction::Append);
    [
        Command::new("install")
            .about("Adds the program to a client, as an MCP server")
            .args(common.clone())
            .arg(env.help("A variable for the server; without a value, a reference to the user's own")),
        Command::new("uninstall").about("Removes the program from a client").args(common),
    ]
}

pub(crate) async fn run(desk: &Desk, command: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let text = |id: &str| matches.get_one::<String>(id).map(String::as_str);
    let client = text("client").unwrap_or_default();
    let Some((_, dialect)) = CLIENTS.iter().find(|(name, _)| *name == client) else {
        return Err(Failure::usage(format!("client `{client}` not found")));
    };
    let path = match text("file") {
        Some(file) => PathBuf::from(file),
        None => client_file(client, *dialect, matches.get_flag("project"))?,
    };
    let name = text("name").unwrap_or(&desk.program);
    let file = ConfigText::read(path)?;
    let edited = if command == "install" {
        write_entry(&file.text, *dialect, &entry(client, *dialect, name, matches)?)
    } else {
        remove_entry(&file.text, *dialect, name)
    };
    let new = match edited {
        Ok(new) => new,
        Err(error) => {
            let message = format!("`{}` is left as it is: {error}", file.path.display());
            return Err(Failure::new(Exit::Failed, message));
        }
    };
    if matches.get_flag("print") {
        desk.screen.piece(new)?;
        return Ok(());
    }
    let saved =
        if new == file.text { None } else { Some(save(desk, &file, &new, matches.get_flag("yes")).await?) };
    report(desk, client, name, &file, saved)
}

fn client_file(client: &str, dialect: Dialect, is_project: bool) -> Result<PathBuf, Failure> {
    let (found, cure) = if is_project {
        (dialect.project_file(&env::current_dir()?), "reads no file of a project; leave out `--project`")
    } else {
        let found = env::home_dir().and_then(|home| dialect.user_file(&home));
        (found, "has no known file here; name it with `--file`")
    };
    found.ok_or_else(|| Failure::usage(format!("`{client}` {cure}")))
}

/// Returns the entry: the absolute path of this program, as a server over standard input and output.
fn entry(client: &str, dialect: Dialect, name: &str, matches: &ArgMatches) -> Result<ServerEntry, Failure> {
    let program = env::current_exe()?;
    let Some(path) = program.to_str() else {
        let message =
            format!("the path `{}` cannot be written into a file; move the program", program.display());
        return Err(Failure::new(Exit::Failed, message));
    };
    let mut transport = ServerTransport::command(path, ["serve", "mcp"]);
    if let ServerTransport::Command { env, .. } = &mut transport {
        for variable in matches.get_many::<String>("env").into_iter().flatten() {
            let (key, value) = match variable.split_once('=') {
                Some((key, value)) => (key, value.to_owned()),
                None => match dialect.variable(variable) {
                    Some(reference) => (variable.as_str(), reference),
                    None => {
                        let cure = format!("give its value with `--env {variable}=…`");
                        return Err(Failure::usage(format!("`{client}` does not replace variables; {cure}")));
                    }
                },
            };
            env.insert(key.to_owned(), value);
        }
    }
    Ok(ServerEntry::new(name, transport))
}

/// Shows the change, asks, and writes.
async fn save(desk: &Desk, file: &ConfigText, new: &str, is_agreed: bool) -> Result<Saved, Failure> {
    if !is_agreed {
        for line in file.change(new) {
            desk.screen.note(line)?;
        }
        if !Input::is_interactive() {
            let message = "nothing is written; agree in a terminal, or with `--yes`";
            return Err(Failure::new(Exit::Waiting, message));
        }
        desk.screen.prompt(format_args!("Write {}? [y/N]", file.path.display()))?;
        if desk.input.agreement().await != Some(true) {
            return Err(Failure::new(Exit::Refused, "nothing is written"));
        }
    }
    file.save(new)
}

fn report(
    desk: &Desk,
    client: &str,
    name: &str,
    file: &ConfigText,
    saved: Option<Saved>,
) -> Result<(), Failure> {
    let path = file.path.display().to_string();
    let is_changed = saved.is_some();
    let backup = saved.and_then(|saved| saved.backup).map(|backup| backup.display().to_string());
    if desk.screen.is_json {
        desk.screen.json(&json!({
            "client": client, "server": name, "file": path, "changed": is_changed, "backup": backup,
        }))?;
        return Ok(());
    }
    desk.screen.line(if is_changed {
        format!("written: {path}")
    } else {
        format!("nothing to change: {path}")
    })?;
    if let Some(backup) = backup {
        desk.screen.line(format_args!("the text of before: {backup}"))?;
    }
    Ok(())
}
