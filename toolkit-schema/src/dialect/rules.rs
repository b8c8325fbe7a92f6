//! The providers' subsets of JSON Schema.
//!
//! Sources: OpenAI's guide to structured outputs and the conversion of its SDK; Anthropic's guide to
//! strict tools and the conversion of its SDK; the `Schema` type of Google's `generateContent`.

use serde_json::Value;

/// The rules of a provider's subset.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whether every property must be required. The model may then send `null` for an optional property.
    pub(super) all_required: bool,
    /// Whether every object must have `additionalProperties: false`. Otherwise no object can have this
    /// keyword.
    pub(super) closed: bool,
    pub(super) nulls: Nulls,
    pub(super) literals: Literals,
    /// Whether every array must have `items`.
    pub(super) needs_items: bool,
    /// Whether `default` is supported.
    pub(super) default: bool,
    /// Returns whether a schema may have a keyword with a given value. The parameters are the schema's type,
    /// the keyword and its value.
    pub(super) keeps: fn(&str, &str, &Value) -> bool,
}

/// The ways of providers to allow `null` beside other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// A list of types, such as `[string, null]`, or a union.
    TypeList,
    /// A union, or `null` as one of the values of `enum`.
    Union,
    /// `nullable: true`.
    Flag,
}

/// The ways of providers to list the allowed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// `enum` or `const`, together with `type`.
    Typed,
    /// `enum` or `const`, without `type`.
    Untyped,
    /// `enum` together with `type`, for strings only.
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

/// Formats supported by both strict subsets.
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

fn is_one_of(value: &Value, names: &[&str]) -> bool {
    value.as_str().is_some_and(|name| names.contains(&name))
}

fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|sign| pattern.contains(sign))
}
