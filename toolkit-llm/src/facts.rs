//! Facts about the APIs, from their references: differences between the codecs as data instead of code.

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

/// The properties of an API that its codec uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// The name of the format, under which fields of this API alone are stored.
    pub(crate) name: &'static str,
    pub(crate) tools: ToolFacts,
    /// The rule for call ids in requests. `None` if the API does not require ids.
    pub(crate) ids: Option<IdRule>,
    pub(crate) results: ResultRule,
    pub(crate) fields: RequestFields,
    /// The paths to the id and the arguments of a call.
    pub(crate) call_fields: [&'static [&'static str]; 2],
    pub(crate) usage: UsageFields,
    /// The media items that the API accepts, each with the first model generation to which it applies, the
    /// latest first. Without entries, no losses are reported.
    pub(crate) media: &'static [(u32, MediaTable)],
    /// Returns the generation of the model with the given name, if it has one and requests depend on it.
    pub(crate) generation: fn(&str) -> Option<u32>,
    /// The JSON pointer to the id of a response. Empty if responses have no id.
    pub(crate) response_id: &'static str,
    /// The JSON pointers to the id and the expiry of the container in which the provider runs code. Empty if
    /// responses have none.
    pub(crate) container: [&'static str; 2],
}

/// What an API accepts in tool definitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFacts {
    pub(crate) names: NameRule,
    /// The rule for the names of parameters and of properties inside of them, if any: one refused name costs
    /// all tools of the request.
    pub(crate) parameters: Option<NameRule>,
    /// The maximum number of tools in a request, if the reference states one.
    pub(crate) most: Option<usize>,
    pub(crate) strictness: Strictness,
    /// The schema dialects: without enforcement, for a strict tool, and for plain JSON Schema.
    pub(crate) dialects: [SchemaDialect; 3],
    /// The settings of a tool without a field.
    pub(crate) unsupported: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestFields {
    /// The JSON around the definitions in a request.
    pub(crate) frame: (&'static str, &'static str),
    pub(crate) tools: &'static [&'static str],
    pub(crate) messages: &'static str,
    /// The request fields that refer to a stored conversation. The request may then contain results whose
    /// calls only the service has.
    pub(crate) server_state: &'static [&'static str],
}

/// JSON pointers to the token counts of a response. Empty if a count is not reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsageFields {
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    pub(crate) cached_input: &'static str,
    pub(crate) reasoning: &'static str,
    /// The sum of all tokens. Empty if all servers of the API agree on what counts as output.
    pub(crate) total: &'static str,
    pub(crate) cache_writes: &'static str,
    pub(crate) tool_tokens: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum HistoryForm {
    Usual,
    /// Illegal call ids are always replaced.
    StrictIds,
    /// Messages of Mistral's servers.
    Mistral(&'static MistralForm),
}

#[derive(Debug)]
pub(crate) struct MistralForm {
    pub(crate) media: &'static MediaTable,
    pub(crate) encode_user: fn(&[Content]) -> Value,
    pub(crate) encode_results: fn(&[ToolResult], &[String], &WireNames) -> Vec<Value>,
    /// Inserts a message of the model between a tool message and a user message.
    pub(crate) separate_results: fn(Vec<Value>) -> Vec<Value>,
}

pub(crate) trait Api {
    fn facts(&self) -> &'static Facts;
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) rule: NameRule,
    /// Whether illegal ids are replaced even if the caller does not ask for it.
    pub(crate) is_strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    None,
    /// The API enforces each strict function within the limits.
    PerFunction,
    /// The limits apply to all strict tools together.
    PerRequest,
    /// The API enforces all functions of a request or none. The string is the reason to report.
    AllOrNone(&'static str),
}

impl Facts {
    /// No limits, no strict tools, and OpenAI's rule for tool names.
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

    /// Returns the media items accepted by a generation of models, by default the latest.
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

    /// The settings without a field in an API whose functions have only a name, a description and parameters.
    pub(crate) const FUNCTIONS_ONLY: &'static [&'static str] =
        &["kind", "output_schema", "input_examples", "allowed_callers", "defer"];

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

    pub(crate) const fn pointers(&self) -> [&'static str; 6] {
        [self.input, self.output, self.cached_input, self.reasoning, self.cache_writes, self.tool_tokens]
    }
}

impl IdRule {
    /// Creates a rule for letters, digits, `_` and `-`.
    pub(crate) const fn new(max_length: usize, is_strict: bool) -> Self {
        Self { rule: NameRule::DASHES.with_max_length(max_length), is_strict }
    }
}
