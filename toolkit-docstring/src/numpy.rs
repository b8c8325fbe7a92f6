//! Entries of a NumPy section: `name : type` above the description.

use crate::item::Item;
use crate::name::Name;
use crate::prose::{strip_colon, words};
use crate::type_spec::{TypeSpec, looks_like_type};

const LONGEST_TYPE: usize = 4;

/// Parses the first line of an entry: `name`, `name : type` or `a, b : type`.
///
/// The part after the colon becomes the `text`, which [`split_type`] may read as a type.
pub(crate) fn item(line: &str) -> Option<Item<'_>> {
    let (names, last) = Name::list(line)?;
    let rest = last.rest.trim_start();
    let text = if rest.is_empty() { rest } else { strip_colon(rest)? };
    Some(Item { names, spec: TypeSpec::default(), text: text.trim(), bulleted: false, height: 1 })
}

/// Splits an entry into its type and its description.
///
/// `text` is the first line after the colon, and `body` the following lines. A `text` unlike a type begins
/// the description.
pub(crate) fn split_type(text: &str, body: String) -> (TypeSpec, String) {
    let spec = TypeSpec::parse(text);
    let ty = spec.ty.as_deref().unwrap_or_default();
    let short = words(ty).len() <= LONGEST_TYPE && !ty.ends_with('.');
    let is_type = looks_like_type(ty) || spec.has_modifiers() || (!body.is_empty() && short);
    if is_type || text.is_empty() {
        (spec, body)
    } else {
        let description = format!("{text} {body}").trim_end().to_owned();
        (TypeSpec::default(), description)
    }
}

#[cfg(test)]
mod tests {
    use super::{item, split_type};

    #[test]
    fn the_first_line_has_names_and_a_type() {
        let check = |line, expected: Option<(Vec<&str>, &str)>| {
            assert_eq!(item(line).map(|item| (item.names, item.text)), expected, "{line:?}");
        };
        check("x", Some((vec!["x"], "")));
        check("x : int, optional", Some((vec!["x"], "int, optional")));
        check("x: int", Some((vec!["x"], "int")));
        check("x, y : int", Some((vec!["x", "y"], "int")));
        check("*args, **kwargs", Some((vec!["args", "kwargs"], "")));
        check("`x` : {'a', 'b'}", Some((vec!["x"], "{'a', 'b'}")));
        check("the query", None);
        check("- x : int", None);
        check("", None);
    }

    #[test]
    fn a_sentence_in_place_of_the_type_is_description() {
        let check = |text, body: &str, ty: Option<&str>, description: &str| {
            let (spec, found) = split_type(text, body.to_owned());
            assert_eq!((spec.ty.as_deref(), found.as_str()), (ty, description), "{text:?}");
        };
        check("int", "", Some("int"), "");
        check("file-like object", "d", Some("file-like object"), "d");
        check("The query to run.", "", None, "The query to run.");
        check("The query that is run", "later", None, "The query that is run later");
        check("", "d", None, "d");
        check("int, default 3", "d", Some("int"), "d");
    }
}
