//! The screen of the chat.

use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};
use toolkit_agent::{RunEvent, RunOutput};
use toolkit_core::events::{ToolEvent, ToolEventKind};
use toolkit_core::{CallId, ToolResult};

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";
const DIM: &str = "2";
const BOLD: &str = "1";

/// The line of one call.
struct Line {
    id: CallId,
    tool: String,
    arguments: String,
    /// The progress or the result.
    status: String,
    /// The duration, formatted.
    duration: String,
    mark: &'static str,
    colour: &'static str,
    is_done: bool,
}

/// The terminal, or a file.
pub(crate) struct Screen {
    /// Whether colours and cursor movements are available.
    is_terminal: bool,
    /// Whether to print the user's lines, as they are not typed.
    echoes: bool,
    width: usize,
    calls: Vec<Line>,
    /// The number of call lines at the bottom of the screen.
    drawn: usize,
    /// Whether the last line is unfinished.
    is_open: bool,
    /// Whether the answer has begun.
    has_spoken: bool,
    begun: Instant,
}

impl Screen {
    pub(crate) fn new(echoes: bool) -> Self {
        let is_terminal = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(80);
        Self {
            is_terminal,
            echoes,
            width,
            calls: Vec::new(),
            drawn: 0,
            is_open: false,
            has_spoken: false,
            begun: Instant::now(),
        }
    }

    pub(crate) fn greet(&mut self, model: &str) {
        self.note(&format!("You speak with {model}. Ctrl-C stops a turn, Ctrl-D ends the chat."));
    }

    pub(crate) fn part(&mut self) {
        self.close();
        println!();
    }

    pub(crate) fn prompt(&mut self) {
        print!("\n{} ", self.paint(BOLD, "you>"));
        self.is_open = true;
        flush();
    }

    pub(crate) fn echo(&mut self, line: &str) {
        if self.echoes {
            println!("{line}");
        }
        self.is_open = false;
        self.calls.clear();
        self.drawn = 0;
        self.has_spoken = false;
        self.begun = Instant::now();
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.close();
        self.drawn = 0;
        println!("{}", self.paint(DIM, text));
    }

    pub(crate) fn fail(&mut self, error: &str) {
        self.close();
        self.drawn = 0;
        println!("{}", self.paint(RED, error));
    }

    pub(crate) fn show(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Text { text, .. } => self.text(text, None),
            RunEvent::Reasoning { text, .. } => self.text(text, Some(DIM)),
            RunEvent::CallStarted { call_id, tool, .. } => self.update(call_id, tool, |_| {}),
            RunEvent::Tool { event, .. } => self.tool(event),
            RunEvent::Result { result, .. } => self.result(result),
            RunEvent::ModelRetried { error, pause, .. } => {
                self.close();
                self.drawn = 0;
                let text = format!("{error}; retry in {:.1} s", pause.as_secs_f64());
                println!("{}", self.paint(YELLOW, &text));
            }
            RunEvent::Transferred { from, to, .. } => self.note(&format!("{from} transfers to {to}")),
            RunEvent::Message { .. } => self.close(),
            RunEvent::Finished { output, .. } => self.usage(output),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, colour: Option<&str>) {
        if !self.is_open {
            // Running calls move below the text.
            self.calls.retain(|line| !line.is_done);
            self.drawn = 0;
            let name = if self.has_spoken { "      " } else { "agent>" };
            print!("{} ", self.paint(CYAN, name));
            (self.is_open, self.has_spoken) = (true, true);
        }
        match colour {
            Some(colour) => print!("{}", self.paint(colour, text)),
            None => print!("{text}"),
        }
        flush();
    }

    fn tool(&mut self, event: &ToolEvent) {
        let id = &event.call.call_id;
        let tool = event.call.tool.as_str();
        match &event.kind {
            ToolEventKind::Called => {
                let arguments = event.call.arguments.as_deref().unwrap_or_default().to_owned();
                self.update(id, tool, |line| line.arguments = arguments);
            }
            ToolEventKind::Progress { fraction, message, .. } => {
                let status = format!("{:.0} % {message}", fraction * 100.0);
                self.update(id, tool, |line| line.status = status);
            }
            ToolEventKind::Retried { attempt, .. } => {
                let status = format!("attempt {attempt} failed");
                self.update(id, tool, |line| line.status = status);
            }
            _ => {}
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let (mark, colour, text) = match &result.outcome {
            Ok(output) if !output.brief().is_empty() => ("✓", GREEN, output.brief().to_owned()),
            Ok(output) => ("✓", GREEN, output.to_text().into_owned()),
            Err(error) => ("✗", RED, error.message().to_owned()),
        };
        let duration = format!(" ({})", seconds(result.duration));
        self.update(&result.call_id, &result.name, |line| {
            (line.mark, line.colour, line.is_done) = (mark, colour, true);
            (line.status, line.duration) = (text, duration);
        });
    }

    /// Changes the line of a call, or adds it.
    fn update(&mut self, id: &CallId, tool: &str, change: impl FnOnce(&mut Line)) {
        self.close();
        let at = self.calls.iter().position(|line| line.id == *id && line.tool == tool && !line.is_done);
        let at = at.unwrap_or_else(|| {
            self.calls.push(Line {
                id: id.clone(),
                tool: tool.to_owned(),
                arguments: String::new(),
                status: "…".to_owned(),
                duration: String::new(),
                mark: "▸",
                colour: YELLOW,
                is_done: false,
            });
            self.calls.len() - 1
        });
        change(&mut self.calls[at]);
        if !self.is_terminal {
            // Without cursor movements, only finished calls are printed.
            if self.calls[at].is_done {
                println!("{}", self.line(&self.calls[at]));
            }
            return;
        }
        if self.drawn > 0 {
            print!("\x1b[{}A\r", self.drawn);
        }
        for line in &self.calls {
            println!("\x1b[2K{}", self.line(line));
        }
        self.drawn = self.calls.len();
        flush();
    }

    fn line(&self, line: &Line) -> String {
        let head = shorten(&format!("{} {}", line.tool, line.arguments), self.width / 2);
        let taken = head.chars().count() + line.duration.len() + 7;
        let status = shorten(&line.status, self.width.saturating_sub(taken).max(20)) + &line.duration;
        format!("  {} {head}  {}", self.paint(line.colour, line.mark), self.paint(line.colour, &status))
    }

    fn usage(&mut self, output: &RunOutput) {
        let mut summary = format!(
            "{} tokens in, {} out; {} model calls, {} tool calls; {}",
            output.usage.input_tokens,
            output.usage.output_tokens,
            output.model_calls,
            output.tool_calls,
            seconds(self.begun.elapsed()),
        );
        if output.cost > 0.0 {
            summary.push_str(&format!("; cost {:.4}", output.cost));
        }
        self.note(&summary);
    }

    /// Ends an unfinished line.
    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            println!();
        }
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.is_terminal { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Shortens a text to one line of a maximum length.
fn shorten(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some(_) => format!("{}…", line.chars().take(most.saturating_sub(1)).collect::<String>()),
        None => line,
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

fn flush() {
    // A closed terminal is no reason to stop.
    let _ = io::stdout().flush();
}
