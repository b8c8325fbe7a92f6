//! The request body while it is built, and the facts about an API's requests beside tools and messages.

pub(crate) mod cache;

use crate::facts::{ApiFormat, Server};
use crate::message::{Message, NativeMessages};
use crate::model::{ModelRequest, PromptCache};
use serde_json::{Map, Value, json};
use toolkit_schema::__private::LoopExits;
use toolkit_schema::{SchemaDialect, SchemaLoss};

pub(crate) struct RequestBuilder<'a> {
    pub(crate) format: ApiFormat,
    pub(crate) facts: &'static RequestFacts,
    pub(crate) server: Server,
    pub(crate) model: &'a str,
    pub(crate) request: &'a ModelRequest,
    pub(crate) body: Map<String, Value>,
    pub(crate) losses: Vec<SchemaLoss>,
}

impl<'a> RequestBuilder<'a> {
    pub(crate) fn new(
        format: ApiFormat,
        facts: &'static RequestFacts,
        server: Server,
        model: &'a str,
        request: &'a ModelRequest,
    ) -> Self {
        Self { format, facts, server, model, request, body: Map::new(), losses: Vec::new() }
    }

    /// Sets the value at `path`, names separated by `/`, and creates missing objects.
    pub(crate) fn set(&mut self, path: &str, value: impl Into<Value>) {
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        let mut fields = &mut self.body;
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                fields.insert(name.to_owned(), value.into());
                return;
            }
            let inner = fields.entry(name).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            let Some(inner) = inner.as_object_mut() else { return };
            fields = inner;
        }
    }

    /// Removes the value at `path`, and the object around it if it is then empty. Returns whether there was a
    /// value.
    pub(crate) fn remove(&mut self, path: &str) -> bool {
        let Some((outer, name)) = path.split_once('/') else { return self.body.shift_remove(path).is_some() };
        let Some(Value::Object(fields)) = self.body.get_mut(outer) else { return false };
        let is_removed = fields.shift_remove(name).is_some();
        if is_removed && fields.is_empty() {
            self.body.shift_remove(outer);
        }
        is_removed
    }

    pub(crate) fn lose(&mut self, option: &str, reason: impl Into<String>) {
        self.losses.push(SchemaLoss::new(format!("/options/{option}"), option, reason));
    }

    /// Reports the set options for thinking as lost.
    pub(crate) fn lose_thinking(&mut self, reason: &str) {
        let options = &self.request.options;
        if options.thinking.is_some() {
            self.lose("thinking", reason);
        }
        if options.show_thinking {
            self.lose("show_thinking", reason);
        }
    }
}

pub(crate) const NO_FIELD: &str = "the API has no field for it";

