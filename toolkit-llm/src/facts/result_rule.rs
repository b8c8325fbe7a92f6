//! The rule of an API for the results in a history, as data.

use crate::json::fields::text;
use serde_json::Value;

/// The rule of an API for the results in a history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultRule {
    pub(crate) place: ResultPlace,
    /// Whether the results of a turn must be in the order of its calls.
    pub(crate) in_call_order: bool,
    pub(crate) ids: RequiredIds,
}

/// The positions that an API accepts for results.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResultPlace {
    /// Each call and each result is a message. A result may be anywhere after its call. Adjacent calls are one turn.
    AfterCall,
    /// Each result is a message. It directly follows the message with the calls.
    DirectlyAfter,
    /// The results are parts of the message after the message with the calls.
    NextMessage(Replies),
}

/// The messages with results, in an API in which results are parts of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replies {
    /// The field for the parts of a message.
    pub(crate) parts: &'static str,
    /// The roles of the messages that may contain results.
    pub(crate) roles: &'static [&'static str],
    /// Whether the results must precede all other parts. The service then reads adjacent messages as one.
    pub(crate) results_first: bool,
}

/// What an API requires of the ids of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredIds {
    Optional,
    Required,
    /// No id may occur twice in a history. Servers that count the calls of each turn from zero repeat ids.
    Unique,
}

impl ResultRule {
    /// The rule of OpenAI's Chat Completions.
    pub(crate) const PLAIN: Self =
        Self { place: ResultPlace::DirectlyAfter, in_call_order: false, ids: RequiredIds::Optional };
}

impl Replies {
    pub(crate) fn contain(&self, message: &Value) -> bool {
        self.roles.contains(&text(message, "role"))
    }
}
