//! Parameter types with modifiers, such as `int, optional, default 3`.

use crate::default;
use crate::prose::{split_colon, split_outside, unwrap_mark, words};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TypeSpec {
    /// The type as written.
    pub(crate) ty: Option<String>,
    pub(crate) optional: bool,
    pub(crate) default: Option<String>,
}

impl TypeSpec {
    /// Parses the text in the parentheses of `name (type, optional)`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut spec = Self::default();
        let mut types = Vec::new();
        for piece in split_outside(text, |c| matches!(c, ',' | '，')) {
            let piece = spec.take_default(strip_marks(piece));
            if piece.eq_ignore_ascii_case("optional") {
                spec.optional = true;
            } else if !piece.is_empty() && !piece.eq_ignore_ascii_case("required") {
                types.push(piece);
            }
        }
        if !types.is_empty() {
            spec.ty = Some(types.join(", "));
        }
        spec
    }

    pub(crate) fn has_modifiers(&self) -> bool {
        self.optional || self.default.is_some()
    }

    fn take_default<'a>(&mut self, piece: &'a str) -> &'a str {
        if let Some(value) = default::parse(piece) {
            self.default = Some(value);
            return "";
        }
        if let Some(open) = piece.strip_suffix(')')
            && let Some((before, inner)) = open.rsplit_once('(')
            && let Some(value) = default::parse(inner)
        {
            self.default = Some(value);
            return strip_marks(before);
        }
        piece
    }
}

fn strip_marks(piece: &str) -> &str {
    let piece = piece.trim();
    unwrap_mark(piece, '`').or_else(|| unwrap_mark(piece, '*')).unwrap_or(piece)
}

/// Returns the type without backticks or stars around it, if it is not empty.
pub(crate) fn type_name(text: &str) -> Option<String> {
    let bare = strip_marks(text);
    if bare.is_empty() { None } else { Some(bare.to_owned()) }
}

/// Splits `type: text` into the type, if there is one, and the text.
pub(crate) fn split_type(text: &str) -> (Option<String>, &str) {
    match split_colon(text) {
        Some((ty, rest))
            if looks_like_type(ty.trim()) && (rest.is_empty() || rest.starts_with(char::is_whitespace)) =>
        {
            (type_name(ty), rest.trim())
        }
        _ => (None, text),
    }
}

/// Returns whether a text reads like a type rather than a sentence.
pub(crate) fn looks_like_type(text: &str) -> bool {
    let words = words(text);
    let starts_well = text.starts_with(|c: char| c.is_alphabetic() || "_&*[({<'\"`:".contains(c));
    if !starts_well || text.ends_with(['.', '!', '?', '。']) {
        return false;
    }
    for (before, word) in words.iter().zip(words.iter().skip(1)) {
        if !is_connective(before) && !is_connective(word) && !word.starts_with(['(', '[', '{']) {
            return false;
        }
    }
    true
}

fn is_connective(word: &str) -> bool {
    let keyword = matches!(
        word,
        "of" | "or" | "|" | "->" | "dyn" | "impl" | "mut" | "&mut" | "*const" | "*mut" | "unsigned"
    );
    keyword || word.ends_with(',')
}

#[cfg(test)]
mod tests {
    use super::{TypeSpec, looks_like_type};

    fn check(text: &str, ty: Option<&str>, optional: bool, default: Option<&str>) {
        let expected = TypeSpec { ty: ty.map(str::to_owned), optional, default: default.map(str::to_owned) };
        assert_eq!(TypeSpec::parse(text), expected, "{text:?}");
    }

    #[test]
    fn modifiers_are_separated_from_the_type() {
        check("", None, false, None);
        check("int", Some("int"), false, None);
        check(" int, optional ", Some("int"), true, None);
        check("Optional", None, true, None);
        check("int, required", Some("int"), false, None);
        check("Optional[int]", Some("Optional[int]"), false, None);
        check("dict[str, int], optional", Some("dict[str, int]"), true, None);
        check("{'a', 'b'}, default 'a'", Some("{'a', 'b'}"), false, Some("'a'"));
        check("int, default: 3", Some("int"), false, Some("3"));
        check("int, default=3", Some("int"), false, Some("3"));
        check("int, optional (default 3)", Some("int"), true, Some("3"));
        check("int (default: f(3))", Some("int (default: f(3))"), false, None);
        check("`int`, *optional*, defaults to `None`", Some("int"), true, Some("None"));
        check("str or int", Some("str or int"), false, None);
        check("&str, u8", Some("&str, u8"), false, None);
        check("defaultdict", Some("defaultdict"), false, None);
    }

    #[test]
    fn types_are_distinguished_from_sentences() {
        for text in [
            "int",
            "list[str, int]",
            "list of str",
            "str or None",
            "str | None",
            "&mut str",
            "{'a', 'b'}",
            "a.b.C",
            "Vec<String>",
            "int, str",
            "dict (str, int)",
            "array of shape (n,)",
        ] {
            assert!(looks_like_type(text), "{text}");
        }
        for text in ["", "The query", "the query to run", "Words.", "Whether to talk", "- a", "3 words"] {
            assert!(!looks_like_type(text), "{text}");
        }
    }
}
