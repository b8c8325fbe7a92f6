//! Facts about the APIs that need no code, from their references.

use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

/// The facts about one API.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The format's name, under which fields that only this API has are kept.
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// The rule for tool names.
    pub(crate) names: NameRule,
    /// The rule for names of properties, if there is one.
    pub(crate) properties: Option<NameRule>,
    /// The rule for call ids in requests. `None` where ids are optional.
    pub(crate) ids: Option<IdRule>,
    /// The number of tools that a request may have; `None` if no number is documented.
    pub(crate) most_tools: Option<usize>,
    pub(crate) strictness: Strictness,
    /// The schema dialects of a plain and of a strict tool, and of a request that wants plain JSON Schema.
    pub(crate) dialects: [SchemaDialect; 3],
    /// The text before and after the definitions in the list of tools.
    pub(crate) frame: (&'static str, &'static str),
    /// The field of a request that holds its messages.
    pub(crate) messages: &'static str,
    /// Whether definitions keep fields that only this API has, in their `meta` under the format's name.
    pub(crate) keeps_fields: bool,
    /// The settings of a definition that the API has no field for: setting, keyword of the loss, reason.
    pub(crate) unsaid: &'static [(&'static str, &'static str, &'static str)],
    /// JSON pointers to the tokens of a response: input, output, cached input, reasoning.
    pub(crate) usage: [&'static str; 4],
}

/// The ids that requests accept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) rule: NameRule,
    /// Whether ids are made legal without being asked to.
    pub(crate) is_strict: bool,
}

/// How an API holds tools to their schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// No tool can be strict.
    None,
    /// Each function, within limits of its own schema.
    PerFunction,
    /// Each tool, within limits that all tools of a request share.
    PerRequest,
    /// All functions of a request or none, for this reason.
    AllOrNone(&'static str),
}

impl Facts {
    /// An API without limits and strict tools, with the names of OpenAI.
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
        usage: [""; 4],
    };

    /// Returns the schema dialect of a strict or plain tool, or of a request that wants plain JSON Schema.
    pub(crate) const fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect {
        match (self.dialects, strict, json_schema) {
            ([_, dialect, _], true, _) | ([_, _, dialect], _, true) | ([dialect, ..], ..) => dialect,
        }
    }
}

impl IdRule {
    /// Letters, digits, `_` and `-`, at most so many.
    pub(crate) const fn new(max_length: usize, is_strict: bool) -> Self {
        Self { rule: NameRule { max_length, punctuation: "_-", letter_first: false }, is_strict }
    }
}
