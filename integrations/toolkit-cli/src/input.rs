//! What the user types: lines of the standard input, for questions and for several commands.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The lines of the standard input.
///
/// They are read on a thread of their own, because such a read cannot be cancelled. The thread starts with
/// the first question, so a command that asks nothing leaves the input alone.
/// Clones share the lines, and one question waits for another.
#[derive(Clone, Default)]
pub(crate) struct Input(Arc<Mutex<Option<Receiver<String>>>>);

impl Input {
    /// Returns whether a user can be asked.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Returns the next line, or `None` at the end of the input and after Ctrl+C.
    pub(crate) async fn line(&self) -> Option<String> {
        let mut lines = self.0.lock().await;
        tokio::select! {
            line = lines.get_or_insert_with(typed).recv() => line,
            _ = tokio::signal::ctrl_c() => None,
        }
    }

    /// Returns whether the user agrees. Without an answer, there is none.
    pub(crate) async fn agreement(&self) -> Option<bool> {
        let line = self.line().await?;
        Some(matches!(line.trim(), "y" | "Y" | "yes"))
    }
}

fn typed() -> Receiver<String> {
    let (sender, lines) = channel(1);
    std::thread::spawn(move || send_lines(&sender));
    lines
}

fn send_lines(sender: &Sender<String>) {
    for line in io::stdin().lines() {
        let Ok(text) = line else { return };
        if sender.blocking_send(text).is_err() {
            return;
        }
    }
}
