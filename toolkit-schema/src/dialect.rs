//! Conversion of schemas to the dialects of providers.

mod losses;
mod merge;
mod node;
mod parse;
mod remarks;
mod root;
mod rules;
mod subset;
#[cfg(test)]
mod tests;
mod typed;
mod unions;
mod writer;

use crate::fault::too_deep;
use crate::keyword::booleans_to_objects;
use crate::keywords::{Keywords, of_type};
use crate::types::types;
use losses::Losses;
use parse::{References, Tree};
use root::object_root;
use rules::{ANTHROPIC, GEMINI, Needed, OPENAI, OPENAI_NEEDED, Rules};
use serde_json::{Map, Value};
use subset::Subset;
use writer::Writer;

pub use losses::SchemaLoss;

/// A provider's dialect of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaDialect {
    /// JSON Schema, draft 2020-12, for MCP and Gemini's `parametersJsonSchema`.
    JsonSchema,
    /// JSON Schema without references, for servers and small models unable to follow `$ref`.
    Inlined,
    /// OpenAI without `strict`, and other servers with the same API.
    OpenAi,
    /// OpenAI with `strict: true`.
    OpenAiStrict,
    /// Anthropic without `strict`.
    Anthropic,
    /// Anthropic with `strict: true`.
    AnthropicStrict,
    /// Gemini's `parameters`, a subset of OpenAPI 3.0.
    Gemini,
}

/// A schema in a provider's dialect.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConvertedSchema {
    /// The converted schema, in the provider's dialect.
    pub schema: Value,
    /// The constraints lost because the dialect cannot express them.
    pub losses: Vec<SchemaLoss>,
    /// The first loss that makes the converted schema stricter than the original schema, or `None` if it is not
    /// stricter.
    ///
    /// A model constrained to a stricter schema cannot send some values that the tool accepts.
    pub narrowed: Option<SchemaLoss>,
}

impl SchemaDialect {
    /// Converts the schema of a tool's parameters to this dialect.
    ///
    /// `allOf` is merged, as far as its schemas do not have the same keyword. Tuples of older drafts are read as draft
    /// 2020-12. The root becomes an object. Constraints unsupported by the provider move into the description and are
    /// reported as losses. Property names, and the values of `default`, `enum`, `const` and `examples`, are never mistaken
    /// for keywords.
    ///
    /// A schema nested deeper than 127 levels becomes an object of any members, and a loss is reported. References to
    /// schemas for the same value count as levels. The tool registry refuses a tool with such a schema.
    ///
    /// Boolean schemas become objects (`{}` and `{"not": {}}`), except in `additionalProperties` and
    /// `unevaluatedProperties`, because some servers refuse them.
    ///
    /// - [`JsonSchema`](Self::JsonSchema) changes only boolean schemas, and the `type` of the root, if it is not plainly
    ///   `object`. If the root's type does not include `object`, the schema is converted as for
    ///   [`Inlined`](Self::Inlined).
    /// - [`OpenAi`](Self::OpenAi) and [`Anthropic`](Self::Anthropic) make only the changes described above. References
    ///   stay, and their targets are in `$defs`, so a type used ten times is sent only once.
    /// - [`OpenAi`](Self::OpenAi) and [`Inlined`](Self::Inlined) also add `items` to arrays and `properties` to objects
    ///   without them, which allow every value. OpenAI refuses a request in which they are missing.
    /// - All other dialects replace each reference by its target. A recursive reference stays if the provider accepts
    ///   recursion. A schema that would become too large without references is cut off, and a loss is reported.
    /// - [`OpenAiStrict`](Self::OpenAiStrict) requires every property. For an optional property, the model may send
    ///   `null`.
    /// - Both strict dialects close every object: no members other than the named properties are allowed.
    /// - [`Gemini`](Self::Gemini) leaves objects open, because this provider never sends members missing from the
    ///   schema.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_schema::SchemaDialect;
    ///
    /// let tags = json!({"type": "object", "properties": {
    ///     "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
    /// }});
    /// let converted = SchemaDialect::OpenAiStrict.convert(&tags);
    /// assert_eq!(converted.schema["required"], json!(["tags"]));
    /// assert_eq!(converted.schema["properties"]["tags"]["description"], "No item twice.");
    /// assert_eq!(converted.losses[0].keyword, "uniqueItems");
    /// ```
    #[must_use]
    pub fn convert(self, schema: &Value) -> ConvertedSchema {
        if let Some(message) = too_deep(schema) {
            let losses = vec![SchemaLoss::new("", "type", message)];
            return ConvertedSchema { losses, ..self.convert(&of_type("object")) };
        }
        if self == Self::JsonSchema {
            return match typed(schema) {
                Some(mut schema) => {
                    booleans_to_objects(&mut schema);
                    ConvertedSchema { schema, losses: Vec::new(), narrowed: None }
                }
                None => Self::Inlined.convert(schema),
            };
        }
        let (references, needed, rules) = self.form();
        let mut losses = Losses::default();
        let tree = Tree::parse(schema, references, &mut losses);
        let mut writer = Writer::new(&tree, losses, needed);
        let root = object_root(&mut writer);
        let schema = match rules {
            None => writer.document(&root),
            Some(rules) => Subset { rules, writer: &mut writer }.document(&root),
        };
        let Losses { list: losses, narrowed, .. } = writer.losses;
        ConvertedSchema { schema, losses, narrowed }
    }

    /// Returns the treatment of references, the keywords that a type needs, and the rules of a dialect that supports only a
    /// subset of JSON Schema.
    fn form(self) -> (References, &'static [Needed], Option<&'static Rules>) {
        match self {
            Self::JsonSchema | Self::Anthropic => (References::Kept, &[], None),
            Self::OpenAi => (References::Kept, OPENAI_NEEDED, None),
            // This dialect is for servers with OpenAI's API.
            Self::Inlined => (References::Recursive, OPENAI_NEEDED, None),
            Self::OpenAiStrict => (References::Recursive, &[], Some(&OPENAI)),
            Self::AnthropicStrict => (References::CutOff, &[], Some(&ANTHROPIC)),
            Self::Gemini => (References::CutOff, &[], Some(&GEMINI)),
        }
    }
}

/// Returns the schema with `object` as the type of its root, or `None` if the root does not allow objects.
fn typed(schema: &Value) -> Option<Value> {
    let mut typed = match schema {
        Value::Object(keywords) => keywords.clone(),
        Value::Bool(true) => Map::new(),
        _ => return None,
    };
    let excludes = |names: &Value| types(Some(names)).all(|name| name != "object");
    if typed.get("type").is_some_and(excludes) {
        return None;
    }
    typed.set("type", "object".into());
    Some(typed.into())
}
