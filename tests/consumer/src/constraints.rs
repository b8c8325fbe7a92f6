//! Every constraint, on parameters and on fields.

use std::collections::{BTreeMap, BTreeSet};
use tk::{ToolParams, tool};

const MOST: u32 = 50;

/// Every constraint on a parameter.
#[tool]
#[must_use]
#[allow(clippy::too_many_arguments, reason = "all of them are under test")]
pub fn constrained(
    #[param(range = 1..=MOST, default = 5)] count: u32,
    #[param(range = 0.0..1.0)] share: Option<f64>,
    #[param(range = -5.., multiple_of = 5)] step: Option<i64>,
    #[param(length = 2..=4, default = "abc")] code: String,
    #[param(pattern = "^[a-z]+$", length = ..10)] slug: Option<String>,
    #[param(format = "email")] mail: Option<String>,
    #[param(one_of = ["red", "green"])] color: Option<String>,
    #[param(length = ..=2, items(range = 0..=9))] digits: &[u8],
    #[param(length = 1, items(length = 1.., pattern = "^.$"))] table: Option<BTreeMap<String, String>>,
    #[param(items(items(one_of = [1, 2])))] grid: Option<Vec<Vec<u8>>>,
    #[param(examples = ["a", "b"], deprecated)] old: Option<String>,
) -> String {
    format!(
        "{count} {share:?} {step:?} {code} {slug:?} {mail:?} {color:?} {digits:?} {table:?} {grid:?} {old:?}"
    )
}

/// Every constraint on a field.
#[derive(Debug, Clone, PartialEq, ToolParams)]
pub struct Constrained {
    /// How many.
    #[param(range = 1..=MOST, default = 5)]
    pub count: u32,
    #[param(range = 0.0..1.0, description = "A part.")]
    pub(crate) share: Option<f64>,
    #[param(multiple_of = 5)]
    step: Option<i64>,
    /// A code.
    #[param(length = 2..=4, default = "abc", alias = "key")]
    code: String,
    #[param(pattern = "^[a-z]+$", rename = "the-slug")]
    slug: Option<String>,
    #[param(format = "ipv4")]
    address: Option<String>,
    #[param(one_of = ["red", "green"])]
    color: Option<String>,
    #[param(length = ..=2, items(range = 0..=9), default)]
    digits: BTreeSet<u8>,
    #[param(examples = ["a", "b"], deprecated)]
    old: Option<String>,
}

/// Takes fields with constraints.
#[tool]
#[must_use]
pub fn constrained_fields(fields: &Constrained) -> String {
    format!("{fields:?}")
}
