//! What the providers' subsets of JSON Schema hold.
//!
//! Sources: OpenAI's guide to structured outputs and the conversion of its SDK; Anthropic's guide to
//! strict tools and the conversion of its SDK; the `Schema` type of Google's `generateContent`.

use super::SchemaDialect;
use serde_json::Value;

/// A provider's subset.
#[derive(Debug)]
pub(super) struct Rules {
    /// Every property must be required; those that may be left out are `null`.
    pub(super) all_required: bool,
    /// Objects must say `additionalProperties: false`; else they cannot say it.
    pub(super) closed: bool,
    pub(super) nulls: Nulls,
    pub(super) literals: Literals,
    /// Whether an array must say what its items are.
    pub(super) needs_items: bool,
    /// Whether `default` may stand.
    pub(super) default: bool,
    keeps: fn(&str, &str, &Value) -> bool,
}

/// How it is said that a value may be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// `type: [string, null]`, or a union.
    TypeList,
    /// A union, or one of the values of `enum`.
    Union,
    /// `nullable: true`.
    Flag,
}

/// How it is said that a value is one of a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// `enum` or `const`, beside a type.
    Typed,
    /// `enum` or `const`, without a type.
    Untyped,
    /// `enum` beside a type, for texts only.
    Texts,
}

impl Rules {
    /// The rules of a dialect that is a subset; `None` for those that take all of JSON Schema.
    pub(super) fn of(dialect: SchemaDialect) -> Option<&'static Self> {
        match dialect {
            SchemaDialect::OpenAiStrict => Some(&OPENAI),
            SchemaDialect::AnthropicStrict => Some(&ANTHROPIC),
            SchemaDialect::Gemini => Some(&GOOGLE),
            SchemaDialect::JsonSchema | SchemaDialect::OpenAi | SchemaDialect::Anthropic => None,
        }
    }

    /// Whether a keyword may stand in the schema of a value of this kind.
    pub(super) fn keeps(&self, kind: &str, keyword: &str, value: &Value) -> bool {
        (self.keeps)(kind, keyword, value)
    }
}

static OPENAI: Rules = Rules {
    all_required: true,
    closed: true,
    nulls: Nulls::TypeList,
    literals: Literals::Typed,
    needs_items: true,
    default: false,
    keeps: |kind, keyword, value| match keyword {
        "pattern" => kind == "string" && !looks_around(value.as_str().unwrap_or_default()),
        "format" => kind == "string" && is_one_of(value, OPENAI_FORMATS),
        "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minItems"
        | "maxItems" => true,
        _ => false,
    },
};

static ANTHROPIC: Rules = Rules {
    all_required: false,
    closed: true,
    nulls: Nulls::Union,
    literals: Literals::Untyped,
    needs_items: false,
    default: false,
    keeps: |kind, keyword, value| match keyword {
        "format" => kind == "string" && (is_one_of(value, OPENAI_FORMATS) || value == "uri"),
        "minItems" => value.as_u64().is_some_and(|least| least <= 1),
        _ => false,
    },
};

static GOOGLE: Rules = Rules {
    all_required: false,
    closed: false,
    nulls: Nulls::Flag,
    literals: Literals::Texts,
    needs_items: true,
    default: true,
    keeps: |kind, keyword, value| match keyword {
        "format" => match kind {
            "string" => value == "date-time",
            "integer" => is_one_of(value, &["int32", "int64"]),
            "number" => is_one_of(value, &["float", "double"]),
            _ => false,
        },
        "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength" | "maxLength"
        | "pattern" | "minimum" | "maximum" => true,
        _ => false,
    },
};

const OPENAI_FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

fn is_one_of(value: &Value, texts: &[&str]) -> bool {
    value.as_str().is_some_and(|text| texts.contains(&text))
}

fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|sign| pattern.contains(sign))
}
