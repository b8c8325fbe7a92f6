//! A bar for the progress of a call, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;
use toolkit_core::events::{ToolEvent, ToolEventKind};

/// The steps of a full bar.
const STEPS: f64 = 1_000.0;

/// Shows the events of a call. Nothing appears until the tool reports progress.
#[derive(Clone)]
pub(crate) struct CallProgress(ProgressBar);

impl CallProgress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(STEPS as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {percent}% {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(crate) fn show(&self, event: &ToolEvent) {
        match &event.kind {
            ToolEventKind::Progress { fraction, message, .. } => {
                self.0.set_message(message.to_string());
                self.0.set_position((fraction.clamp(0.0, 1.0) * STEPS) as u64);
                self.0.enable_steady_tick(Duration::from_millis(200));
            }
            ToolEventKind::Ended(_) => self.0.finish_and_clear(),
            _ => {}
        }
    }
}
