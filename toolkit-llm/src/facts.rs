//! Facts about the APIs, taken from their references. They describe differences between the codecs as data instead of
//! code.

mod api_format;
pub(crate) mod media;
pub(crate) mod result_rule;
#[cfg(feature = "model")]
mod server;

use crate::json::fields::{Fields, text};
pub use api_format::{ApiFormat, UnknownApiFormat};
use media::MediaTable;
use result_rule::ResultRule;
use serde_json::Value;
#[cfg(feature = "model")]
pub use server::Server;
use toolkit_core::ToolResult;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Content;
use toolkit_schema::SchemaDialect;

/// The properties of one API that codecs use as data, such as its limits and the names of its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// The name of the format. Fields that exist only in this API are stored under this name.
    pub(crate) name: &'static str,
    pub(crate) tools: ToolFacts,
    /// The rule for call ids in requests. `None` if the API does not require ids.
    pub(crate) ids: Option<IdRule>,
    /// The rule for the results in a history.
    pub(crate) results: ResultRule,
    pub(crate) fields: RequestFields,
    /// The paths to the id and to the arguments of a call.
    pub(crate) call_fields: [&'static [&'static str]; 2],
    pub(crate) usage: UsageFields,
    /// The media items that the API accepts. Each entry has the first model generation to which it applies. The latest
    /// generation comes first. If there are no entries, no losses are reported.
    pub(crate) media: &'static [(u32, MediaTable)],
    /// Returns the generation of the model with the given name. Returns `None` if the name has no generation,
    /// or if requests do not depend on it.
    pub(crate) generation: fn(&str) -> Option<u32>,
    /// The JSON pointer to the id of a response. Empty if responses have no id.
    pub(crate) response_id: &'static str,
    /// The JSON pointers to the id and to the expiry of the container in which the provider runs code. Empty
    /// if responses have none.
    pub(crate) container: [&'static str; 2],
}

/// What an API accepts in the definitions of tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFacts {
    /// The rule for tool names.
    pub(crate) names: NameRule,
    /// The rule for the names of parameters, if the API has one. It is also applied to the properties inside of parameters:
    /// one refused name costs all tools of the request.
    pub(crate) parameters: Option<NameRule>,
    /// The maximum number of tools in a request. `None` if the reference does not state a maximum.
    pub(crate) most: Option<usize>,
    pub(crate) strictness: Strictness,
    /// The schema dialects for a tool without enforcement, for a strict tool, and for a request with plain
    /// JSON Schema, in this order.
    pub(crate) dialects: [SchemaDialect; 3],
    /// The settings of a tool for which the API has no field.
    pub(crate) unsupported: &'static [&'static str],
}

/// The places of tools and messages in a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestFields {
    /// The JSON text before and after the definitions in a request.
    pub(crate) frame: (&'static str, &'static str),
    /// The path to the list of tools in a request.
    pub(crate) tools: &'static [&'static str],
    /// The request field for the messages.
    pub(crate) messages: &'static str,
    /// The request fields that refer to a conversation stored by the service. A request with such a field may contain
    /// results whose calls only the service has.
    pub(crate) server_state: &'static [&'static str],
}

/// JSON pointers to the token counts of a response. Empty if the API does not report a number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsageFields {
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    pub(crate) cached_input: &'static str,
    pub(crate) reasoning: &'static str,
    /// The sum of all tokens. Empty if all servers of the API agree on what counts as output.
    pub(crate) total: &'static str,
    /// The number of input tokens written into a cache.
    pub(crate) cache_writes: &'static str,
    /// The number of input tokens in the results of the provider's own tools.
    pub(crate) tool_tokens: &'static str,
}

/// The form in which a history is written, chosen by the caller.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HistoryForm {
    /// Call ids follow the rule of the API.
    Usual,
    /// Call ids follow the rule of the API, and illegal ids are always replaced.
    StrictIds,
    /// Messages of Mistral's servers. Call ids have exactly nine letters and digits.
    Mistral(&'static MistralForm),
}

