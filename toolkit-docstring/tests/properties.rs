//! Properties of the parser on arbitrary text.

use proptest::prelude::*;
use toolkit_docstring::{Docstring, parse};

const TOKENS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    "    ",
    "        ",
    ":",
    "：",
    "x",
    "y",
    "query",
    "The text.",
    "none",
    ":param x: d",
    ":param int x: d",
    ":param",
    ":param x d",
    ":type x: int",
    ":returns: r",
    ":rtype: int",
    ":raises E: e",
    ":meta private:",
    "@param x d",
    "Args:",
    "args:",
    "Keyword Args:",
    "**Args:**",
    "Returns:",
    "Returns: r",
    "Raises:",
    "Note:",
    "Example::",
    "See Also:",
    "Optional:",
    "Parameters",
    "Returns",
    "Notes",
    "----------",
    "===",
    "# Arguments",
    "## Optional",
    "# Returns",
    "# Errors",
    "# Panics",
    "#",
    "x : int, optional",
    "x, y : int",
    "x: d",
    "x (int, default 3): d",
    "x - d",
    "- x: d",
    "* `x` - d",
    "* x",
    "*",
    "* ",
    " * ",
    "1. x: d",
    "**x:** d",
    "`x`",
    "**kwargs: d",
    "```",
    "```rust",
    "~~~",
    "````",
    "default: ",
    "Defaults to `1`.",
    "(",
    ")",
    "[",
    "]",
    "`",
    "查询：搜索",
    "（int）",
    "e\u{301}",
    "\u{301}",
    "\u{200d}",
    "\u{3000}",
    "\u{feff}",
    "\r",
    "\0",
    "r#type: d",
    "None",
    ".. note:: n",
];

fn built_from_tokens() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TOKENS), 0..60).prop_map(|tokens| tokens.concat())
}

fn built_from_lines() -> impl Strategy<Value = String> {
    let line = (prop::sample::select(&[0_usize, 0, 1, 2, 4, 4, 8][..]), prop::sample::select(TOKENS))
        .prop_map(|(indent, token)| format!("{}{token}\n", " ".repeat(indent)));
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "\\PC*", built_from_tokens(), built_from_lines()]
}

fn line_numbers(docs: &Docstring) -> impl Iterator<Item = usize> {
    let params = docs.params.iter().map(|param| param.line);
    let returns = docs.returns.iter().map(|returns| returns.line);
    let raises = docs.raises.iter().map(|raises| raises.line);
    let problems = docs.problems.iter().map(|problem| problem.line);
    params.chain(returns).chain(raises).chain(problems)
}

