//! Sphinx and epytext fields: `:param int x: text`, `:returns: text`, `@param x: text`.

use crate::brackets::Brackets;
use crate::lines::Line;
use crate::name::Name;
use crate::prose::{is_colon, outside_brackets, split_colon, words};
use crate::type_spec::TypeSpec;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Param,
    ParamType,
    Returns,
    ReturnType,
    Raises,
}

impl Tag {
    fn from_keyword(keyword: &str) -> Option<Self> {
        match keyword.to_ascii_lowercase().as_str() {
            "param" | "parameter" | "arg" | "argument" | "key" | "keyword" | "kwarg" => Some(Self::Param),
            "type" | "kwtype" => Some(Self::ParamType),
            "return" | "returns" | "yield" | "yields" => Some(Self::Returns),
            "rtype" | "ytype" => Some(Self::ReturnType),
            "raise" | "raises" | "except" | "exception" | "throws" => Some(Self::Raises),
            _ => None,
        }
    }

    fn takes_argument(self) -> bool {
        matches!(self, Self::Param | Self::ParamType | Self::Raises)
    }
}

/// The first line of a field, such as `:param x: text`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// A field with a known keyword, such as `:keyword argument: text`.
    Known { tag: Tag, argument: &'a str, text: &'a str },
    /// A known keyword without the second colon, such as `:param x text`.
    Unclosed {
        keyword: &'a str,
        /// What stands before the missing colon: `name` or `keyword`.
        after: &'static str,
    },
    /// A keyword that is almost a known one, such as `:parm x: text`.
    Misspelt { keyword: &'a str, known: &'static str },
    /// Any other field, such as `:meta private:`.
    Unknown,
}

impl<'a> Field<'a> {
    /// Parses a field, and returns it with the number of lines up to the end of its type.
    pub(crate) fn read(line: &'a Line) -> Option<(Self, usize)> {
        let (field, height) = line.read(Self::parse, Self::ends_below);
        Some((field?, height))
    }

    fn ends_below(alone: &Option<Self>, joined: &Option<Self>) -> bool {
        matches!(joined, Some(Self::Known { .. })) && alone.is_some_and(Self::lacks_an_end)
    }

    /// Returns whether the type or the name may end below.
    fn lacks_an_end(self) -> bool {
        match self {
            Self::Known { tag: Tag::ParamType | Tag::ReturnType, .. } | Self::Unclosed { .. } => true,
            Self::Known { argument, .. } => has_open_bracket(argument),
            Self::Misspelt { .. } | Self::Unknown => false,
        }
    }

    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        match line.strip_prefix('@') {
            Some(field) => Self::epytext(field),
            None => Self::sphinx(line.strip_prefix(':')?),
        }
    }

    fn sphinx(field: &'a str) -> Option<Self> {
        let (keyword, rest) = split_keyword(field)?;
        let closed = split_colon(rest).or_else(|| rest.split_once(is_colon));
        let follows = rest.starts_with(is_separator);
        let tag = if follows || rest.is_empty() { Tag::from_keyword(keyword) } else { None };
        match (tag, closed) {
            (Some(tag), Some((argument, text))) => {
                let is_role = argument.is_empty() && text.starts_with('`');
                let known = Self::Known { tag, argument: argument.trim(), text: text.trim() };
                if is_role { None } else { Some(known) }
            }
            (Some(tag), None) => {
                Some(Self::Unclosed { keyword, after: if tag.takes_argument() { "name" } else { "keyword" } })
            }
            (None, Some((_, text))) => {
                if !follows || !(text.is_empty() || text.starts_with(char::is_whitespace)) {
                    return None;
                }
                match OFTEN_MISSPELT.into_iter().find(|known| is_misspelt(keyword, known)) {
                    Some(known) => Some(Self::Misspelt { keyword, known }),
                    None => Some(Self::Unknown),
                }
            }
            (None, None) => None,
        }
    }

    fn epytext(field: &'a str) -> Option<Self> {
        let (keyword, rest) = split_keyword(field)?;
        let tag = Tag::from_keyword(keyword)?;
        let body = match rest.strip_prefix(is_separator) {
            Some(body) => body.trim(),
            None if rest.is_empty() => rest,
            None => return None,
        };
        let (argument, description) = if tag.takes_argument() {
            body.split_at_checked(body.find(is_separator).unwrap_or(body.len()))?
        } else {
            ("", body)
        };
        let text = description.trim_start_matches(is_separator).trim_start_matches("- ");
        Some(Self::Known { tag, argument, text })
    }
}

/// Keywords whose misspellings are no other words.
const OFTEN_MISSPELT: [&str; 5] = ["param", "parameter", "argument", "returns", "raises"];

/// Returns whether one letter of `word` is wrong, missing, additional, or swapped with its neighbour.
fn is_misspelt(word: &str, known: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let start = word.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    let (Some(word), Some(known)) = (word.get(start..), known.get(start..)) else { return false };
    for (ours, theirs) in [(1, 1), (0, 1), (1, 0)] {
        if let Some(rest) = word.get(ours..)
            && known.get(theirs..) == Some(rest)
        {
            return true;
        }
    }
    let is_swapped = word.bytes().take(2).rev().eq(known.bytes().take(2));
    word.len() > 1 && is_swapped && word.get(2..) == known.get(2..)
}

