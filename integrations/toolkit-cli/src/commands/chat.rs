//! `chat`: a conversation with the agent of the program.

use super::call::ask;
use super::list::list;
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::screen::{FAINT, NAME, WARNING, end};
use clap::{Arg, ArgMatches, Command};
use std::fs;
use std::io;
use toolkit_agent::{Agent, AgentError, Conversation, Decisions, PendingCall, RunEvent, RunStream};
use toolkit_core::CancellationToken;
use toolkit_core::error::Pending;
use toolkit_core::middleware::Approval;

const HELP: &str = "/tools  the tools\n/new    a new conversation\n/exit   ends the chat, as Ctrl+D does";

/// The longest line of a call's result.
const LONGEST: usize = 100;

pub(crate) fn command() -> Command {
    let message = Arg::new("message").value_name("MESSAGE");
    let history = Arg::new("history").long("history").value_name("FILE");
    Command::new("chat").about("Talks with the agent of the program").args([
        message.help("One message; without it, each line of the input is one"),
        history.help("Keeps the conversation in this file, and continues it"),
    ])
}

pub(crate) async fn chat(desk: &mut Desk, agent: &Agent, matches: &ArgMatches) -> Result<(), Failure> {
    let history = matches.get_one::<String>("history").map(String::as_str);
    let mut conversation = opened(history)?;
    if let Some(message) = matches.get_one::<String>("message") {
        let ended = exchange(desk, agent, &mut conversation, message).await;
        save(history, &conversation)?;
        return ended;
    }
    let is_interactive = Input::is_interactive();
    if is_interactive {
        desk.screen.note(format_args!("{FAINT}Ctrl+C cancels an answer, /help shows more{FAINT:#}"))?;
    }
    loop {
        if is_interactive {
            desk.screen.prompt(format_args!("{NAME}you>{NAME:#}"))?;
        }
        let Some(line) = desk.input.line().await else { return Ok(()) };
        match line.trim() {
            "" => {}
            "/exit" => return Ok(()),
            "/help" => desk.screen.note(HELP)?,
            "/new" => conversation = Conversation::default(),
            "/tools" => list(desk)?,
            message => {
                let ended = exchange(desk, agent, &mut conversation, message).await;
                save(history, &conversation)?;
                match ended {
                    Err(failure) if is_interactive => _ = end(Err(failure)),
                    ended => ended?,
                }
            }
        }
    }
}

fn opened(history: Option<&str>) -> Result<Conversation, Failure> {
    let Some(path) = history else { return Ok(Conversation::default()) };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Conversation::default()),
        Err(error) => {
            return Err(Failure::unreachable(format_args!("`{path}` cannot be read: {error}")));
        }
    };
    match serde_json::from_str(&text) {
        Ok(conversation) => Ok(conversation),
        Err(error) => {
            let message = format!("`{path}` holds no conversation: {error}; choose another file");
            Err(Failure::usage(message))
        }
    }
}

fn save(history: Option<&str>, conversation: &Conversation) -> Result<(), Failure> {
    let Some(path) = history else { return Ok(()) };
    let text = serde_json::to_string(conversation).map_err(io::Error::from)?;
    fs::write(path, text)
        .map_err(|error| Failure::unreachable(format_args!("`{path}` cannot be written: {error}")))
}

/// Sends a message, and decides about the calls that wait until the run ends.
async fn exchange(
    desk: &Desk,
    agent: &Agent,
    conversation: &mut Conversation,
    message: &str,
) -> Result<(), Failure> {
    let token = CancellationToken::new();
    let run = agent.run(message).on(&mut *conversation).cancellation(token.clone());
    let mut pending = follow(desk, run.stream(), &token).await?;
    while !pending.is_empty() {
        let decisions = decide(desk, &pending).await?;
        let again = CancellationToken::new();
        let resumed = agent.resume(&mut *conversation).decide(decisions).cancellation(again.clone());
        pending = follow(desk, resumed.stream(), &again).await?;
    }
    Ok(())
}

/// Shows the events of a run, and returns the calls that wait at its end. Ctrl+C cancels the run.
async fn follow(
    desk: &Desk,
    mut events: RunStream<'_>,
    token: &CancellationToken,
) -> Result<Vec<PendingCall>, Failure> {
    let mut shown = ShownRun { desk, is_open: false };
    let mut waiting = Vec::new();
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = tokio::signal::ctrl_c() => {
                token.cancel();
                continue;
            }
        };
        match event {
            None => break,
            Some(Ok(event)) => {
                shown.show(&event)?;
                if let RunEvent::Waiting { pending, .. } = event {
                    waiting = pending;
                }
            }
            Some(Err(error)) => {
                shown.close()?;
                return Err(failure(desk, &error.error));
            }
        }
    }
    shown.close()?;
    Ok(waiting)
}

fn failure(desk: &Desk, error: &AgentError) -> Failure {
    match error {
        AgentError::Cancelled => Failure::new(Exit::Cancelled, "the answer was cancelled"),
        AgentError::Model(_) => {
            let hint = format!("the tools can be called without a model: `{} call TOOL`", desk.program);
            Failure::unreachable(format_args!("{error}\n{hint}"))
        }
        _ => Failure::new(Exit::Failed, error.to_string()),
    }
}

/// What is on the screen of a run.
struct ShownRun<'a> {
    desk: &'a Desk,
    /// Whether the last line is an unfinished text.
    is_open: bool,
}

impl ShownRun<'_> {
    fn show(&mut self, event: &RunEvent) -> io::Result<()> {
        let screen = &self.desk.screen;
        if screen.is_json {
            return screen.json(event);
        }
        match event {
            RunEvent::Text { text, .. } => {
                self.is_open = true;
                screen.piece(text)
            }
            RunEvent::Result { result, .. } => {
                self.close()?;
                let text = result.to_text();
                let line: String = text.lines().next().unwrap_or_default().chars().take(LONGEST).collect();
                let style = if result.is_error() { WARNING } else { FAINT };
                self.desk.screen.line(format_args!("  {style}{}: {line}{style:#}", result.name))
            }
            RunEvent::ModelRetried { error, .. } => {
                self.close()?;
                self.desk.screen.note(format_args!("{error}; it is tried again"))
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) { self.desk.screen.line("") } else { Ok(()) }
    }
}

/// Asks the user about the calls that wait.
async fn decide(desk: &Desk, pending: &[PendingCall]) -> Result<Decisions, Failure> {
    if !Input::is_interactive() {
        let names: Vec<&str> = pending.iter().map(|waiting| waiting.call.name.as_str()).collect();
        let message = format!("the run waits for a user: {}; run it in a terminal", names.join(", "));
        return Err(Failure::new(Exit::Waiting, message));
    }
    let mut decisions = Decisions::new();
    for waiting in pending {
        let id = waiting.id.as_str();
        decisions = match &waiting.reason {
            Pending::Approval { reason, .. } => match ask(desk, &waiting.call, reason).await? {
                Approval::Deny(refusal) => decisions.deny(id, refusal),
                _ => decisions.approve(id),
            },
            Pending::Question { question, .. } => {
                desk.screen.prompt(question)?;
                match desk.input.line().await {
                    Some(answer) => decisions.answer(id, answer),
                    None => decisions.deny(id, "the user did not answer"),
                }
            }
            other => return Err(Failure::new(Exit::Waiting, format!("`{}` {other}", waiting.call.name))),
        };
    }
    Ok(decisions)
}
