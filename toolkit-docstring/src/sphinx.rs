//! Fields: `:param int x: text`, `:returns: text`, `@param x: text`.

use crate::name::Name;
use crate::prose::{is_colon, outside_brackets, split_colon, words};
use crate::type_spec::TypeSpec;

/// What a field is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Param,
    ParamType,
    Returns,
    ReturnType,
    Raises,
}

impl Tag {
    fn of(keyword: &str) -> Option<Self> {
        match keyword.to_ascii_lowercase().as_str() {
            "param" | "parameter" | "arg" | "argument" | "key" | "keyword" | "kwarg" => Some(Self::Param),
            "type" | "kwtype" => Some(Self::ParamType),
            "return" | "returns" | "yield" | "yields" => Some(Self::Returns),
            "rtype" | "ytype" => Some(Self::ReturnType),
            "raise" | "raises" | "except" | "exception" | "throws" => Some(Self::Raises),
            _ => None,
        }
    }

    fn has_head(self) -> bool {
        matches!(self, Self::Param | Self::ParamType | Self::Raises)
    }
}

/// A line that begins a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// `:keyword head: text`.
    Known { tag: Tag, head: &'a str, text: &'a str },
    /// A known keyword, but the colon that ends the head is missing.
    Unclosed {
        keyword: &'a str,
        /// What the colon should stand after.
        place: &'static str,
    },
    /// `:meta private:` and whatever else there is.
    Unknown,
}

impl<'a> Field<'a> {
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        match line.strip_prefix('@') {
            Some(field) => Self::epytext(field),
            None => Self::sphinx(line.strip_prefix(':')?),
        }
    }

    fn sphinx(field: &'a str) -> Option<Self> {
        let (keyword, rest) = split_keyword(field)?;
        let closed = split_colon(rest).or_else(|| rest.split_once(is_colon));
        let follows = rest.starts_with(|c: char| is_colon(c) || c.is_whitespace());
        match (Tag::of(keyword).filter(|_| follows || rest.is_empty()), closed) {
            (Some(tag), Some((head, text))) => {
                let is_role = head.is_empty() && text.starts_with('`');
                (!is_role).then(|| Self::Known { tag, head: head.trim(), text: text.trim() })
            }
            (Some(tag), None) => {
                Some(Self::Unclosed { keyword, place: if tag.has_head() { "name" } else { "keyword" } })
            }
            (None, Some((_, text))) => {
                let ends = text.is_empty() || text.starts_with(char::is_whitespace);
                (follows && ends).then_some(Self::Unknown)
            }
            (None, None) => None,
        }
    }

    fn epytext(field: &'a str) -> Option<Self> {
        let (keyword, rest) = split_keyword(field)?;
        let tag = Tag::of(keyword)?;
        let rest = rest
            .strip_prefix(|c: char| is_colon(c) || c.is_whitespace())
            .or_else(|| rest.is_empty().then_some(rest))?
            .trim();
        let (head, text) = if tag.has_head() {
            let end = rest.find(|c: char| c.is_whitespace() || is_colon(c)).unwrap_or(rest.len());
            rest.split_at_checked(end)?
        } else {
            ("", rest)
        };
        Some(Self::Known {
            tag,
            head,
            text: text
                .trim_start_matches(|c: char| is_colon(c) || c.is_whitespace())
                .trim_start_matches("- "),
        })
    }
}

fn split_keyword(field: &str) -> Option<(&str, &str)> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let end = field.find(|c| !is_inner(c)).unwrap_or(field.len());
    field.split_at_checked(end).filter(|(keyword, _)| keyword.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Reads the head of a parameter field: `x`, `int x`, `dict[str, int] x`, `x (int)` or `x, y`.
pub(crate) fn names(head: &str) -> Option<(Vec<&str>, TypeSpec)> {
    if let Some((names, last)) = Name::list(head)
        && last.rest.is_empty()
    {
        return Some((names, last.ty.map(TypeSpec::read).unwrap_or_default()));
    }
    let last = *words(head).last()?;
    let before = head.strip_suffix(last)?.trim();
    let (ty, name) = match unparenthesised(last) {
        Some(ty) => (ty, before),
        None => (before, last),
    };
    Some((vec![Name::whole(name)?], TypeSpec::read(ty)))
}

fn unparenthesised(word: &str) -> Option<&str> {
    let is_one_pair = outside_brackets(word).count() == 2;
    word.strip_prefix('(')?.strip_suffix(')').filter(|_| is_one_pair)
}

#[cfg(test)]
mod tests {
    use super::{Field, Tag, names};

    fn check(line: &str, expected: Option<Field<'_>>) {
        assert_eq!(Field::read(line), expected, "{line:?}");
    }

    fn known<'a>(tag: Tag, head: &'a str, text: &'a str) -> Option<Field<'a>> {
        Some(Field::Known { tag, head, text })
    }

    #[test]
    fn reads_sphinx_fields() {
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
        check(":param x The query", Some(Field::Unclosed { keyword: "param", place: "name" }));
        check(":meta private:", Some(Field::Unknown));
        check(":since: 1.0", Some(Field::Unknown));
    }

    #[test]
    fn reads_epytext_fields() {
        check("@param x: d", known(Tag::Param, "x", "d"));
        check("@param x d: e", known(Tag::Param, "x", "d: e"));
        check("@param x - d", known(Tag::Param, "x", "d"));
        check("@return: d", known(Tag::Returns, "", "d"));
        check("@raise E: d", known(Tag::Raises, "E", "d"));
        check("@type x: int", known(Tag::ParamType, "x", "int"));
    }

    #[test]
    fn refuses_other_lines() {
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
    fn reads_heads() {
        let check = |head, expected: Option<(Vec<&str>, Option<&str>)>| {
            let found = names(head);
            let found = found.map(|(names, spec)| (names, spec.ty));
            let expected = expected.map(|(names, ty)| (names, ty.map(str::to_owned)));
            assert_eq!(found, expected, "{head:?}");
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
