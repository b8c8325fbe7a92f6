//! stand-in
use super::State;
use super::stored::LogReader;
use crate::event::RunEvent;
use crate::session::RunStatus;
use std::sync::Arc;
#[derive(Default)]
pub(crate) struct PastEvents {
    reader: LogReader,
    state: State,
}
pub(crate) struct PastEvent {
    pub(crate) entries: u64,
    pub(crate) event: RunEvent,
}
impl PastEvents {
    pub(crate) fn read(&mut self, save: &str) -> Result<Vec<PastEvent>, String> {
        let state = &mut self.state;
        self.reader.read_save(save, |entry| {
            state.apply_at(&entry.node, entry.entry, entry.at / 1_000);
            Ok(())
        })?;
        Ok(Vec::new())
    }
    pub(crate) fn is_next(&self, save: &str) -> bool {
        save.starts_with(&format!("{{\"n\":{},", self.entries()))
    }
    pub(crate) fn log(&self) -> &Arc<str> {
        &self.reader.id
    }
    pub(crate) fn entries(&self) -> u64 {
        self.reader.next
    }
    pub(crate) fn is_working(&self) -> bool {
        matches!(self.state.status(), RunStatus::Working { .. })
    }
}
