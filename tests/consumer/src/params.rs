//! Parameter types with every serde attribute and every enum representation.

#![allow(dead_code, reason = "fields that are only shown count as dead")]

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use tk::{ToolParams, tool};

/// A struct with every attribute.
///
/// :param plain: Documented above
#[derive(Debug, Clone, Default, PartialEq, ToolParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Attributed {
    plain: String,
    /// With two words.
    two_words: Option<u8>,
    #[serde(rename = "type", alias = "kind", alias = "sort")]
    r#type: String,
    #[serde(skip)]
    skipped: Option<std::time::Duration>,
    #[serde(default = "seven")]
    seven: u8,
    #[serde(deserialize_with = "doubled")]
    doubled: u32,
    #[serde(with = "halved", skip_serializing)]
    #[schemars(with = "u32")]
    halved: u32,
    #[serde(skip_deserializing)]
    never_read: bool,
}

fn seven() -> u8 {
    7
}

fn doubled<'de, D: tk::serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    <u32 as tk::serde::Deserialize>::deserialize(deserializer).map(|n| n * 2)
}

/// A module for `serde(with)`.
pub mod halved {
    /// Reads a number.
    ///
    /// # Errors
    /// The error of the deserializer.
    pub fn deserialize<'de, D: tk::serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        <u32 as tk::serde::Deserialize>::deserialize(deserializer).map(|n| n / 2)
    }
}

/// A default combined with `serde(with)`.
#[derive(Debug, ToolParams)]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub struct WithDefault {
    #[serde(default, with = "tripled")]
    #[schemars(with = "u32")]
    tripled: u32,
}

/// A module for `serde(with)` in both directions.
pub mod tripled {
    /// Reads a number.
    ///
    /// # Errors
    /// The error of the deserializer.
    pub fn deserialize<'de, D: tk::serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        <u32 as tk::serde::Deserialize>::deserialize(deserializer).map(|n| n * 3)
    }

    /// Writes a number.
    ///
    /// # Errors
    /// The error of the serializer.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub fn serialize<S: tk::serde::Serializer>(number: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(number / 3)
    }
}

/// Generic fields with defaults.
#[derive(Debug, ToolParams)]
pub struct Defaulted<T: tk::serde::Serialize, U> {
    #[serde(default)]
    value: T,
    #[param(default)]
    values: Vec<T>,
    other: Option<U>,
}

/// A generic struct with a container default.
#[derive(Debug, Default, ToolParams)]
#[serde(default)]
pub struct DefaultedWhole<T> {
    #[serde(skip_serializing)]
    value: T,
}

/// Flattened fields.
#[derive(Debug, ToolParams)]
pub struct Flat {
    own: u8,
    #[param(flatten)]
    common: Common,
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

/// The fields flattened into others.
#[derive(Debug, ToolParams)]
#[tool_params(crate = "tk")]
pub struct Common {
    #[param(length = 1..)]
    id: String,
}

/// A transparent wrapper.
#[derive(Debug, ToolParams)]
#[tool_params(crate = ::tk)]
#[serde(transparent)]
pub struct Transparent {
    inner: Common,
}

/// Externally tagged.
#[derive(Debug, Clone, PartialEq, ToolParams)]
pub enum External {
    /// No fields.
    Unit,
    /// One.
    One(u8),
    /// Two.
    Two(u8, String),
    /// Named.
    Named {
        /// A number.
        #[param(range = 1..)]
        n: u8,
        /// A kind.
        r#type: Option<String>,
    },
}

/// Internally tagged.
#[derive(Debug, ToolParams)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Internal {
    /// No fields.
    NoFields,
    /// Named.
    WithFields {
        /// The first.
        field_one: u8,
        /// The second.
        #[serde(default)]
        field_two: Vec<String>,
    },
    /// Another type's fields.
    Inner(Common),
}

/// Adjacently tagged.
#[derive(Debug, ToolParams)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    /// No fields.
    Unit,
    /// A number.
    Number(i64),
    /// Named.
    Named {
        /// A text.
        text: String,
    },
}