fn is_separator(c: char) -> bool {
    is_colon(c) || c.is_whitespace()
}

fn has_open_bracket(text: &str) -> bool {
    let mut brackets = Brackets::default();
    brackets.push(text);
    brackets.is_open()
}

fn split_keyword(field: &str) -> Option<(&str, &str)> {
    if !field.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let rest = field.trim_start_matches(is_keyword_char);
    Some((field.strip_suffix(rest)?, rest))
}

fn is_keyword_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Parses the argument of a parameter field: `x`, `int x`, `dict[str, int] x`, `x (int)` or `x, y`.
pub(crate) fn names(argument: &str) -> Option<(Vec<&str>, TypeSpec)> {
    if let Some((names, last)) = Name::list(argument)
        && last.rest.is_empty()
    {
        return Some((names, last.ty.map(TypeSpec::parse).unwrap_or_default()));
    }
    let last = *words(argument).last()?;
    let before = argument.strip_suffix(last)?.trim();
    let (ty, name) = match unparenthesised(last) {
        Some(ty) => (ty, before),
        None => (before, last),
    };
    Some((vec![Name::exact(name)?], TypeSpec::parse(ty)))
}

fn unparenthesised(word: &str) -> Option<&str> {
    if outside_brackets(word).count() != 2 {
        return None;
    }
    word.strip_prefix('(')?.strip_suffix(')')
}

#[cfg(test)]
mod tests {
    use super::{Field, Tag, names};

    fn check(line: &str, expected: Option<Field<'_>>) {
        assert_eq!(Field::parse(line), expected, "{line:?}");
    }

    fn known<'a>(tag: Tag, argument: &'a str, text: &'a str) -> Option<Field<'a>> {
        Some(Field::Known { tag, argument, text })
    }

    #[test]
    fn sphinx_fields_stand_between_colons() {
        check(":param x: d", known(Tag::Param, "x", "d"));
        check(":param  x : d", known(Tag::Param, "x", "d"));
        check(":param x:", known(Tag::Param, "x", ""));
        check(":param x:d", known(Tag::Param, "x", "d"));
        check(":param x：d", known(Tag::Param, "x", "d"));
        check(":param dict[str: int] x: d: e", known(Tag::Param, "dict[str: int] x", "d: e"));
        check(":param std::io x: d", known(Tag::Param, "std::io x", "d"));
        check(":Keyword x: d", known(Tag::Param, "x", "d"));
        check(":type x: int", known(Tag::ParamType, "x", "int"));
        check(":returns: d", known(Tag::Returns, "", "d"));
        check(":rtype: int", known(Tag::ReturnType, "", "int"));
        check(":raises E: d", known(Tag::Raises, "E", "d"));
        check(":param: d", known(Tag::Param, "", "d"));
        check(":param x The query", Some(Field::Unclosed { keyword: "param", after: "name" }));
        check(":meta private:", Some(Field::Unknown));
        check(":since: 1.0", Some(Field::Unknown));
    }

    #[test]
    fn epytext_fields_begin_with_an_at_sign() {
        check("@param x: d", known(Tag::Param, "x", "d"));
        check("@param x d: e", known(Tag::Param, "x", "d: e"));
        check("@param x - d", known(Tag::Param, "x", "d"));
        check("@return: d", known(Tag::Returns, "", "d"));
        check("@raise E: d", known(Tag::Raises, "E", "d"));
        check("@type x: int", known(Tag::ParamType, "x", "int"));
    }

    #[test]
    fn other_lines_are_no_fields() {
        for line in [
            "",
            ":",
            "@",
            "x: d",
            ":class:`Foo` d",
            ":) smile: d",
            ":: a",
            "@author: me",
            "@param-eter: x",
            "::param x: d",
            ":paramx",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn field_arguments_have_a_name_and_a_type() {
        let check = |argument, expected: Option<(Vec<&str>, Option<&str>)>| {
            let found = names(argument);
            let found = found.map(|(names, spec)| (names, spec.ty));
            let expected = expected.map(|(names, ty)| (names, ty.map(str::to_owned)));
            assert_eq!(found, expected, "{argument:?}");
        };
        check("x", Some((vec!["x"], None)));
        check("int x", Some((vec!["x"], Some("int"))));
        check("dict[str, int] x", Some((vec!["x"], Some("dict[str, int]"))));
        check("str or None x", Some((vec!["x"], Some("str or None"))));
        check("int, optional x", Some((vec!["x"], Some("int"))));
        check("x (int)", Some((vec!["x"], Some("int"))));
        check("x, y", Some((vec!["x", "y"], None)));
        check("**kwargs", Some((vec!["kwargs"], None)));
        check("`x`", Some((vec!["x"], None)));
        check("", None);
        check("9", None);
        check("(int)", None);
    }
}
