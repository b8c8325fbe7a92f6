//! A chat in the terminal: text streams in, each call is one line, Ctrl-C stops the turn.
//!
//! ```text
//! cargo run -p toolkit-agent --example chat            # an actor plays the model
//! cargo run -p toolkit-agent --example chat -- --demo  # and the user
//! cargo run -p toolkit-agent --example chat --features openai -- \
//!     --base-url http://127.0.0.1:8080/v1 --model qwen --format chat
//! ```

#![allow(clippy::print_stdout)]

#[path = "chat/actor.rs"]
mod actor;
#[path = "chat/options.rs"]
mod options;
#[path = "chat/screen.rs"]
mod screen;
#[path = "chat/tools.rs"]
mod tools;

use options::Options;
use screen::Screen;
use std::error::Error;
use std::io::{self, IsTerminal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use toolkit_agent::{Agent, Conversation};
use toolkit_ai::prelude::*;
use toolkit_core::CancellationToken;

/// The user's lines in the demonstration.
const DEMO: [&str; 3] = [
    "What is the weather in Oslo and in Rome?",
    "Please divide 7 by 0, or by something better.",
    "My name is Ada, remember that.",
];

/// The outcome of a turn.
#[derive(PartialEq)]
enum Turn {
    Done,
    /// The user ends the chat.
    Left,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(options) = Options::read()? else { return Ok(()) };
    let tools = Dispatcher::new(ToolRegistry::from_tools(tools::all())?)?.with_event_contents(true);
    let agent = options
        .builder()?
        .instructions("You are helpful and brief. Use your tools where they help.")
        .dispatcher(tools)
        .build()?;

    // Without a terminal there is no input for the actor.
    let is_demo = options.demo || (options.is_scripted() && !io::stdin().is_terminal());
    let mut lines = if is_demo { demo() } else { typed() };
    let mut interrupts = interrupts();
    let mut screen = Screen::new(is_demo || !io::stdin().is_terminal());
    let mut conversation = Conversation::default();
    screen.greet(options.model_name());
    while let Some(line) = next_line(&mut screen, &mut lines, &mut interrupts).await {
        if line.trim().is_empty() {
            continue;
        }
        if turn(&agent, &mut conversation, line, &mut screen, &mut interrupts).await == Turn::Left {
            break;
        }
    }
    screen.part();
    Ok(())
}

/// Runs one turn. The first Ctrl-C cancels it; the conversation keeps its messages so far.
async fn turn(
    agent: &Agent,
    conversation: &mut Conversation,
    input: String,
    screen: &mut Screen,
    interrupts: &mut UnboundedReceiver<()>,
) -> Turn {
    let token = CancellationToken::new();
    let mut events = agent.run(input).on(&mut *conversation).cancellation(token.clone()).stream();
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(Ok(event)) => screen.show(&event),
                Some(Err(error)) => screen.fail(&error.to_string()),
                None => return Turn::Done,
            },
            Some(()) = interrupts.recv() => {
                if token.is_cancelled() {
                    return Turn::Left;
                }
                token.cancel();
            }
        }
    }
}

/// Reads the next line. Returns `None` at the end of the input or after a second Ctrl-C.
async fn next_line(
    screen: &mut Screen,
    lines: &mut UnboundedReceiver<String>,
    interrupts: &mut UnboundedReceiver<()>,
) -> Option<String> {
    let mut is_asked = false;
    screen.prompt();
    loop {
        tokio::select! {
            line = lines.recv() => {
                if let Some(line) = &line {
                    screen.echo(line);
                }
                return line;
            }
            Some(()) = interrupts.recv() => {
                if is_asked {
                    return None;
                }
                is_asked = true;
                screen.note("Ctrl-C again, or Ctrl-D, ends the chat.");
                screen.prompt();
            }
        }
    }
}

fn demo() -> UnboundedReceiver<String> {
    let (sender, lines) = unbounded_channel();
    for line in DEMO {
        // The receiver is alive.
        let _ = sender.send(line.to_owned());
    }
    lines
}

/// Reads the terminal on its own thread, because such a read cannot be cancelled.
fn typed() -> UnboundedReceiver<String> {
    let (sender, lines) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn interrupts() -> UnboundedReceiver<()> {
    let (sender, interrupts) = unbounded_channel();
    tokio::spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).is_ok() {} });
    interrupts
}
