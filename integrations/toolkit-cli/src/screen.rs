//! What a command writes: results to the standard output, everything else to the standard error.

use crate::exit::{Exit, Failure};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use terminal_size::{Width, terminal_size};

pub(crate) const NAME: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

/// The two outputs of the program. Colours are left out where the output is no terminal.
pub(crate) struct Screen {
    /// Whether the results are JSON for scripts.
    pub(crate) is_json: bool,
    pub(crate) is_terminal: bool,
    width: Option<usize>,
}

impl Screen {
    pub(crate) fn new(is_json: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let measured = terminal_size().map(|(Width(width), _)| usize::from(width));
        // A pipe has no width, so lines for other programs stay whole.
        let width = if is_terminal { measured.or(columns) } else { columns };
        Self { is_json, is_terminal, width }
    }

    /// Writes a line of the result.
    pub(crate) fn line(&self, text: impl Display) -> io::Result<()> {
        writeln!(anstream::stdout(), "{text}")
    }

    /// Writes the name of a thing, with notes beside it.
    pub(crate) fn heading(&self, indent: usize, name: &str, notes: &[String]) -> io::Result<()> {
        let margin = " ".repeat(indent);
        let gap = if notes.is_empty() { "" } else { "  " };
        self.line(format_args!("{margin}{NAME}{name}{NAME:#}{gap}{FAINT}{}{FAINT:#}", notes.join(", ")))
    }

    /// Writes a piece of the result without a line break, at once.
    #[cfg(any(feature = "chat", feature = "install"))]
    pub(crate) fn piece(&self, text: impl Display) -> io::Result<()> {
        let mut out = anstream::stdout();
        write!(out, "{text}")?;
        out.flush()
    }

    /// Writes a paragraph of the result in the width of the terminal.
    pub(crate) fn paragraph(&self, indent: usize, text: &str) -> io::Result<()> {
        let width = self.width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(20));
        let margin = " ".repeat(indent);
        for line in text.lines() {
            for piece in wrapped(line, width) {
                self.line(format_args!("{margin}{piece}"))?;
            }
        }
        Ok(())
    }

    /// Writes JSON: indented for a reader, on one line for a program.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let text =
            if self.is_terminal { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        self.line(text?)
    }

    /// Writes a note beside the result.
    pub(crate) fn note(&self, text: impl Display) -> io::Result<()> {
        writeln!(anstream::stderr(), "{text}")
    }

    /// Writes a question, without a line break.
    pub(crate) fn prompt(&self, text: impl Display) -> io::Result<()> {
        let mut err = anstream::stderr();
        write!(err, "{text} ")?;
        err.flush()
    }
}

/// Reports how a command has ended, and returns its exit code.
pub(crate) fn end(ended: Result<(), Failure>) -> Exit {
    let Err(Failure { exit, message }) = ended else { return Exit::Success };
    if !message.is_empty() {
        // Without a standard error, only the exit code is left.
        let _ = writeln!(anstream::stderr(), "{BAD}error:{BAD:#} {message}");
    }
    exit
}

/// Breaks a line at blanks. A longer word is a line of its own.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split_whitespace() {
        let length = current.chars().count() + word.chars().count();
        if !current.is_empty() && length + 1 > width {
            lines.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    lines.push(current);
    lines
}