/// Doc comments in four styles. Each `¦` is a place inside the brackets of a type at which a line may end.
const TYPED: &[&str] = &[
    "S.\n\nArgs:\n    a (Literal[¦\"x\",¦ \"y\"¦], optional): First.\n        More.\n    b (dict[¦str,¦ list[¦int¦]¦]): Second.\n\nReturns:\n    tuple[¦int,¦ str¦]: The result.",
    "S.\n\nArgs:\n    a: First.\n    b(¦str,¦ optional¦): Second (of two).\n    - c",
    "S.\n\nParameters\n----------\na : {¦'x',¦ 'y'¦}, optional\n    First.\nb : dict[¦str,¦ list[¦int¦]¦]\n    Second.\n\nReturns\n-------\nr : tuple[¦int,¦ str¦]\n    The result.",
    "S.\n\n:param Literal[¦\"x\",¦ \"y\"¦] a: First.\n:param b: Second.\n:type b: dict[¦str,¦ list[¦int¦]¦]\n:param c (tuple[¦int,¦ str¦]): Third.\n:rtype: tuple[¦int,¦ str¦]",
    "S.\n\n# Arguments\n\n* `a` (Vec<¦(¦u8,¦ u16¦)¦>) - First.\n* `b: HashMap<¦String,¦ Vec<¦u8¦>¦>` - Second.\n\n# Returns\n\nHashMap<¦String,¦ u8¦>: The result.",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn line_numbers_are_within_the_text(text in any_text()) {
        let count = text.lines().count();
        for line in line_numbers(&parse(&text)) {
            prop_assert!(line < count);
        }
    }

    #[test]
    fn a_parameter_line_contains_its_name(text in any_text()) {
        for param in parse(&text).params {
            let line = text.split('\n').nth(param.line);
            prop_assert!(line.is_some_and(|line| line.contains(&param.name)), "{param:?}");
        }
    }

    #[test]
    fn names_are_bare_and_unique(text in any_text()) {
        let docs = parse(&text);
        for (place, param) in docs.params.iter().enumerate() {
            prop_assert!(param.name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
            prop_assert!(!param.name.contains(|c: char| c.is_whitespace() || "*`:()".contains(c)));
            prop_assert_eq!(docs.params.iter().position(|other| other.name == param.name), Some(place));
            prop_assert_eq!(docs.param(&param.name), Some(param));
        }
    }

    #[test]
    fn descriptions_are_trimmed(text in any_text()) {
        let docs = parse(&text);
        let descriptions = docs.params.iter().map(|param| &param.description);
        for text in descriptions.chain([&docs.summary, &docs.description]) {
            prop_assert_eq!(text.trim(), text);
        }
        prop_assert!(!docs.summary.contains('\n'));
    }

    #[test]
    fn the_description_contains_no_documentation(text in any_text()) {
        let docs = parse(&text);
        let again = parse(&docs.description);
        prop_assert!(again.params.is_empty(), "{:?}", again.params);
        prop_assert!(again.returns.is_none(), "{:?}", again.returns);
        prop_assert!(again.raises.is_empty(), "{:?}", again.raises);
        prop_assert_eq!(again.summary, docs.summary);
    }

    #[test]
    fn line_endings_and_margins_are_ignored(text in built_from_lines()) {
        let docs = parse(&text);
        prop_assert_eq!(&parse(&text.replace('\n', "\r\n")), &docs);
        prop_assert_eq!(&parse(&text.replace('\n', "\n  ")), &docs);
    }

    #[test]
    fn fenced_code_is_not_parsed(code in built_from_lines()) {
        let docs = parse(&format!("S.\n\n```\n{}```", code.replace('`', "")));
        prop_assert!(docs.params.is_empty() && docs.returns.is_none() && docs.raises.is_empty());
    }

    /// A type may go over any number of lines, and the next lines may have any indentation.
    #[test]
    fn a_type_may_be_broken_inside_its_brackets(
        text in prop::sample::select(TYPED),
        breaks in prop::collection::vec(prop::option::of(0_usize..9), 1..9),
    ) {
        let mut breaks = breaks.into_iter().cycle();
        let mut broken = String::new();
        for piece in text.split('¦') {
            // A line that is broken does not end with a space.
            match breaks.next().flatten().filter(|_| !broken.is_empty()) {
                Some(indent) => broken.push_str(&format!("\n{:indent$}{}", "", piece.trim_start_matches(' '))),
                None => broken.push_str(piece),
            }
        }
        let unnumbered = |text: &str| {
            let docs = parse(text);
            let params = docs.params.into_iter().map(|param| (param.name, param.ty, param.description, param.optional));
            let returns = docs.returns.map(|returns| (returns.ty, returns.description));
            (params.collect::<Vec<_>>(), returns, docs.raises, docs.description, docs.problems)
        };
        let (params, returns, ..) = unnumbered(&text.replace('¦', ""));
        prop_assert!(params.len() >= 2 && params[0].1.is_some() | params[1].1.is_some(), "{params:?}");
        prop_assert!(returns.is_some() || !text.contains("eturns"));
        prop_assert_eq!(unnumbered(&broken), unnumbered(&text.replace('¦', "")), "{}", broken);
    }
}
