//! The subset of JSON Schema that each provider supports.
//!
//! Sources: OpenAI's guide to structured outputs and its SDK; Anthropic's guide to strict tools and its SDK;
//! the `Schema` type of Google's `generateContent`.

use serde_json::Value;

/// A type, and a keyword without which the provider refuses it.
pub(super) type Needed = (&'static str, &'static str);

/// OpenAI refuses requests with `array schema missing items` (at every depth, also beside `prefixItems`) and
/// `object schema missing properties`: openai/openai-agents-python#449,
/// digitalocean-labs/mcp-digitalocean#265, camel-ai/camel#393. An empty schema in either place changes no
/// meaning.
pub(super) static OPENAI_NEEDED: &[Needed] = &[("array", "items"), ("object", "properties")];

/// A provider's rules for its subset of JSON Schema.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether every property must be required, with `null` for an omitted one.
    pub(super) all_required: bool,
    /// Whether every object must have `additionalProperties: false`, which is otherwise forbidden.
    pub(super) closed: bool,
    pub(super) nulls: Nulls,
    pub(super) literals: Literals,
    /// Whether every array must have `items`.
    pub(super) needs_items: bool,
    /// Whether `default` is supported.
    pub(super) default: bool,
    /// Returns whether a keyword is supported, by the schema's type, the keyword and its value.
    pub(super) keeps: fn(&str, &str, &Value) -> bool,
}

/// The ways to allow `null` beside other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// A list such as `[string, null]` for simple types, and a union for others.
    TypeList,
    /// `null` added to the values of `enum`, or a union if there is no `enum`.
    Union,
    /// `nullable: true`.
    Flag,
}

/// The ways to list the allowed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// `enum` or `const` with `type`.
    Typed,
    /// `enum` or `const` without `type`.
    Untyped,
    /// `enum` with `type`, for strings only.
    Strings,
}

pub(super) static OPENAI: Rules = Rules {
    all_required: true,
    closed: true,
    nulls: Nulls::TypeList,
    literals: Literals::Typed,
    needs_items: true,
    default: false,
    keeps: openai_keeps,
};

fn openai_keeps(kind: &str, keyword: &str, value: &Value) -> bool {
    match keyword {
        "pattern" => kind == "string" && !looks_around(value.as_str().unwrap_or_default()),
        "format" => kind == "string" && is_one_of(value, FORMATS),
        "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minItems"
        | "maxItems" => true,
        _ => false,
    }
}

pub(super) static ANTHROPIC: Rules = Rules {
    all_required: false,
    closed: true,
    nulls: Nulls::Union,
    literals: Literals::Untyped,
    needs_items: false,
    default: false,
    keeps: anthropic_keeps,
};

fn anthropic_keeps(kind: &str, keyword: &str, value: &Value) -> bool {
    match keyword {
        "format" => kind == "string" && (is_one_of(value, FORMATS) || value == "uri"),
        "minItems" => value.as_u64().is_some_and(|least| least <= 1),
        _ => false,
    }
}

pub(super) static GEMINI: Rules = Rules {
    all_required: false,
    closed: false,
    nulls: Nulls::Flag,
    literals: Literals::Strings,
    needs_items: true,
    default: true,
    keeps: gemini_keeps,
};

fn gemini_keeps(kind: &str, keyword: &str, value: &Value) -> bool {
    match (keyword, kind) {
        ("format", "string") => value == "date-time",
        ("format", "integer") => is_one_of(value, &["int32", "int64"]),
        ("format", "number") => is_one_of(value, &["float", "double"]),
        ("minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength" | "maxLength", _) => true,
        ("pattern" | "minimum" | "maximum", _) => true,
        _ => false,
    }
}

/// The string formats in strict tools of OpenAI and Anthropic.
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

fn is_one_of(value: &Value, names: &[&str]) -> bool {
    value.as_str().is_some_and(|name| names.contains(&name))
}

fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|sign| pattern.contains(sign))
}
