//! The request body while it is being built, and the facts about requests of an API: everything in a body beside its
//! tools and messages.

pub(crate) mod cache;

use crate::facts::{ApiFormat, Server};
use crate::message::{Message, NativeMessages};
use crate::model::{ModelRequest, PromptCache};
use serde_json::{Map, Value, json};
use toolkit_schema::__private::LoopExits;
use toolkit_schema::{SchemaDialect, SchemaLoss};

/// A request body while it is being built, with the losses so far.
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

    /// Sets the value at `path`. The path consists of names separated by `/`. Missing objects are created.
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

    /// Removes the value at `path`, and the object around it if nothing else is in it. Returns whether there was a value.
    pub(crate) fn remove(&mut self, path: &str) -> bool {
        let Some((outer, name)) = path.split_once('/') else { return self.body.shift_remove(path).is_some() };
        let Some(Value::Object(fields)) = self.body.get_mut(outer) else { return false };
        let is_removed = fields.shift_remove(name).is_some();
        if is_removed && fields.is_empty() {
            self.body.shift_remove(outer);
        }
        is_removed
    }

    /// Reports that an option is lost or changed.
    pub(crate) fn lose(&mut self, option: &str, reason: impl Into<String>) {
        self.losses.push(SchemaLoss::new(format!("/options/{option}"), option, reason));
    }

    /// Reports that the options for thinking are lost, as far as they are set.
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

/// The reason reported for an option without a field.
pub(crate) const NO_FIELD: &str = "the API has no field for it";

/// The properties of requests to one API, taken from its reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestFacts {
    /// The name of the provider in OpenTelemetry's attribute `gen_ai.provider.name`.
    pub(crate) provider: &'static str,
    /// `None` if the URL contains the model and asks for a stream.
    pub(crate) model: Option<ModelField>,
    pub(crate) instructions: InstructionsField,
    pub(crate) options: OptionFields,
    pub(crate) output: OutputForm,
    /// Writes the options `thinking` and `show_thinking`, after all other options.
    pub(crate) write_thinking: fn(&mut RequestBuilder<'_>),
    /// Writes the settings for prompt caching, and returns which of them the API has. The body already contains the
    /// tools, the instructions and the messages.
    pub(crate) write_cache: fn(&mut RequestBuilder<'_>, &PromptCache) -> CacheSupport,
    /// The path of the service tier, and the values for `Auto`, `Standard`, `Flex` and `Priority`. `None` if the API has
    /// no tiers.
    pub(crate) tiers: Option<(&'static str, [Tier; 4])>,
    /// Writes the fields that only this API has. The second argument states whether the answer is streamed.
    pub(crate) write_own: fn(&mut RequestBuilder<'_>, bool),
    pub(crate) stored: StoredMessages,
    /// Whether `some_name` and `someName` are the same field, and a request with both is refused.
    pub(crate) has_two_spellings: bool,
    pub(crate) answers: AnswerFacts,
}

/// The field that names the model, in APIs whose body also asks for a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelField {
    pub(crate) path: &'static str,
    /// The value of the field, if this is not the name of the model.
    pub(crate) value: Option<&'static str>,
    /// Whether the service streams unless the request says otherwise.
    pub(crate) streams_by_default: bool,
}

/// The fields of the options that all requests have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionFields {
    /// The paths of the options that are copied without conversion, in the order of [`OPTIONS`]. Empty if the API has no
    /// field for the option.
    pub(crate) paths: [&'static str; 7],
    /// The reason reported for an option without a field.
    pub(crate) no_field: &'static str,
    /// The output limit to send if the request has none, in tokens, without thinking. `None` if the API requires no limit.
    pub(crate) required_output_tokens: Option<u32>,
}

/// The form in which a request asks for an answer of a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputForm {
    pub(crate) dialect: SchemaDialect,
    /// The loops of references that the API takes. `None` if it takes all of them, and other keywords beside each
    /// reference.
    pub(crate) loops: Option<LoopExits>,
    /// Writes the name and the schema.
    pub(crate) write: fn(&mut RequestBuilder<'_>, &str, Value),
}

/// What the provider stores, and how later requests refer to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredMessages {
    /// Whether the provider stores conversations and answers in the background.
    pub(crate) keeps_conversations: bool,
    /// Returns the messages that the provider has not stored.
    pub(crate) new_messages: fn(&ModelRequest) -> &[Message],
    /// Returns a message as received in a form suitable for the next request.
    pub(crate) resent: fn(&ModelRequest, &NativeMessages) -> Vec<Value>,
}

/// How an API answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerFacts {
    /// Whether later requests need the signed thinking before a call. Otherwise, a signature is a part of its call.
    pub(crate) signs_thinking: bool,
    /// Whether a refusal is an explanation beside the text rather than a part of it.
    pub(crate) explains_refusals: bool,
    /// Whether a call may arrive in the same event as the report that the answer is blocked.
    pub(crate) blocks_beside_calls: bool,
}

/// The options of [`OptionFields::paths`].
pub(crate) const OPTIONS: [&str; 7] =
    ["temperature", "top_p", "max_output_tokens", "stop", "seed", "metadata", "user_id"];

/// The place of the instructions in a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InstructionsField {
    /// The first message, with the role `system`.
    Message,
    /// The field with this path. The function converts the text to the content of the field.
    Field(&'static str, fn(&str) -> Value),
}

/// The value of a service tier.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tier {
    Named(&'static str),
    /// The service chooses the tier if the field is missing.
    Omitted,
    /// The nearest tier, and the reason to report.
    Nearest(&'static str, &'static str),
    Missing,
}

/// The settings for prompt caching that an API has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheSupport {
    pub(crate) key: bool,
    pub(crate) lifetime: bool,
    pub(crate) points: bool,
}

impl RequestFacts {
    /// The facts about an API with messages for instructions and no further options.
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
