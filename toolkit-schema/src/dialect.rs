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
use crate::types::has_type;
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
    /// JSON Schema 2020-12, for MCP and Gemini's `parametersJsonSchema`.
    JsonSchema,
    /// JSON Schema for servers and small models that cannot follow `$ref`.
    Inlined,
    /// OpenAI without `strict`, and servers with the same API.
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
    /// The schema in the provider's dialect.
    pub schema: Value,
    /// The constraints that the dialect cannot express.
    pub losses: Vec<SchemaLoss>,
    /// The first loss that makes the schema stricter, if any does.
    ///
    /// A model bound to a stricter schema cannot send some values that the tool accepts.
    pub narrowed: Option<SchemaLoss>,
}

impl SchemaDialect {
    /// Converts the schema of a tool's parameters.
    ///
    /// `allOf` is merged where its schemas have different keywords. Tuples of older drafts are read as draft
    /// 2020-12. The root becomes an object. Unsupported constraints move into the description and are
    /// reported as losses. Names of properties, and values of `default`, `enum`, `const` and `examples`, are
    /// never mistaken for keywords.
    ///
    /// A schema nested deeper than 127 levels becomes an object of any members, which is reported as a loss.
    /// References for the same value count as levels. The registry refuses such tools.
    ///
    /// Boolean schemas become objects (`{}` and `{"not": {}}`) except in `additionalProperties` and
    /// `unevaluatedProperties`, because some servers refuse them.
    ///
    /// - [`JsonSchema`](Self::JsonSchema) changes only boolean schemas, and a root whose `type` is not
    ///   plainly `object`. A root without `object` is converted as for [`Inlined`](Self::Inlined).
    /// - [`OpenAi`](Self::OpenAi) and [`Anthropic`](Self::Anthropic) make only the changes above. References
    ///   stay, with targets in `$defs`, so a type used ten times is sent once.
    /// - [`OpenAi`](Self::OpenAi) and [`Inlined`](Self::Inlined) add `items` to arrays and `properties` to
    ///   objects without them, because OpenAI refuses such requests.
    /// - All others replace references by their targets, except recursive ones if the provider accepts
    ///   recursion. A schema that would become too large is cut off, and a loss is reported.
    /// - [`OpenAiStrict`](Self::OpenAiStrict) requires every property, and `null` stands for an omitted one.
    /// - Both strict dialects close every object against unnamed members.
    /// - [`Gemini`](Self::Gemini) leaves objects open, because it never sends unnamed members.
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

    /// Returns the treatment of references, the keywords that types need, and the rules of a subset.
    fn form(self) -> (References, &'static [Needed], Option<&'static Rules>) {
        match self {
            Self::JsonSchema | Self::Anthropic => (References::Kept, &[], None),
            Self::OpenAi => (References::Kept, OPENAI_NEEDED, None),
            Self::Inlined => (References::Recursive, OPENAI_NEEDED, None),
            Self::OpenAiStrict => (References::Recursive, &[], Some(&OPENAI)),
            Self::AnthropicStrict => (References::CutOff, &[], Some(&ANTHROPIC)),
            Self::Gemini => (References::CutOff, &[], Some(&GEMINI)),
        }
    }
}

/// Returns the schema with `object` as the root's type, or `None` if it allows no objects.
fn typed(schema: &Value) -> Option<Value> {
    let mut typed = match schema {
        Value::Object(keywords) => keywords.clone(),
        Value::Bool(true) => Map::new(),
        _ => return None,
    };
    if typed.contains_key("type") && !has_type(typed.get("type"), "object") {
        return None;
    }
    typed.set("type", "object".into());
    Some(typed.into())
}
