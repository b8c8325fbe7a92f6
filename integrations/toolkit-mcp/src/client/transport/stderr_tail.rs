//! The last lines of a server's standard error, for messages.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::timeout;
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;

const MAX_LINES: usize = 10;

/// The wait for lines that have not arrived yet.
const LAST_LINES_TIMEOUT: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(crate) struct StderrTail {
    lines: Mutex<VecDeque<String>>,
    /// Cancelled when standard error is closed.
    pub(super) ended: CancellationToken,
}

impl StderrTail {
    pub(super) fn push(&self, line: String) {
        let mut lines = lock(&self.lines);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Returns the last lines to append to an error message, perhaps none. First waits a moment for lines
    /// that have not arrived yet.
    pub(crate) async fn text(&self) -> String {
        let _ = timeout(LAST_LINES_TIMEOUT, self.ended.cancelled()).await;
        let lines = lock(&self.lines);
        if lines.is_empty() {
            return String::new();
        }
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        format!("; its last output: {}", texts.join(" | "))
    }
}
