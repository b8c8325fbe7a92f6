//! Streamed messages.

mod block;

use self::block::Block;
use super::Anthropic;
use crate::WireError;
use crate::codec::StreamCodec;
use crate::error::{failed, reported_error};
use crate::fields::{Fields, object};
use crate::response::FinishReason;
use crate::stream::assembler::{Assembler, StreamPart};
use crate::stream::decode::{StreamDecoder, StreamEvent};
use crate::stream::merge::overlay;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::mem;

/// Decodes a streamed message.
///
/// Content blocks are found by their index. There may be several open blocks, because llama.cpp begins all
/// blocks before it ends the first.
#[derive(Debug, Default)]
pub(super) struct MessageStream {
    /// The fields of the message except its content.
    message: Fields,
    blocks: Assembler<Block>,
    /// The number of the latest block with each index.
    numbers: HashMap<u64, usize>,
    /// The position after the last block.
    next: u64,
}

impl StreamCodec for Anthropic {
    fn stream(&self) -> Box<dyn StreamDecoder> {
        Box::<MessageStream>::default()
    }
}

impl StreamDecoder for MessageStream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let fields = object(event, "", "an event of a stream")?;
        if let Some(error) = reported_error(fields) {
            return Err(failed("error", "an event of the response", Some(&error)));
        }
        match fields.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if let Some(Value::Object(message)) = fields.get("message") {
                    self.start(message, events);
                }
            }
            // A server without streaming sends the complete message.
            Some("message") => self.start(fields, events),
            Some("content_block_start") => {
                self.start_block(index(event), event.get("content_block"), events);
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.get("delta") {
                    self.extend_block(index(event), delta, events);
                }
            }
            Some("content_block_stop") => {
                if let Some(number) = self.number(index(event)) {
                    self.end_block(number, events);
                }
            }
            Some("message_delta") => {
                self.update(fields);
                self.stop(events);
            }
            Some("message_stop") => {
                self.blocks.release(self.is_cut(), events);
                self.end_blocks(!self.is_cut(), events);
            }
            // These are events of the Responses API. Ignoring them would lose its calls.
            Some(kind) if kind.starts_with("response.") => {
                return Err(WireError::new("type", "the type of an event of this API"));
            }
            // `ping` and unknown future events are ignored.
            Some(_) => {}
            None => return Err(WireError::new("type", "the type of an event")),
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.finish_reason().is_some()
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        let is_cut = self.is_cut();
        self.blocks.release(is_cut, events);
        self.end_blocks(self.is_complete() && !is_cut, events);
        let mut response = Fields::from_iter([
            ("type".to_owned(), json!("message")),
            ("role".to_owned(), json!("assistant")),
        ]);
        response.extend(mem::take(&mut self.message));
        let blocks = mem::take(&mut self.blocks).into_parts(is_cut);
        let content: Vec<Value> = blocks.into_iter().map(Block::into_json).collect();
        response.insert("content".to_owned(), content.into());
        response.into()
    }
}

impl MessageStream {
    fn start(&mut self, message: &Fields, events: &mut Vec<StreamEvent>) {
        overlay(&mut self.message, message, |name, _| name != "content");
        self.blocks.seed(|| json!(message));
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            if let Some(number) = self.start_block(None, Some(block), events) {
                self.end_block(number, events);
            }
        }
        self.stop(events);
    }

    /// Copies the fields of the event `message_delta` to the message: the stop reason and the total usage.
    fn update(&mut self, event: &Fields) {
        overlay(&mut self.message, event, |name, _| !matches!(name, "type" | "delta"));
        if let Some(Value::Object(delta)) = event.get("delta") {
            overlay(&mut self.message, delta, |_, _| true);
        }
    }

    /// Returns the position in `blocks` of the block with the service's `index`. Without an `index`, returns
    /// the position of the latest block.
    fn number(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(index) => self.numbers.get(&index).copied(),
            None => self.blocks.len().checked_sub(1),
        }
    }

    /// Begins a block. Returns its number, or `None` if the event contains no block.
    fn start_block(
        &mut self,
        index: Option<u64>,
        block: Option<&Value>,
        events: &mut Vec<StreamEvent>,
    ) -> Option<usize> {
        let json = block?;
        let block = Block::new(json.as_object()?.clone())?;
        let known = index.and_then(|index| self.numbers.get(&index).copied());
        if let Some(number) = known {
            if self.blocks.get(number).is_some_and(|known| known.is_begun_again_by(&block)) {
                return Some(number);
            }
            self.end_block(number, events);
        }
        let index = index.unwrap_or(self.next);
        let position = if known.is_some() { self.next } else { index };
        self.next = self.next.max(position.saturating_add(1));
        events.extend(block.begun());
        let is_call = block.call().is_some();
        let number = self.blocks.begin(block.at(position));
        self.numbers.insert(index, number);
        self.blocks.release_passed(events);
        if is_call {
            self.blocks.seed(|| json.clone());
            self.blocks.announce(number, events);
        }
        Some(number)
    }

    fn extend_block(&mut self, index: Option<u64>, delta: &Value, events: &mut Vec<StreamEvent>) {
        let number = match self.number(index) {
            Some(number) => Some(number),
            // The event that began the block was lost.
            None => self.start_block(index, Block::begun_by(delta).as_ref(), events),
        };
        if let Some(block) = number.and_then(|number| self.blocks.get_mut(number)) {
            events.extend(block.extend(delta));
        }
    }

    fn end_block(&mut self, number: usize, events: &mut Vec<StreamEvent>) {
        let block = self.blocks.get_mut(number).filter(|block| block.is_open());
        match block.map(Block::end) {
            Some(true) => self.blocks.yield_call(number, events),
            Some(false) => self.blocks.end(number, events),
            None => {}
        }
    }

    /// Adds the calls held back so far to `events` if the stop reason is known.
    fn stop(&mut self, events: &mut Vec<StreamEvent>) {
        if self.finish_reason().is_some() {
            self.blocks.release(self.is_cut(), events);
        }
    }

    /// Ends the open blocks and adds their calls to `events`.
    ///
    /// If `are_whole` is `false`, calls without arguments are marked as cut off.
    fn end_blocks(&mut self, are_whole: bool, events: &mut Vec<StreamEvent>) {
        for number in 0..self.blocks.len() {
            let Some(block) = self.blocks.get_mut(number).filter(|block| block.is_open()) else { continue };
            if !block.end() && !are_whole {
                self.blocks.cut(number);
            }
            self.blocks.yield_call(number, events);
        }
    }

    /// Returns the finish reason, if it has arrived.
    fn finish_reason(&self) -> Option<FinishReason> {
        Some(FinishReason::parse(self.message.get("stop_reason")?.as_str()?))
    }

    fn is_cut(&self) -> bool {
        self.finish_reason().is_some_and(|reason| reason.is_cut())
    }
}

fn index(event: &Value) -> Option<u64> {
    event.get("index")?.as_u64()
}
