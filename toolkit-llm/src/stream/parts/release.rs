//! When the calls of a message are returned, and in which order.

use super::Parts;
use crate::call::{WireCall, ids};
use crate::stream::event::StreamEvent;
use crate::stream::part::StreamedPart;
use crate::stream::scan::ObjectScanner;
use serde::de::IgnoredAny;
use std::collections::HashSet;
use toolkit_schema::__private::extract_object;

impl Parts {
    /// Returns the call of an ended part, unless it has to wait for the end of the message, or repeats another one.
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

    /// Returns whether a part is not a repeated call or a call without a name. These are dropped.
    fn is_new(&mut self, number: usize) -> bool {
        let Self { codec, parts, known_calls, .. } = self;
        let part = &mut parts[number];
        let mut is_new = |call: WireCall<'_>| !call.name.is_empty() && known_calls.add_streamed(&call);
        part.returned.is_dropped =
            !part.is_yielded() && codec.part_call(&part.json).is_some_and(|call| !is_new(call));
        !part.returned.is_dropped
    }

    /// Returns a complete call, and the calls that have waited for it. If an earlier call is not complete, the call
    /// waits for it.
    fn yield_call(&mut self, number: usize) {
        if self.must_wait(number) {
            self.order.waiting.insert(number);
            return;
        }
        self.add_call(number);
        while let Some(next) = self.order.waiting.first().copied().filter(|next| !self.must_wait(*next)) {
            self.order.waiting.remove(&next);
            self.add_call(next);
        }
    }

    /// Returns whether an earlier call is not returned yet, and the order of the two matters: the API finds the call of a
    /// result by its position if it gave no id to the call.
    fn must_wait(&mut self, number: usize) -> bool {
        if !self.codec.facts().results.in_call_order {
            return false;
        }
        let is_to_come =
            |part: &StreamedPart| !part.name.is_empty() && !part.is_yielded() && !part.returned.is_dropped;
        let has_no_id =
            |part: &StreamedPart| part.returned.id.as_ref().is_some_and(|id| ids::is_generated(id.as_str()));
        while self.order.settled < number && !is_to_come(&self[self.order.settled]) {
            self.order.settled += 1;
        }
        let is_before =
            |earlier: &StreamedPart| is_to_come(earlier) && (has_no_id(earlier) || has_no_id(&self[number]));
        self[self.order.settled.min(number)..number].iter().any(is_before)
    }

    /// Adds the event for a complete call, unless the call was returned before.
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
        let call = self.codec.part_call(&part.json).and_then(|call| {
            let id = call.id.as_deref()?.into();
            Some(call.into_call(id))
        });
        let Some(call) = call else { return };
        part.returned.call = Some(call.clone());
        self.events.push(StreamEvent::Call(call));
        self.add_complete(number);
    }

    /// Returns all calls that were held back, at the end of the message. If generation stopped early (`is_cut`), the
    /// last part is marked as cut off. Calls without arguments are marked as well if there are arguments without an
    /// owner, which may be their own.
    pub(crate) fn release(&mut self, is_cut: bool) {
        let mut held = std::mem::take(&mut self.order.held);
        let orphans = if held.is_empty() { HashSet::new() } else { self.orphans() };
        // A call without arguments may repeat another one, and one that broke off before them may be sent again.
        held.sort_by_key(|number| (self.is_blank(*number), self.may_be_cut(*number), *number));
        held.retain(|number| self.is_new(*number));
        held.sort_unstable();
        let last = self.last().filter(|_| is_cut);
        for number in held {
            if Some(number) == last {
                self.cut(number);
            }
            let may_own = |name: &str| name.is_empty() || name == self[number].name;
            if self.is_blank(number) && orphans.iter().any(|name| may_own(name)) {
                self.set_arguments(number, "{");
            }
            self.yield_call(number);
        }
        for number in std::mem::take(&mut self.order.waiting) {
            self.add_call(number);
        }
    }

    /// Returns the names in the parts that have arguments of another call: arguments without a name, or a piece of
    /// them that another one has to precede. Arguments without a name that a call in the final response repeats are not
    /// among them.
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
        let has_text = |part: &StreamedPart| {
            let call =
                self.codec.part_call(&part.json).filter(|call| part.is_listed && !call.name.is_empty());
            call.is_some_and(|call| call.arguments().into_text().starts_with(text))
        };
        self.parts.iter().any(has_text)
    }
}

/// Returns whether a text is neither JSON nor the beginning of an object.
fn is_fragment(text: &str) -> bool {
    let mut scan = ObjectScanner::default();
    scan.push(text);
    let is_json = || extract_object(text).is_some() || serde_json::from_str::<IgnoredAny>(text).is_ok();
    !scan.is_open() && !is_json()
}
