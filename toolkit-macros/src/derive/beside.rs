//! The derives beside `ToolParams` that implement the same traits.

use crate::diag::Diag;
use proc_macro2::Span;
use std::fs;

/// The traits implemented by `ToolParams`, and the crates with a derive for them.
const TRAITS: [(&str, &str); 2] = [("Deserialize", "serde"), ("JsonSchema", "schemars")];

/// Which of the two traits the type derives itself.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    pub(super) has_deserialize: bool,
    pub(super) has_schema: bool,
}

impl Beside {
    /// Finds the traits in the list around the derive being expanded, and reports each as an error.
    ///
    /// The tokens of the type do not show the list, so this function reads the source. Without a source
    /// file, the compiler reports conflicting implementations instead.
    pub(super) fn refuse(diag: &mut Diag) -> Self {
        let [has_deserialize, has_schema] = derived_around_call_site().unwrap_or_default();
        for ((name, _), is_derived) in TRAITS.iter().zip([has_deserialize, has_schema]) {
            if is_derived {
                let message = format!(
                    "`ToolParams` implements `{name}`, too: remove `{name}` from the list of derives"
                );
                diag.error_at(Span::call_site(), message);
            }
        }
        Self { has_deserialize, has_schema }
    }
}

fn derived_around_call_site() -> Option<[bool; 2]> {
    if !proc_macro::is_available() {
        return None;
    }
    let span = proc_macro::Span::call_site();
    let source = fs::read_to_string(span.local_file()?).ok()?;
    let above: usize = source.split_inclusive('\n').take(span.line() - 1).map(str::len).sum();
    let line = source.get(above..)?;
    let (inside, _) = line.char_indices().nth(span.column() - 1)?;
    Some(derived(&source, above + inside))
}

/// Returns which of [`TRAITS`] the list of derives around the byte `at` contains.
///
/// A trait without a path counts if the source imports it from the crate of the trait, because other crates
/// have derives of the same name.
fn derived(source: &str, at: usize) -> [bool; 2] {
    let Some((before, after)) = source.split_at_checked(at) else { return [false; 2] };
    let list = before.rsplit_once("derive(").map(|(_, start)| (start, after.split(')').next()));
    let Some((start, Some(rest))) = list else { return [false; 2] };
    let is_derived = |(name, from): (&str, &str)| {
        let is_imported = || source.split(';').any(|statement| is_import_of(statement, name, from));
        let paths = [start, rest].into_iter().flat_map(|part| part.split(',')).map(str::trim);
        !start.contains(')')
            && paths.filter_map(|path| path.strip_suffix(name)).any(|module| match module {
                "" => is_imported(),
                module => module.ends_with("::") && module.split("::").any(|part| part == from),
            })
    };
    TRAITS.map(is_derived)
}

/// Returns `true` if a statement ends with an import of `name` from the crate `from`.
fn is_import_of(statement: &str, name: &str, from: &str) -> bool {
    let import = statement.rsplit_once("use ").map_or("", |(_, import)| import);
    let mut words = import.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.clone().any(|word| word == name) && words.any(|word| word == from)
}

#[cfg(test)]
mod tests {
    use super::derived;

    #[test]
    fn a_derive_of_the_same_trait_is_found_by_its_path_or_import() {
        for (source, expected) in [
            ("#[derive(|ToolParams)]", [false, false]),
            ("#[derive(Debug, |ToolParams, serde::Deserialize)]", [true, false]),
            ("#[derive(::toolkit::serde::Deserialize, |ToolParams)]", [true, false]),
            ("#[derive(\n    |ToolParams,\n    schemars::JsonSchema,\n)]", [false, true]),
            (
                "use serde::{Deserialize, Serialize};\n#[derive(Serialize, Deserialize, |ToolParams)]",
                [true, false],
            ),
            ("use a::b; use schemars::JsonSchema;\n#[derive(|ToolParams, JsonSchema)]", [false, true]),
            ("#[derive(Deserialize, |ToolParams)]", [false, false]),
            ("use rkyv::{Archive, Deserialize};\n#[derive(Deserialize, |ToolParams)]", [false, false]),
            ("#[derive(rkyv::Deserialize, |ToolParams)]", [false, false]),
            ("#[derive(miniserde::Deserialize, |ToolParams)]", [false, false]),
            ("use serde::Deserialize;\n#[derive(DeserializeOwned, |ToolParams)]", [false, false]),
            (
                "use serde::Deserialize;\n#[derive(Deserialize)] struct A; #[derive(|ToolParams)]",
                [false, false],
            ),
            (
                "use serde::Deserialize;\n#[derive(|ToolParams)] struct A; #[derive(Deserialize)]",
                [false, false],
            ),
        ] {
            let at = source.find('|').unwrap_or_default();
            assert_eq!(derived(&source.replace('|', ""), at), expected, "{source}");
        }
    }
}
