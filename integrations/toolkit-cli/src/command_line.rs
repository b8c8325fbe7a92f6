//! The command line of a program with tools.

use crate::commands::{format_arg, is_json, run as run_command, tool_commands, usage};
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::screen::{Screen, end};
use clap::{ArgMatches, Command};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
#[cfg(feature = "chat")]
use toolkit_agent::Agent;
use toolkit_core::Dispatcher;

/// The command line of a program with tools.
///
/// ```
/// use toolkit_ai::prelude::*;
/// use toolkit_cli::CommandLine;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let line = CommandLine::new(Dispatcher::new(tools![add])?).with_name("sums").with_version("1.0.0");
/// // `run` reads the arguments of the program instead.
/// line.run_with(["sums", "call", "add", "--a", "20", "--b", "22"]).await;
/// # Ok::<(), BuildError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct CommandLine {
    name: String,
    version: Option<String>,
    about: Option<String>,
    dispatcher: Dispatcher,
    #[cfg(feature = "chat")]
    agent: Option<Agent>,
}

impl CommandLine {
    /// Creates the command line for the tools of a dispatcher. Each call passes its middleware.
    pub fn new(dispatcher: Dispatcher) -> Self {
        let path = std::env::args_os().next().unwrap_or_default();
        let stem = Path::new(&path).file_stem().unwrap_or_default();
        Self {
            name: stem.to_string_lossy().into_owned(),
            version: None,
            about: None,
            dispatcher,
            #[cfg(feature = "chat")]
            agent: None,
        }
    }

    /// Sets the name of the program in its help, as a server and in configuration files. It is the name of
    /// the file by default.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the version for `--version`, and for clients of the server.
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets the sentence at the top of the help.
    pub fn with_about(mut self, about: impl Into<String>) -> Self {
        self.about = Some(about.into());
        self
    }

    /// Adds the command `chat` with this agent.
    #[cfg(feature = "chat")]
    #[cfg_attr(docsrs, doc(cfg(feature = "chat")))]
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Runs the command of the program's arguments, and returns the exit code.
    pub async fn run(self) -> ExitCode {
        self.run_with(std::env::args_os()).await
    }

    /// Runs a command. The first word is the name of the program.
    pub async fn run_with(self, words: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
        let arguments: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let matches = match self.command().try_get_matches_from(arguments) {
            Ok(matches) => matches,
            Err(error) => return usage(error).exit.into(),
        };
        let Some((name, of_command)) = matches.subcommand() else { return Exit::Usage.into() };
        let mut desk = Desk {
            program: self.name.clone(),
            dispatcher: self.dispatcher.clone(),
            screen: Screen::new(is_json(of_command) == Some(true)),
            input: Input::default(),
        };
        let ended = match run_command(&mut desk, name, of_command).await {
            Some(ended) => ended,
            None => self.run_own(&mut desk, name, of_command).await,
        };
        end(ended).into()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.name.clone())
            .bin_name(self.name.clone())
            .subcommand_required(true)
            .arg_required_else_help(true)
            .disable_help_subcommand(true)
            .arg(format_arg().global(true))
            .subcommands(tool_commands(&self.name));
        if let Some(version) = &self.version {
            command = command.version(version.clone());
        }
        if let Some(about) = &self.about {
            command = command.about(about.clone());
        }
        #[cfg(feature = "serve")]
        {
            command = command.subcommand(crate::commands::serve::command());
        }
        #[cfg(feature = "install")]
        {
            command = command.subcommands(crate::commands::install::commands());
        }
        #[cfg(feature = "chat")]
        if self.agent.is_some() {
            command = command.subcommand(crate::commands::chat::command());
        }
        command
    }

    /// Runs a command that only the program itself has.
    async fn run_own(&self, desk: &mut Desk, name: &str, matches: &ArgMatches) -> Result<(), Failure> {
        match name {
            #[cfg(feature = "serve")]
            "serve" => {
                let version = self.version.as_deref().unwrap_or("0.0.0");
                crate::commands::serve::serve(desk, version, matches).await
            }
            #[cfg(feature = "install")]
            "install" | "uninstall" => crate::commands::install::run(desk, name, matches).await,
            #[cfg(feature = "chat")]
            "chat" => match &self.agent {
                Some(agent) => crate::commands::chat::chat(desk, agent, matches).await,
                None => Err(Failure::silent(Exit::Usage)),
            },
            _ => {
                let _ = (desk, matches);
                Err(Failure::silent(Exit::Usage))
            }
        }
    }
}

impl From<Dispatcher> for CommandLine {
    fn from(dispatcher: Dispatcher) -> Self {
        Self::new(dispatcher)
    }
}

/// Runs the command of the program's arguments, and returns the exit code for `main`.
///
/// `tools` is a `Dispatcher`, or a [`CommandLine`] with more settings. A call that needs approval asks in the
/// terminal if its permissions [decide later](toolkit_core::middleware::Permissions::decide_later).
///
/// ```no_run
/// use std::process::ExitCode;
/// use toolkit_ai::prelude::*;
///
/// #[tokio::main]
/// async fn main() -> Result<ExitCode, BuildError> {
///     Ok(toolkit_cli::run(Dispatcher::new(ToolRegistry::discover()?)?).await)
/// }
/// ```
pub async fn run(tools: impl Into<CommandLine>) -> ExitCode {
    tools.into().run().await
}
