//! When, and in which order, the calls are returned.

use super::Parts;
use crate::call::ids;
use crate::stream::event::StreamEvent;
use crate::stream::part::StreamedPart;
use crate::stream::scan::ObjectScanner;
use serde::de::IgnoredAny;
use std::collections::HashSet;
use toolkit_schema::__private::extract_object;

impl Parts {
    /// Returns the call of an ended part, unless it repeats another or must wait.
    pub(super) fn hold_or_yield(&mut self, number: usize) {
        if self.order.waiting.contains(&number) {
            return;
        }
        if !self.is_blank(number) && !self.may_be_cut(number) {
            if self.is_new(number) {
                self.yield_call(number);
            }
        } else if !self.order.held.contains(&number) {
            self.order.held.push(number);
        }
    }

    /// Returns whether a part is no repeated or nameless call, which are dropped.
    fn is_new(&mut self, number: usize) -> bool {
        let Self { codec, parts, known_calls, .. } = self;
        let part = &mut parts[number];
        let call = if part.is_yielded() { None } else { codec.part_call(&part.json) };
        let is_new = call.is_none_or(|call| !call.name.is_empty() && known_calls.add_streamed(&call));
        part.returned.is_dropped = !is_new;
        is_new
    }

    /// Returns a complete call and those that have waited for it, unless it waits itself.
    fn yield_call(&mut self, number: usize) {
        if self.must_wait(number) {
            self.order.waiting.insert(number);
            return;
        }
        self.add_call(number);
        while let Some(next) = self.order.waiting.first().copied()
            && !self.must_wait(next)
        {
            self.order.waiting.remove(&next);
            self.add_call(next);
        }
    }

    /// Returns whether an earlier call is not returned yet, and the order of the two matters.
    ///
    /// The API finds the call of a result by its position if it gave no id to the call.
    fn must_wait(&mut self, number: usize) -> bool {
        if !self.codec.facts().results.in_call_order {
            return false;
        }
        while self.order.settled < number && !is_to_come(&self[self.order.settled]) {
            self.order.settled += 1;
        }
        let own_has_no_id = has_no_id(&self[number]);
        let mut earlier = self[self.order.settled.min(number)..number].iter().filter(|part| is_to_come(part));
        earlier.any(|part| own_has_no_id || has_no_id(part))
    }

    fn add_call(&mut self, number: usize) {
        if self[number].is_yielded() {
            return;
        }
        if self.codec.part_call(&self[number].json).is_none() {
            return self.add_complete(number);
        }
        self.announce(number);
        let part = &mut self.parts[number];
        self.codec.settle(&mut part.json);
        let Some(received) = self.codec.part_call(&part.json) else { return };
        let Some(id) = received.id.as_deref().map(Into::into) else { return };
        let call = received.into_call(id);
        part.returned.call = Some(call.clone());
        self.events.push(StreamEvent::Call(call));
        self.add_complete(number);
    }

    /// Returns all held calls at the end of the message.
    ///
    /// If generation stopped early (`is_cut`), the last part is cut off. Calls without arguments are, too, if
    /// arguments without an owner may be theirs.
    pub(crate) fn release(&mut self, is_cut: bool) {
        let mut held = std::mem::take(&mut self.order.held);
        let orphans = if held.is_empty() { HashSet::new() } else { self.orphans() };
        // A call without arguments may repeat another one, and one that broke off may be sent again.
        held.sort_by_key(|number| (self.is_blank(*number), self.may_be_cut(*number), *number));
        held.retain(|number| self.is_new(*number));
        held.sort_unstable();
        let last = if is_cut { self.last() } else { None };
        for number in held {
            if Some(number) == last {
                self.cut(number);
            }
            let own_name = &self[number].name;
            if self.is_blank(number) && orphans.iter().any(|name| name.is_empty() || name == own_name) {
                self.set_arguments(number, "{");
            }
            self.yield_call(number);
        }
        for number in std::mem::take(&mut self.order.waiting) {
            self.add_call(number);
        }
    }

    /// Returns the names in the parts that have arguments of another call.
    ///
    /// These are arguments without a name, unless a call in the final response repeats them, and a piece that
    /// another one has to precede.
    fn orphans(&self) -> HashSet<String> {
        let mut names = HashSet::new();
        for part in &self.parts {
            let Some(call) = self.codec.part_call(&part.json) else { continue };
            let text = call.arguments().into_text();
            let is_orphan = if self.is_nameless(part) {
                !call.has_no_arguments() && !self.is_listed(&text)
            } else {
                !call.is_custom && is_fragment(&text)
            };
            if is_orphan {
                names.insert(part.name.clone());
            }
        }
        names
    }

    /// Returns whether a call in the final response has the arguments `text`, or longer ones.
    fn is_listed(&self, text: &str) -> bool {
        for part in &self.parts {
            if part.is_listed
                && let Some(call) = self.codec.part_call(&part.json)
                && !call.name.is_empty()
                && call.arguments().into_text().starts_with(text)
            {
                return true;
            }
        }
        false
    }
}

fn is_to_come(part: &StreamedPart) -> bool {
    !part.name.is_empty() && !part.is_yielded() && !part.returned.is_dropped
}

fn has_no_id(part: &StreamedPart) -> bool {
    part.returned.id.as_ref().is_some_and(|id| ids::is_generated(id.as_str()))
}

/// Returns whether a text is neither JSON nor the beginning of an object.
fn is_fragment(text: &str) -> bool {
    let mut scan = ObjectScanner::default();
    scan.push(text);
    if scan.is_open() || extract_object(text).is_some() {
        return false;
    }
    serde_json::from_str::<IgnoredAny>(text).is_err()
}
