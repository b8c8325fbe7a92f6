//! The providers' subsets of JSON Schema.
//!
//! Sources: OpenAI's guide to structured outputs and the conversion of its SDK; Anthropic's guide to
//! strict tools and the conversion of its SDK; the `Schema` type of Google's `generateContent`.

use serde_json::Value;

/// A provider's subset.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether every property must be required; `null` stands for optional ones.
    pub(super) all_required: bool,
    /// Whether objects must say `additionalProperties: false`; else they cannot.
    pub(super) closed: bool,
    pub(super) nulls: Nulls,
    pub(super) literals: Literals,
    /// Whether an array must describe its items.
    pub(super) needs_items: bool,
    /// Whether `default` is supported.
    pub(super) default: bool,
    /// Returns whether the schema of a type may hold a keyword with a value.
    pub(super) keeps: fn(&str, &str, &Value) -> bool,
}

/// The way to say that a value may be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// `type: [string, null]`, or a union.
    TypeList,
    /// A union, or one of the values of `enum`.
    Union,
    /// `nullable: true`.
    Flag,
}

/// The way to list the allowed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// `enum` or `const`, beside a type.
    Typed,
    /// `enum` or `const`, without a type.
    Untyped,
    /// `enum` beside a type, for strings only.
    Strings,
}

pub(super) static OPENAI: Rules = Rules {
    all_required: true,
    closed: true,
    nulls: Nulls::TypeList,
    literals: Literals::Typed,
    needs_items: true,
    default: false,
    keeps: |kind, keyword, value| match keyword {
        "pattern" => kind == "string" && !looks_around(value.as_str().unwrap_or_default()),
        "format" => kind == "string" && is_one_of(value, FORMATS),
        "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minItems"
        | "maxItems" => true,
        _ => false,
    },
};

pub(super) static ANTHROPIC: Rules = Rules {
    all_required: false,
    closed: true,
    nulls: Nulls::Union,
    literals: Literals::Untyped,
    needs_items: false,
    default: false,
    keeps: |kind, keyword, value| match keyword {
        "format" => kind == "string" && (is_one_of(value, FORMATS) || value == "uri"),
        "minItems" => value.as_u64().is_some_and(|least| least <= 1),
        _ => false,
    },
};

pub(super) static GEMINI: Rules = Rules {
    all_required: false,
    closed: false,
    nulls: Nulls::Flag,
    literals: Literals::Strings,
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

/// Formats that the strict subsets support.
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

fn is_one_of(value: &Value, names: &[&str]) -> bool {
    value.as_str().is_some_and(|name| names.contains(&name))
}

fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|sign| pattern.contains(sign))
}