/// Untagged.
#[derive(Debug, ToolParams)]
#[serde(untagged)]
pub enum Untagged {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// Named.
    Named {
        /// A list.
        list: Vec<Untagged>,
    },
}

/// Unit variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, ToolParams)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Words {
    /// The first.
    #[default]
    FirstWord,
    /// The second.
    #[serde(alias = "2nd")]
    SecondWord,
    /// Never read.
    #[serde(skip)]
    Hidden,
    /// Any other.
    #[serde(other)]
    Other,
}

/// A page of any items.
#[derive(Debug, ToolParams)]
pub struct Page<T, const SIZE: usize = 4>
where
    T: Clone,
{
    items: Vec<T>,
    next: Option<Box<Page<T, SIZE>>>,
}

/// A phantom type parameter.
#[derive(Debug, ToolParams)]
pub struct Tagged<T: std::fmt::Debug + Default, U = String> {
    value: U,
    #[serde(skip)]
    tag: PhantomData<T>,
}

/// One of two.
#[derive(Debug, ToolParams)]
pub enum Either<A, B> {
    /// This.
    Left(A),
    /// That.
    Right {
        /// That.
        that: B,
    },
}

/// A recursive struct.
#[derive(Debug, Clone, ToolParams)]
pub struct Tree {
    #[param(length = 1..)]
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
    parent: Option<Box<Self>>,
    named: Option<HashMap<String, Tree>>,
}

/// A recursive enum.
#[derive(Debug, ToolParams)]
#[serde(rename_all = "lowercase")]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A sum.
    Sum(Vec<Formula>),
    /// Less.
    Less {
        /// From this.
        left: Box<Formula>,
        /// This.
        right: Box<Self>,
    },
}

/// Raw identifiers.
#[derive(Debug, ToolParams)]
#[allow(non_camel_case_types, reason = "the name is under test")]
#[allow(missing_copy_implementations, reason = "the lint is about generated code here")]
pub struct r#struct {
    r#fn: u8,
    #[param(default = 3, range = 1..)]
    r#enum: u8,
}

/// Names in the style of JSON.
#[derive(Debug, Clone, Copy, ToolParams)]
#[allow(non_snake_case, reason = "the model sees these names")]
pub struct CamelCase {
    /// A limit.
    pub maxResults: u8,
}

/// Names in the style of JSON.
#[derive(Debug, Clone, Copy, ToolParams)]
#[allow(non_camel_case_types, reason = "the model sees these names")]
pub enum Lowercase {
    /// A variant.
    first,
    /// A variant with a field.
    second(CamelCase),
}

/// Takes structs.
#[tool]
#[must_use]
pub fn take_structs(
    attributed: &Attributed,
    flat: Option<Flat>,
    transparent: Option<Transparent>,
    raw: Option<r#struct>,
) -> String {
    format!("{attributed:?} {flat:?} {transparent:?} {raw:?}")
}

/// Takes enums.
#[tool]
#[must_use]
pub fn take_enums(
    external: &[External],
    internal: &[Internal],
    adjacent: &[Adjacent],
    untagged: &[Untagged],
    #[param(default = Words::FirstWord)] words: Words,
    #[param(default)] more: Vec<Words>,
) -> String {
    format!("{external:?} {internal:?} {adjacent:?} {untagged:?} {words:?} {more:?}")
}

/// Takes generic types.
#[tool]
#[must_use]
pub fn take_generics(
    numbers: &Page<u8>,
    words: Option<Page<Words, 2>>,
    tagged: Option<Tagged<u8>>,
    either: Option<Either<Page<String>, Tagged<u16, bool>>>,
) -> String {
    format!("{numbers:?} {words:?} {tagged:?} {either:?}")
}

/// Takes types with defaults.
#[tool]
#[must_use]
pub fn take_defaults(
    with: &WithDefault,
    defaulted: &Defaulted<u8, Words>,
    whole: &DefaultedWhole<String>,
) -> String {
    format!("{with:?} {defaulted:?} {whole:?}")
}

/// Takes recursive types.
#[tool]
#[must_use]
pub fn take_recursive(tree: &Tree, formula: Option<Formula>) -> String {
    format!("{tree:?} {formula:?}")
}