/// The properties of an API's requests, from its reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestFacts {
    /// The name in OpenTelemetry's attribute `gen_ai.provider.name`.
    pub(crate) provider: &'static str,
    /// `None` if the URL contains the model and asks for a stream.
    pub(crate) model: Option<ModelField>,
    pub(crate) instructions: InstructionsField,
    pub(crate) options: OptionFields,
    pub(crate) output: OutputForm,
    /// Writes `thinking` and `show_thinking`, after all other options.
    pub(crate) write_thinking: fn(&mut RequestBuilder<'_>),
    /// Writes the settings for prompt caching, and returns which of them the API has. The body already
    /// contains everything else.
    pub(crate) write_cache: fn(&mut RequestBuilder<'_>, &PromptCache) -> CacheSupport,
    /// The path of the service tier, and the values for `Auto`, `Standard`, `Flex` and `Priority`, if the API
    /// has tiers.
    pub(crate) tiers: Option<(&'static str, [Tier; 4])>,
    /// Writes the fields of this API alone. The second argument states whether the answer is streamed.
    pub(crate) write_own: fn(&mut RequestBuilder<'_>, bool),
    pub(crate) stored: StoredMessages,
    /// Whether `some_name` and `someName` are the same field, so that a request with both is refused.
    pub(crate) has_two_spellings: bool,
    pub(crate) answers: AnswerFacts,
}

/// The field that names the model, in APIs whose body also asks for a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelField {
    pub(crate) path: &'static str,
    /// The value, if it is not the name of the model.
    pub(crate) value: Option<&'static str>,
    /// Whether the service streams unless the request says otherwise.
    pub(crate) streams_by_default: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionFields {
    /// The paths of the [`OPTIONS`] that are copied unchanged. Empty if the API has no field.
    pub(crate) paths: [&'static str; 7],
    pub(crate) no_field: &'static str,
    /// The output limit to send if the request has none, in tokens, without thinking, if the API requires
    /// one.
    pub(crate) required_output_tokens: Option<u32>,
}

/// How a request asks for an answer of a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputForm {
    pub(crate) dialect: SchemaDialect,
    /// The loops of references that the API takes. `None` if it takes all, and other keywords beside a
    /// reference.
    pub(crate) loops: Option<LoopExits>,
    pub(crate) write: fn(&mut RequestBuilder<'_>, &str, Value),
}

/// What the provider stores, and how requests refer to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredMessages {
    /// Whether the provider stores conversations and answers in the background.
    pub(crate) keeps_conversations: bool,
    /// Returns the messages that the provider has not stored.
    pub(crate) new_messages: fn(&ModelRequest) -> &[Message],
    /// Returns a received message for the next request.
    pub(crate) resent: fn(&ModelRequest, &NativeMessages) -> Vec<Value>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerFacts {
    /// Whether later requests need the signed thinking before a call. Otherwise, a signature is a part of its call.
    pub(crate) signs_thinking: bool,
    /// Whether a refusal is beside the text rather than a part of it.
    pub(crate) explains_refusals: bool,
    /// Whether a call may arrive in the same event as the report that the answer is blocked.
    pub(crate) blocks_beside_calls: bool,
}

pub(crate) const OPTIONS: [&str; 7] =
    ["temperature", "top_p", "max_output_tokens", "stop", "seed", "metadata", "user_id"];

#[derive(Debug, Clone, Copy)]
pub(crate) enum InstructionsField {
    /// The first message, with the role `system`.
    Message,
    /// The field with this path. The function converts the text to its content.
    Field(&'static str, fn(&str) -> Value),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Tier {
    Named(&'static str),
    Omitted,
    /// The nearest tier, and the reason to report.
    Nearest(&'static str, &'static str),
    Missing,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheSupport {
    pub(crate) key: bool,
    pub(crate) lifetime: bool,
    pub(crate) points: bool,
}

impl RequestFacts {
    /// Messages for instructions, and no further options.
    pub(crate) const PLAIN: Self = Self {
        provider: "",
        model: Some(ModelField::PLAIN),
        instructions: InstructionsField::Message,
        options: OptionFields::PLAIN,
        output: OutputForm::PLAIN,
        write_thinking: |builder| builder.lose_thinking(NO_FIELD),
        write_cache: |_, _| CacheSupport { key: false, lifetime: false, points: false },
        tiers: None,
        write_own: |_, _| {},
        stored: StoredMessages {
            keeps_conversations: false,
            new_messages: |request| &request.messages,
            resent: |_, native| native.messages.clone(),
        },
        has_two_spellings: false,
        answers: AnswerFacts::PLAIN,
    };
}

impl ModelField {
    pub(crate) const PLAIN: Self = Self { path: "/model", value: None, streams_by_default: false };
}

impl OptionFields {
    pub(crate) const PLAIN: Self = Self { paths: [""; 7], no_field: NO_FIELD, required_output_tokens: None };
}

impl OutputForm {
    pub(crate) const PLAIN: Self = Self {
        dialect: SchemaDialect::JsonSchema,
        loops: None,
        write: |builder, _, _| builder.lose("output", NO_FIELD),
    };
}

impl AnswerFacts {
    pub(crate) const PLAIN: Self =
        Self { signs_thinking: false, explains_refusals: false, blocks_beside_calls: false };
}