/// The functions that write messages for Mistral's servers.
#[derive(Debug)]
pub(crate) struct MistralForm {
    /// The media items that the servers accept.
    pub(crate) media: &'static MediaTable,
    pub(crate) encode_user: fn(&[Content]) -> Value,
    pub(crate) encode_results: fn(&[ToolResult], &[String], &WireNames) -> Vec<Value>,
    /// Inserts a message of the model between a tool message and a user message.
    pub(crate) separate_results: fn(Vec<Value>) -> Vec<Value>,
}

/// Provides the [`Facts`] about an API.
pub(crate) trait Api {
    fn facts(&self) -> &'static Facts;
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
    /// The default facts about an API: no limits, no strict tools, and OpenAI's rule for tool names.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        tools: ToolFacts::PLAIN,
        ids: None,
        results: ResultRule::PLAIN,
        fields: RequestFields::PLAIN,
        call_fields: [&["id"], &["function", "arguments"]],
        usage: UsageFields::PLAIN,
        media: &[],
        generation: |_| None,
        response_id: "",
        container: [""; 2],
    };

    /// Returns whether a request refers to messages stored by the service.
    pub(crate) fn is_continued(&self, request: &Fields) -> bool {
        for name in self.fields.server_state {
            let Some(kept) = request.get(*name) else { continue };
            // A request that creates a thread of Anthropic contains all messages.
            if !kept.is_null() && text(kept, "type") != "create" {
                return true;
            }
        }
        false
    }

    /// Returns the media items accepted by models of the given generation. `None` stands for the latest
    /// generation.
    pub(crate) fn media_table(&self, generation: Option<u32>) -> Option<&'static MediaTable> {
        let generation = generation.unwrap_or(u32::MAX);
        let (_, table) = self.media.iter().find(|(first, _)| *first <= generation)?;
        Some(table)
    }
}

impl ToolFacts {
    pub(crate) const PLAIN: Self = Self {
        names: NameRule::DASHES,
        parameters: None,
        most: None,
        strictness: Strictness::None,
        dialects: [SchemaDialect::OpenAi, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi],
        unsupported: &[],
    };

    /// The settings that an API cannot express if it has only functions with a name, a description and
    /// parameters.
    pub(crate) const FUNCTIONS_ONLY: &'static [&'static str] =
        &["kind", "output_schema", "input_examples", "allowed_callers", "defer"];

    /// Returns the schema dialect for a tool. `strict` states whether the schema is enforced, and
    /// `json_schema` whether the request has plain JSON Schema.
    pub(crate) const fn dialect(&self, strict: bool, json_schema: bool) -> SchemaDialect {
        match (self.dialects, strict, json_schema) {
            ([_, dialect, _], true, _) | ([_, _, dialect], _, true) | ([dialect, ..], ..) => dialect,
        }
    }
}

impl RequestFields {
    pub(crate) const PLAIN: Self =
        Self { frame: ("[", "]"), tools: &["tools"], messages: "messages", server_state: &[] };
}

impl UsageFields {
    pub(crate) const PLAIN: Self = Self {
        input: "",
        output: "",
        cached_input: "",
        reasoning: "",
        total: "",
        cache_writes: "",
        tool_tokens: "",
    };

    /// Returns the pointers to all counts but the sum.
    pub(crate) const fn pointers(&self) -> [&'static str; 6] {
        [self.input, self.output, self.cached_input, self.reasoning, self.cache_writes, self.tool_tokens]
    }
}

impl IdRule {
    /// Creates a rule for ids of letters, digits, `_` and `-` with at most `max_length` characters.
    pub(crate) const fn new(max_length: usize, is_strict: bool) -> Self {
        Self { rule: NameRule::DASHES.with_max_length(max_length), is_strict }
    }
}
