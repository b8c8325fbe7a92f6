//! The rule of an API for the results in a history, as data.

use crate::json::fields::text;
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultRule {
    pub(crate) place: ResultPlace,
    pub(crate) in_call_order: bool,
    pub(crate) ids: RequiredIds,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ResultPlace {
    /// Each call and each result is a message. A result may be anywhere after its call. Adjacent calls are
    /// one turn.
    AfterCall,
    /// Each result is a message directly after the calls.
    DirectlyAfter,
    /// The results are parts of the message after the calls.
    NextMessage(Replies),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Replies {
    pub(crate) parts: &'static str,
    pub(crate) roles: &'static [&'static str],
    /// Whether results must precede all other parts. The service then reads adjacent messages as one.
    pub(crate) results_first: bool,
}

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
