//! What each provider accepts of JSON Schema.

mod keywords;
mod losses;
mod merge;
mod node;
mod normal;
mod plain;
mod refs;
mod root;
mod rules;
mod subset;
#[cfg(test)]
mod tests;
mod unions;
mod values;
mod words;

use losses::Losses;
use normal::{Keep, Tree, allowed, normal};
use plain::Plain;
use refs::Refs;
use root::Root;
use rules::Rules;
use serde_json::{Map, Value, json};
use std::fmt;
use subset::Subset;

/// What a provider accepts of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaDialect {
    /// JSON Schema, draft 2020-12, as it is: Gemini's `parametersJsonSchema`, MCP.
    JsonSchema,
    /// OpenAI and the servers that imitate it, without `strict`.
    OpenAi,
    /// OpenAI with `strict: true`.
    OpenAiStrict,
    /// Anthropic without `strict`.
    Anthropic,
    /// Anthropic with `strict: true`.
    AnthropicStrict,
    /// The subset of OpenAPI 3.0 that is Gemini's `parameters`.
    Gemini,
}

/// A schema in a provider's dialect.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConvertedSchema {
    /// The schema as the provider accepts it.
    pub schema: Value,
    /// What it cannot say.
    pub losses: Vec<SchemaLoss>,
    /// The first loss that forbids values allowed before: a model held to the schema cannot send them.
    pub narrowed: Option<SchemaLoss>,
}

/// A meaning that a provider's dialect has no words for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLoss {
    /// Where it stood, as a JSON pointer.
    pub path: String,
    /// The keyword that is gone.
    pub keyword: String,
    /// Why, and what stands there instead.
    pub reason: String,
}

impl SchemaLoss {
    /// The `keyword` at `path` (a JSON pointer) is gone for this reason.
    #[must_use]
    pub fn new(path: impl Into<String>, keyword: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), keyword: keyword.into(), reason: reason.into() }
    }
}

impl fmt::Display for SchemaLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}: {}", self.keyword, self.path, self.reason)
    }
}

impl SchemaDialect {
    /// Writes the schema of a tool's parameters in this dialect.
    ///
    /// References are followed, except where they lead back to themselves, and `allOf` is merged;
    /// older drafts are read as the newest. The root becomes an object. What a provider does not know
    /// is said in the description, and reported. Property names, and what stands in `default`, `enum`,
    /// `const` and `examples`, are never taken for keywords.
    ///
    /// - [`JsonSchema`](Self::JsonSchema) changes nothing but a root that does not say that it is an object.
    /// - [`OpenAi`](Self::OpenAi) and [`Anthropic`](Self::Anthropic) change nothing else.
    /// - [`OpenAiStrict`](Self::OpenAiStrict) requires every property, and `null` stands for those that
    ///   may be left out.
    /// - The strict ones close every object that does not say otherwise.
    /// - [`Gemini`](Self::Gemini) never sends members that a schema does not name, so it is not told.
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
        if self == Self::JsonSchema {
            return match typed(schema) {
                Some(schema) => ConvertedSchema { schema, losses: Vec::new(), narrowed: None },
                None => Self::OpenAi.convert(schema),
            };
        }
        let refs = Refs::new(schema);
        // A schema that gets too large when its references are followed keeps them, where it can.
        let ways: &[Keep] = match self {
            Self::Gemini => &[Keep::None],
            Self::AnthropicStrict => &[Keep::None, Keep::Flat],
            _ => &[Keep::Recursive, Keep::All],
        };
        let (mut converted, mut complete) = self.attempt(schema, &refs, ways.first().copied());
        if !complete && let Some(way) = ways.get(1) {
            (converted, complete) = self.attempt(schema, &refs, Some(*way));
        }
        debug_assert!(complete || !converted.losses.is_empty());
        converted
    }

    /// Writes a schema; also says whether nothing was cut off for its size.
    fn attempt(self, schema: &Value, refs: &Refs<'_>, keep: Option<Keep>) -> (ConvertedSchema, bool) {
        let mut losses = Losses::default();
        let tree: Tree<'_> = normal(refs, schema, keep.unwrap_or(Keep::None), &mut losses);
        let root = Root::new(&tree, refs, &mut losses).object();
        let left = allowed(refs.size);
        let (schema, left) = match Rules::of(self) {
            Some(rules) => {
                let mut writer =
                    Subset { rules, tree: &tree, refs, losses: &mut losses, left, used: Vec::new() };
                (writer.document(root), writer.left)
            }
            None => {
                let mut writer = Plain { tree: &tree, refs, losses: &mut losses, left, used: Vec::new() };
                (writer.document(&root), writer.left)
            }
        };
        let (losses, narrowed) = losses.into_parts();
        (ConvertedSchema { schema, losses, narrowed }, left > 0 && tree.is_complete)
    }
}

/// The schema as it is, but for its root's type, which is that of arguments; `None` if that would allow none.
fn typed(schema: &Value) -> Option<Value> {
    let Value::Object(fields) = schema else {
        return (*schema == Value::Bool(true)).then(|| json!({"type": "object"}));
    };
    let is_object = |kind: &Value| kind == "object";
    match fields.get("type") {
        Some(kind) if is_object(kind) => Some(schema.clone()),
        Some(Value::Array(kinds)) if kinds.iter().any(is_object) => {
            let mut fields = fields.clone();
            fields.insert("type".to_owned(), "object".into());
            Some(fields.into())
        }
        Some(_) => None,
        None => {
            let mut typed = Map::from_iter([("type".to_owned(), json!("object"))]);
            typed.extend(fields.clone());
            Some(typed.into())
        }
    }
}
