//! Conversion of schemas to the dialects of providers.

mod losses;
mod merge;
mod node;
mod normal;
mod refs;
mod remarks;
mod root;
mod rules;
mod subset;
#[cfg(test)]
mod tests;
mod unions;
mod values;
mod writer;

use crate::fault::{TOO_DEEP, is_too_deep};
use crate::keyword::booleans_to_objects;
use crate::types::types;
use losses::Losses;
use normal::{Keep, Tree};
use refs::Refs;
use root::object_root;
use rules::{ANTHROPIC, GEMINI, Needed, OPENAI, OPENAI_NEEDED, Rules};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
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
    /// `allOf` is merged. Schemas of older drafts are read as draft 2020-12. The root becomes an object. Constraints
    /// unsupported by the provider move into the description and are reported as losses. Property names, and the values
    /// of `default`, `enum`, `const` and `examples`, are never mistaken for keywords.
    ///
    /// A schema nested deeper than 128 levels, or with more than 32 references, unions or `allOf` in a row, becomes
    /// an object of any members, and a loss is reported. The tool registry refuses a tool with such a schema.
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
    ///   recursion. Except in the Gemini dialect, all references stay if the schema would become too large without
    ///   them.
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
        if is_too_deep(schema) {
            let losses = vec![SchemaLoss::new("", "type", TOO_DEEP)];
            return ConvertedSchema { losses, ..self.convert(&json!({"type": "object"})) };
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
        let refs = Refs::new(schema);
        if matches!(self, Self::OpenAi | Self::Anthropic) {
            let keep = Keep { recursive: true, others: Some(&HashSet::new()) };
            return self.convert_with(schema, &refs, keep).0;
        }
        let recursive = !matches!(self, Self::AnthropicStrict | Self::Gemini);
        let (converted, too_large) = self.convert_with(schema, &refs, Keep { recursive, others: None });
        // If following references makes the schema too large, keep the references.
        match too_large.filter(|_| self != Self::Gemini) {
            Some(known) => self.convert_with(schema, &refs, Keep { recursive, others: Some(&known) }).0,
            None => converted,
        }
    }

    /// Converts a schema, and keeps the references selected by `keep`.
    ///
    /// If replacing references makes the schema too large, also returns the targets of recursive references. The caller
    /// then converts the schema again and keeps all other references. Returns no targets if recursion is cut off and
    /// not every recursive target is known.
    fn convert_with(
        self,
        schema: &Value,
        refs: &Refs<'_>,
        keep: Keep<'_>,
    ) -> (ConvertedSchema, Option<HashSet<usize>>) {
        let mut losses = Losses::default();
        let tree = Tree::new(refs, schema, keep, &mut losses);
        let mut writer = Writer::new(&tree, refs, losses, self.needed());
        let root = object_root(&mut writer);
        let schema = match self.rules() {
            None => writer.document(&root, true),
            Some(rules) => Subset { rules, writer: &mut writer }.document(&root),
        };
        let (Losses { list: losses, narrowed, .. }, left) = (writer.losses, writer.left);
        let may_keep = if tree.is_complete { left == 0 } else { keep.recursive };
        (ConvertedSchema { schema, losses, narrowed }, Some(tree.recursive).filter(|_| may_keep))
    }

    /// Returns the keywords that a type needs in a dialect with all of JSON Schema. The dialect without references is
    /// for servers with OpenAI's API.
    fn needed(self) -> &'static [Needed] {
        if matches!(self, Self::OpenAi | Self::Inlined) { OPENAI_NEEDED } else { &[] }
    }

    /// Returns the rules of a dialect that supports only a subset of JSON Schema. Returns `None` for other dialects.
    fn rules(self) -> Option<&'static Rules> {
        match self {
            Self::OpenAiStrict => Some(&OPENAI),
            Self::AnthropicStrict => Some(&ANTHROPIC),
            Self::Gemini => Some(&GEMINI),
            Self::JsonSchema | Self::Inlined | Self::OpenAi | Self::Anthropic => None,
        }
    }
}

/// Returns the schema with `object` as the type of its root, or `None` if the root does not allow objects.
fn typed(schema: &Value) -> Option<Value> {
    let Value::Object(keywords) = schema else {
        return (*schema == Value::Bool(true)).then(|| json!({"type": "object"}));
    };
    let mut typed = Map::from_iter([("type".to_owned(), json!("object"))]);
    if let Some(names) = keywords.get("type") {
        if !types(Some(names)).any(|name| name == "object") {
            return None;
        }
        typed.clear();
    }
    typed.extend(keywords.clone());
    typed.insert("type".to_owned(), json!("object"));
    Some(typed.into())
}
