//! Facts about the APIs, taken from their references. These are the differences between codecs that need no
//! code.

use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

/// The facts about one API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// The name of the format. Fields that only this API knows are stored under this name.
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    /// The rule for tool names.
    pub(crate) names: NameRule,
    /// The rule for the property names in a schema, if the API has one.
    pub(crate) properties: Option<NameRule>,
    /// The rule for call ids in requests. `None` if the API does not require ids.
    pub(crate) ids: Option<IdRule>,
    /// The maximum number of tools in a request. `None` if the reference does not state a maximum.
    pub(crate) most_tools: Option<usize>,
    pub(crate) strictness: Strictness,
    /// The schema dialects, in this order: for a tool without enforcement, for a strict tool, and for a
    /// request with plain JSON Schema.
    pub(crate) dialects: [SchemaDialect; 3],
    /// The JSON text before and after the definitions in a request.
    pub(crate) frame: (&'static str, &'static str),
    /// The path of the tools in a request.
    pub(crate) tools: &'static [&'static str],
    /// The request field for the messages.
    pub(crate) messages: &'static str,
    /// Whether the fields of a definition that only this API knows are stored in `meta` under the name of the
    /// format.
    pub(crate) keeps_fields: bool,
    /// The settings that the API has no field for: the setting, the keyword of the loss, and the reason in
    /// the loss.
    pub(crate) unsaid: &'static [(&'static str, &'static str, &'static str)],
    /// The paths of a call's id and of its arguments.
    pub(crate) call_fields: [&'static [&'static str]; 2],
    /// JSON pointers to the token counts of a response: input, output, cached input and reasoning tokens.
    pub(crate) usage: [&'static str; 4],
}

/// The rule for call ids in requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) rule: NameRule,
    /// Whether illegal ids are always replaced, even if the caller does not ask for it.
    pub(crate) is_strict: bool,
}

/// The ways in which APIs enforce schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// The API cannot enforce schemas.
    None,
    /// The API enforces the schema of each strict function whose schema is within the limits.
    PerFunction,
    /// The API enforces the schemas of strict tools. The limits apply to all strict tools of a request
    /// together.
    PerRequest,
    /// The API enforces the schemas of all functions in a request, or of none. The string is the reason to
    /// report.
    AllOrNone(&'static str),
}

impl Facts {
    /// The facts of an API without limits and strict tools, and with OpenAI's rule for names.
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
        tools: &["tools"],
        messages: "messages",
        keeps_fields: false,
        unsaid: &[],
        call_fields: [&["id"], &["function", "arguments"]],
        usage: [""; 4],
    };

    /// Returns the schema dialect for a tool: strict, without enforcement, or in a request with plain JSON
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
