//! A message that comes in pieces.

mod block;

use self::block::Block;
use crate::WireError;
use crate::call::{self, Fields};
use crate::error::reported_error;
use crate::ids::CallIds;
use crate::response::FinishReason;
use crate::stream::decode::{StreamDecoder, StreamEvent};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::mem;
use toolkit_core::call::CallId;

/// Blocks are known by their index, never by being "the block in progress": llama.cpp writes all of
/// them before it ends the first.
#[derive(Default)]
pub(super) struct MessageStream {
    /// The message without its content.
    message: Fields,
    blocks: Vec<Block>,
    /// Where in `blocks` the latest block of an index is.
    places: HashMap<u64, usize>,
    /// The position after that of the last block.
    next: u64,
    /// The calls without arguments that ended last. A model that is cut off ends its call, too, so they
    /// are held back until it goes on or says why it stopped.
    held: Vec<usize>,
    ids: Option<CallIds>,
}

impl StreamDecoder for MessageStream {
    fn push(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        match event {
            Value::Array(list) => list.iter().try_for_each(|event| self.take(event, events)),
            event => self.take(event, events),
        }
    }

    fn is_complete(&self) -> bool {
        self.stop_reason().is_some()
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Value {
        let is_cut_off = self.stop_reason().is_some_and(is_cut);
        let is_whole = self.stop_reason().is_some() && !is_cut_off;
        self.release(!is_cut_off, events);
        self.end_blocks(is_whole, events);
        let mut response = Fields::from_iter([
            ("type".to_owned(), json!("message")),
            ("role".to_owned(), json!("assistant")),
        ]);
        response.extend(mem::take(&mut self.message));
        let mut blocks = mem::take(&mut self.blocks);
        blocks.sort_by_key(Block::position);
        if is_cut_off && let Some(last) = blocks.last_mut() {
            last.insist();
        }
        let content: Vec<Value> = blocks.into_iter().map(Block::into_json).collect();
        response.insert("content".to_owned(), content.into());
        response.into()
    }
}

impl MessageStream {
    fn take(&mut self, event: &Value, events: &mut Vec<StreamEvent>) -> Result<(), WireError> {
        let Some(fields) = event.as_object() else {
            return Err(WireError::new("", "an event of a stream"));
        };
        if let Some(error) = reported_error(fields) {
            let expected = format!("an event of the response (the service reported an error: {error})");
            return Err(WireError::new("error", expected));
        }
        match fields.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if let Some(Value::Object(message)) = fields.get("message") {
                    self.start(message, events);
                }
            }
            // A server that does not stream sends the whole message.
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
                if let Some(place) = self.place(index(event)) {
                    self.stop_block(place, events);
                }
            }
            Some("message_delta") => {
                self.update(fields);
                self.stop(events);
            }
            Some("message_stop") => {
                let is_whole = !self.stop_reason().is_some_and(is_cut);
                self.end_blocks(is_whole, events);
            }
            // Those of the Responses API; to ignore them would lose its calls.
            Some(kind) if kind.starts_with("response.") => {
                return Err(WireError::new("type", "the type of an event of this API"));
            }
            // `ping`, and whatever comes next.
            Some(_) => {}
            None => return Err(WireError::new("type", "the type of an event")),
        }
        Ok(())
    }

    fn start(&mut self, message: &Fields, events: &mut Vec<StreamEvent>) {
        let rest = message.iter().filter(|(name, _)| *name != "content");
        self.message.extend(rest.map(|(name, value)| (name.clone(), value.clone())));
        self.ids = Some(CallIds::new(&json!(message)));
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            if let Some(place) = self.start_block(None, Some(block), events) {
                self.stop_block(place, events);
            }
        }
        self.stop(events);
    }

    /// Takes what the end of a message tells: why it stopped, and what it cost in all.
    fn update(&mut self, event: &Fields) {
        for (name, value) in event {
            match (name.as_str(), value) {
                ("type", _) => {}
                ("delta", Value::Object(delta)) => merge(&mut self.message, delta),
                ("usage", Value::Object(usage)) => match self.message.get_mut("usage") {
                    Some(Value::Object(known)) => merge(known, usage),
                    _ => merge(&mut self.message, &Fields::from_iter([(name.clone(), value.clone())])),
                },
                _ => merge(&mut self.message, &Fields::from_iter([(name.clone(), value.clone())])),
            }
        }
    }

    /// The block of this index; without one, the latest.
    fn place(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(index) => self.places.get(&index).copied(),
            None => self.blocks.len().checked_sub(1),
        }
    }

    /// The place of the block that begins; `None` if nothing can be made of it.
    fn start_block(
        &mut self,
        index: Option<u64>,
        block: Option<&Value>,
        events: &mut Vec<StreamEvent>,
    ) -> Option<usize> {
        let mut block = Block::new(block?.as_object()?.clone())?;
        self.release(true, events);
        let known = index.and_then(|index| self.places.get(&index).copied());
        if let Some(place) = known {
            if self.blocks.get(place).is_some_and(|known| known.is_begun_again_by(&block)) {
                return Some(place);
            }
            self.end_block(place, events);
        }
        let index = index.unwrap_or(self.next);
        let position = if known.is_some() { self.next } else { index };
        self.next = self.next.max(position.saturating_add(1));
        block.place_at(position);
        if let Some(call) = block.call() {
            let id = self.id_of(call);
            block.identify(&id);
        }
        events.extend(block.started());
        self.places.insert(index, self.blocks.len());
        self.blocks.push(block);
        self.blocks.len().checked_sub(1)
    }

    fn extend_block(&mut self, index: Option<u64>, delta: &Value, events: &mut Vec<StreamEvent>) {
        let place = match self.place(index) {
            Some(place) => Some(place),
            // The event that began the block was lost.
            None => self.start_block(index, Block::begun_by(delta).as_ref(), events),
        };
        if let Some(block) = place.and_then(|place| self.blocks.get_mut(place)) {
            events.extend(block.extend(delta));
        }
    }

    /// Ends a block after which the model went on, or which it ended.
    fn end_block(&mut self, place: usize, events: &mut Vec<StreamEvent>) {
        let ended = self.blocks.get_mut(place).and_then(|block| block.end(true));
        events.extend(ended.map(StreamEvent::Call));
    }

    /// Ends a block, unless it may have been cut off.
    fn stop_block(&mut self, place: usize, events: &mut Vec<StreamEvent>) {
        match self.blocks.get(place).is_some_and(Block::is_blank_call) {
            true => self.held.push(place),
            false => self.end_block(place, events),
        }
    }

    /// Ends what was held back, if the model has said why it stopped.
    fn stop(&mut self, events: &mut Vec<StreamEvent>) {
        if let Some(reason) = self.stop_reason() {
            let is_whole = !is_cut(reason);
            self.release(is_whole, events);
        }
    }

    /// Ends the blocks that are still open; `are_whole` is whether the model had said all.
    fn end_blocks(&mut self, are_whole: bool, events: &mut Vec<StreamEvent>) {
        events.extend(self.blocks.iter_mut().filter_map(|block| block.end(are_whole)).map(StreamEvent::Call));
    }

    /// Ends the calls that were held back. Unless `are_whole`, the last block is one that was cut off.
    fn release(&mut self, are_whole: bool, events: &mut Vec<StreamEvent>) {
        let last = self.blocks.iter().map(Block::position).max();
        for place in mem::take(&mut self.held) {
            let Some(block) = self.blocks.get_mut(place) else { continue };
            let ended = block.end(are_whole || Some(block.position()) != last);
            events.extend(ended.map(StreamEvent::Call));
        }
    }

    fn stop_reason(&self) -> Option<&str> {
        self.message.get("stop_reason")?.as_str()
    }

    /// The id that the call came with, or one that no other call of the message has.
    fn id_of(&mut self, call: &Value) -> CallId {
        let ids = self.ids.get_or_insert_with(|| CallIds::new(call));
        ids.settle(call::id(call.get("id")).as_deref())
    }
}

fn is_cut(stop_reason: &str) -> bool {
    FinishReason::parse(stop_reason).is_cut()
}

fn index(event: &Value) -> Option<u64> {
    event.get("index")?.as_u64()
}

/// Takes the new values, but no `null` in the place of something.
fn merge(known: &mut Fields, new: &Fields) {
    for (name, value) in new {
        if !value.is_null() || !known.contains_key(name) {
            known.insert(name.clone(), value.clone());
        }
    }
}
