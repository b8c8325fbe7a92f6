//! The step of a message: one model call.

use crate::ai_sdk::UiChunk;
use std::sync::Arc;
use toolkit_agent::runs::Cursor;

/// What a model writes in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Text,
    Reasoning,
}

/// The step that is being written.
#[derive(Debug, Clone, Default)]
pub(super) struct UiStep {
    /// How many steps have begun.
    pub(super) number: usize,
    /// How many of them the message has. A step in place of one that was taken back does not count.
    pub(super) shown: usize,
    /// The id of the model's message.
    pub(super) message: String,
    /// The text of the message so far.
    pub(super) text: String,
    /// Whether the message is complete, so that a retry is one of the next message.
    pub(super) is_complete: bool,
    /// The place after the first event of the step.
    pub(super) first: Option<Cursor>,
    is_open: bool,
    /// What is being written, with the id of the part.
    part: Option<(Piece, Arc<str>)>,
    /// How many parts the message has so far.
    parts: usize,
}

impl UiStep {
    /// Begins the step of a message, unless it has begun.
    pub(super) fn open(&mut self, message: &str, chunks: &mut Vec<UiChunk>) {
        if self.is_open && self.message == message {
            return;
        }
        // After a retry, the step is open and empty.
        if !self.is_open || !self.message.is_empty() {
            self.close(chunks);
            chunks.push(UiChunk::StartStep);
            self.shown += 1;
        }
        self.number += 1;
        self.is_open = true;
        self.is_complete = false;
        message.clone_into(&mut self.message);
        self.text.clear();
        self.parts = 0;
    }

    /// Adds a piece of the message.
    pub(super) fn piece(&mut self, message: &str, kind: Piece, text: &str, chunks: &mut Vec<UiChunk>) {
        self.open(message, chunks);
        let id = match &self.part {
            Some((open, id)) if *open == kind => id.clone(),
            _ => self.open_piece(kind, chunks),
        };
        let delta = text.to_owned();
        chunks.push(match kind {
            Piece::Text => {
                self.text.push_str(text);
                UiChunk::TextDelta { id, delta }
            }
            Piece::Reasoning => UiChunk::ReasoningDelta { id, delta },
        });
    }

    fn open_piece(&mut self, kind: Piece, chunks: &mut Vec<UiChunk>) -> Arc<str> {
        self.close_piece(chunks);
        let id: Arc<str> = match self.parts {
            0 => self.message.as_str().into(),
            number => format!("{}#{number}", self.message).into(),
        };
        self.parts += 1;
        self.part = Some((kind, id.clone()));
        let begun = id.clone();
        chunks.push(match kind {
            Piece::Text => UiChunk::TextStart { id: begun },
            Piece::Reasoning => UiChunk::ReasoningStart { id: begun },
        });
        id
    }

    pub(super) fn close_piece(&mut self, chunks: &mut Vec<UiChunk>) {
        match self.part.take() {
            Some((Piece::Text, id)) => chunks.push(UiChunk::TextEnd { id }),
            Some((Piece::Reasoning, id)) => chunks.push(UiChunk::ReasoningEnd { id }),
            None => {}
        }
    }

    pub(super) fn end_message(&mut self, chunks: &mut Vec<UiChunk>) {
        self.close_piece(chunks);
        self.is_complete = true;
    }

    pub(super) fn close(&mut self, chunks: &mut Vec<UiChunk>) {
        self.close_piece(chunks);
        if self.is_open {
            self.is_open = false;
            chunks.push(UiChunk::FinishStep);
        }
    }

    /// Takes the step back. The next message is written in its place.
    pub(super) fn reset(&mut self) -> Vec<UiChunk> {
        if !self.is_open || self.message.is_empty() {
            return Vec::new();
        }
        self.part = None;
        self.parts = 0;
        self.is_complete = false;
        self.message.clear();
        self.text.clear();
        vec![UiChunk::ResetStep]
    }
}
