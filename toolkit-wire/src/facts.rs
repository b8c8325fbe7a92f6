//! Facts about the APIs that need no code, from their references.

use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

/// The facts about one API.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The name of the format. Fields known only to this API are kept under this name.
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// The rule for tool names.
    pub(crate) names: NameRule,
    /// The rule for property names, if the API has one.
    pub(crate) properties: Option<NameRule>,
    /// The rule for call ids in requests. `None` if ids are optional.
    pub(crate) ids: Option<IdRule>,
    /// The maximum number of tools in a request. `None` if the reference states none.
    pub(crate) most_tools: Option<usize>,
    pub(crate) strictness: Strictness,
    /// The schema dialects for a plain tool, for a strict tool, and for a request with plain JSON Schema.
    pub(crate) dialects: [SchemaDialect; 3],
    /// The JSON before and after the definitions in the list of tools.
    pub(crate) frame: (&'static str, &'static str),
    /// The field of a request for its messages.
    pub(crate) messages: &'static str,
    /// Whether definitions keep fields known only to this API, in `meta` under the name of the format.
    pub(crate) keeps_fields: bool,
    /// The settings of a definition without a field in the API: the setting, the keyword of the loss, and
    /// the reason.
    pub(crate) unsaid: &'static [(&'static str, &'static str, &'static str)],
    /// The paths of a call's id and of its arguments.
    pub(crate) call_fields: [&'static [&'static str]; 2],
    /// JSON pointers to the token counts of a response: input, output, cached input, reasoning.
    pub(crate) usage: [&'static str; 4],
}

/// The rule for call ids in requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) rule: NameRule,
    /// Whether illegal ids are always replaced, even if the caller does not ask for it.
    pub(crate) is_strict: bool,
}

/// An API's way of enforcing schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// No tool can be strict.
    None,
    /// Each function can be strict if its own schema stays within limits.
    PerFunction,
    /// Each tool can be strict if all strict tools of the request together stay within limits.
    PerRequest,
    /// Either all functions of a request are strict or none, for this reason.
    AllOrNone(&'static str),
}

impl Facts {
    /// An API without limits or strict tools, and with the name rule of OpenAI.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        aliases: &[],
        // `^[a-zA-Z0-9_-]{1,64}$`, from the reference of both APIs of OpenAI.
        names: NameRule::DASHES,
        properties: None,
        ids: None,
        most_tools: None,
        strictness: Strictness::None,
        dialects: [SchemaDialect::OpenAi, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi],
        frame: ("[", "]"),
        messages: "messages",
        keeps_fields: false,
        unsaid: &[],
        call_fields: [&["id"], &["function", "arguments"]],
        usage: [""; 4],
    };

    /// Returns the schema dialect for a strict tool, for a plain tool, or for a request with plain JSON
    /// Schema.
    pub(crate) const fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect {
        match (self.dialects, strict, json_schema) {
            ([_, dialect, _], true, _) | ([_, _, dialect], _, true) | ([dialect, ..], ..) => dialect,
        }
    }
}

impl IdRule {
    /// Creates a rule for ids of letters, digits, `_` and `-` with at most `max_length` characters.
    pub(crate) const fn new(max_length: usize, is_strict: bool) -> Self {
        Self { rule: NameRule { max_length, punctuation: "_-", letter_first: false }, is_strict }
    }
}
