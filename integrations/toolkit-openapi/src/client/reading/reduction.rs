//! How the parameters of an operation become small enough.

use crate::client::document::OpenApiLimits;

/// The deepest levels of a schema that are tried. At level 0, a parameter is its type and description.
const LEVELS: [usize; 8] = [usize::MAX, 8, 6, 4, 3, 2, 1, 0];

/// The characters of descriptions that are tried after the levels.
const DESCRIPTIONS: [usize; 2] = [256, 80];

/// Which parameters, and members of the body, become arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    All,
    Described,
    Required,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reduction {
    /// The level below which a schema is replaced by its type.
    pub(super) deepest: usize,
    pub(super) description: usize,
    pub(super) kept: Kept,
}

impl Reduction {
    /// Returns the tries, from nothing to the most. What a model can do without goes last.
    pub(super) fn all(limits: &OpenApiLimits) -> impl Iterator<Item = Self> + use<> {
        let whole = limits.description;
        let levels = LEVELS.map(|deepest| Self { deepest, description: whole, kept: Kept::All });
        let shorter =
            DESCRIPTIONS.map(|most| Self { deepest: 0, description: whole.min(most), kept: Kept::All });
        let [.., shortest] = shorter;
        let fewer = [Kept::Described, Kept::Required].map(|kept| Self { kept, ..shortest });
        levels.into_iter().chain(shorter).chain(fewer)
    }

    /// Returns what was done to the parameters, of which `left_out` were left out.
    pub(super) fn message(self, left_out: usize, limits: &OpenApiLimits) -> String {
        let mut done = vec!["deep schemas were replaced by their types".to_owned()];
        if self.description < limits.description {
            done.push("descriptions were shortened".to_owned());
        }
        if left_out > 0 {
            done.push(format!("{left_out} optional parameters were left out"));
        }
        format!("{TOO_LARGE}, so {}; {ADVICE}", done.join(", "))
    }
}

const TOO_LARGE: &str = "its parameters are larger than the limit";
const ADVICE: &str = "raise the limit with `OpenApiLimits::with_schema_bytes`";

pub(super) fn too_large() -> String {
    format!("{TOO_LARGE} even without their members; {ADVICE}")
}
