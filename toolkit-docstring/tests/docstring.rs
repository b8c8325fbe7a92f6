//! Parsing of doc comments in every style.

use toolkit_docstring::{Docstring, parse};

fn params(docs: &Docstring) -> Vec<(&str, &str)> {
    docs.params.iter().map(|param| (param.name.as_str(), param.description.as_str())).collect()
}

fn problems(docs: &Docstring) -> Vec<(usize, &str)> {
    docs.problems.iter().map(|problem| (problem.line, problem.message.as_str())).collect()
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let docs = parse(text);
    assert_eq!(params(&docs), expected, "{text}");
    assert_eq!(problems(&docs), [], "{text}");
}

fn check_description(text: &str, expected: &str) {
    assert_eq!(parse(text).description, expected, "{text}");
}

#[test]
fn google_sections_are_parsed() {
    let docs = parse(
        r#"Fetch rows from a table.

    Retrieves rows pertaining to the given keys. Keys that are not
    strings are encoded.

    Args:
        table (Table): An open table.
        keys (Sequence[str | bytes]): One of:
            - a string
            - bytes: encoded as UTF-8

            Order does not matter.
        limit (int, optional): At most.
            Defaults to `100`.
        **options: Passed on.

    Returns:
        dict[str, tuple]: Each key with its row. For
        example::

            {"a": (1, 2)}

    Raises:
        OSError: The table is gone.
        ValueError: A key is
            empty.

    Example:
        >>> fetch(table, ["a"])
    "#,
    );

    assert_eq!(docs.summary, "Fetch rows from a table.");
    assert_eq!(
        docs.description,
        "Fetch rows from a table.\n\nRetrieves rows pertaining to the given keys. Keys that are not\n\
         strings are encoded.\n\nExample:\n    >>> fetch(table, [\"a\"])"
    );
    assert_eq!(
        params(&docs),
        [
            ("table", "An open table."),
            ("keys", "One of: - a string - bytes: encoded as UTF-8\n\nOrder does not matter."),
            ("limit", "At most. Defaults to `100`."),
            ("options", "Passed on."),
        ]
    );
    let types: Vec<_> = docs.params.iter().map(|param| param.ty.as_deref()).collect();
    assert_eq!(types, [Some("Table"), Some("Sequence[str | bytes]"), Some("int"), None]);
    let limit = docs.param("limit").unwrap();
    assert_eq!((limit.default.as_deref(), limit.optional, limit.line), (Some("100"), true, 12));

    let returns = docs.returns.unwrap();
    assert_eq!(returns.ty.as_deref(), Some("dict[str, tuple]"));
    assert_eq!(returns.line, 17);
    let raises: Vec<_> = docs
        .raises
        .iter()
        .map(|raises| (raises.ty.as_deref(), raises.description.as_str(), raises.line))
        .collect();
    assert_eq!(
        raises,
        [(Some("OSError"), "The table is gone.", 23), (Some("ValueError"), "A key is empty.", 24)]
    );
}

#[test]
fn google_sections_end_at_other_text() {
    let a = &[("a", "A")];
    check("S.\n\nArgs:\n    a: A\n\nSome closing text: with colon.", a);
    check("S.\n\nArgs:\n    a: A\n\nb: not indented", a);
    check("S.\n\nArgs:\n    a: A\nNote: see b", a);
    check("S.\n\nArgs:\n    a: A\nReturns: b", a);
    check("S.\n\nArgs:\n    a: A\nOwn Title:\n    b: B", a);
    check("S.\n\nArgs:\n    a: A\n\nSee Also:\n    b: B", a);
    check("S.\n\nNote:\n    a: misleading\n\nArgs:\n    a: A", a);
    check("S.\n\nArgs:\n    a: A\n```\nb: B\n```", a);
    check("S.\n\nArgs:\n    a: A\n    Returns:\n        b: B", a);
}

#[test]
fn google_variants_are_parsed() {
    let both = &[("a", "A"), ("b", "B")];
    check("S.\n\nArgs:\n    a: A\n    b: B", both);
    check("S.\nArgs:\n  a: A\n  b: B", both);
    check("Args:\n    a: A\n    b: B", both);
    check("S.\n\n\tArgs:\n\t\ta: A\n\t\tb: B", both);
    check("S.\r\n\r\nArgs:\r\n    a: A\r\n    b: B\r\n", both);
    check("S.\n\nArgs:\na: A\nb: B", both);
    check("S.\n\nArgs:\na: A\n\nb: B\n\nNote: see c", both);
    check("S.\n\nArgs:\n\n    a: A\n\n    b: B", both);
    check("S.\n\nArgs:\n    a: A\nb: B", both);
    check("S.\n\nArgs:\n    a:\n        A\n    b:\n\n        B", both);
    check("S.\n\nArgs:\n    - a: A\n    - b: B", both);
    check("S.\n\nArguments:\n* `a` - A\n* `b` - B\n\nMore.", both);
    check("S.\n\n**Parameters:**\n\n- **a:** A\n- **b** (int): B", both);
    check("S.\n\nArgs:\n    a: A\n\nKeyword Args:\n    b: B", both);
    check("S.\n\nArgs：\n    a：A\n    b（int）：B", both);
    check("S.\n\nArgs:\n    r#a: A\n    `b`: B", both);
    check("S.\n\nArgs:\n    :param a: A\n    b: B", both);
    check("S.\n\nArgs:\n    All of them:\n\n    a: A\n    b: B", both);
    check("S.\n\nArgs:\n    a, b (int): C", &[("a", "C"), ("b", "C")]);
    check("S.\n\nArgs:\n    a: A\n    goes on\n    b: B", &[("a", "A goes on"), ("b", "B")]);
    check("S.\n\nArgs:\n    a: one of:\n        x: X\n    b: B", &[("a", "one of: x: X"), ("b", "B")]);
    check("S.\n\nArgs:\n    example: E\n    note:\n        N", &[("example", "E"), ("note", "N")]);
    check("S.\n\nArgs:\n    a: https://x.y/z?a=b", &[("a", "https://x.y/z?a=b")]);
    check("搜索。\n\nArgs:\n    查询: 搜索词：例如 “天气”", &[("查询", "搜索词：例如 “天气”")]);
    check("S.\n\nArgs:\n    None", &[]);
}

#[test]
fn sphinx_fields_are_parsed() {
    let docs = parse(
        "Sends a mail.

    :param str to: who gets it
    :param  body : the text:
        anything
    and more

        A second paragraph.
    :param dict[str, int] headers:
    :keyword limit: defaults to 3
    :type limit: int, optional
    :meta private:
    :return: whether it
        went out
    :rtype: bool
    :raises OSError: no network
    :except ValueError: no address
    Returns at once.

    More prose.
    ",
    );

    assert_eq!(
        params(&docs),
        [
            ("to", "who gets it"),
            ("body", "the text: anything and more\n\nA second paragraph."),
            ("headers", ""),
            ("limit", "defaults to 3"),
        ]
    );
    let types: Vec<_> = docs.params.iter().map(|param| param.ty.as_deref()).collect();
    assert_eq!(types, [Some("str"), None, Some("dict[str, int]"), Some("int")]);
    assert!(docs.param("limit").unwrap().optional);
    let returns = docs.returns.unwrap();
    assert_eq!((returns.ty.as_deref(), returns.description.as_str()), (Some("bool"), "whether it went out"));
    let raises: Vec<_> = docs.raises.iter().filter_map(|raises| raises.ty.as_deref()).collect();
    assert_eq!(raises, ["OSError", "ValueError"]);
    assert_eq!(docs.description, "Sends a mail.\n\n:meta private:\n\nMore prose.");
}

#[test]
fn sphinx_fields_end_at_other_blocks() {
    let a = &[("a", "A")];
    check(":param a: A", a);
    check("S.\n\n:param a: A\n\nNot A.", a);
    check("S.\n\n:param a: A\n:return: R", a);
    check("S.\n\n:param a: A\n:since: 1.0\nmore", a);
    check("S.\n\n:param a: A\nExample:\n    b: B", a);
    check("S.\n\n:param a: A\nReturns: R", a);
    check("S.\n\n:param a: A\n.. note:: N", a);
    check("S.\n\n:param a: A\n# Notes\nN", a);
    check("S.\n\n:param a: A\n```\n:param b: B\n```", a);
    check("S.\n\n@param a: A\n@return: R", a);
    check("S.\n\n@param a A", a);
}

#[test]
fn numpy_sections_are_parsed() {
    let docs = parse(
        "Resample a signal.

    Parameters
    ----------
    x, y : array_like of shape (n,)
        The signals.

        Both as long.
    mode : {'linear', 'cubic'}, default 'linear'
        How.
    num : int, optional
        How many (default: 3).
    *args
        Passed on.
    window
        The window.

    Returns
    -------
    out : list of float
        The samples.

    Raises
    ------
    ValueError
        If they differ.

    Notes
    -----
    scale : not a parameter
    ",
    );

    assert_eq!(
        params(&docs),
        [
            ("x", "The signals.\n\nBoth as long."),
            ("y", "The signals.\n\nBoth as long."),
            ("mode", "How."),
            ("num", "How many (default: 3)."),
            ("args", "Passed on."),
            ("window", "The window."),
        ]
    );
    let mode = docs.param("mode").unwrap();
    assert_eq!(
        (mode.ty.as_deref(), mode.default.as_deref()),
        (Some("{'linear', 'cubic'}"), Some("'linear'"))
    );
    assert_eq!(docs.param("y").unwrap().ty.as_deref(), Some("array_like of shape (n,)"));
    assert_eq!(docs.param("num").unwrap().default.as_deref(), Some("3"));
    let returns = docs.returns.unwrap();
    assert_eq!(
        (returns.ty.as_deref(), returns.description.as_str()),
        (Some("list of float"), "The samples.")
    );
    assert_eq!(docs.raises[0].ty.as_deref(), Some("ValueError"));
    assert_eq!(docs.description, "Resample a signal.\n\nNotes\n-----\nscale : not a parameter");
}

#[test]
fn numpy_variants_are_parsed() {
    let both = &[("a", "A"), ("b", "B")];
    check("S.\n\nParameters\n----------\na : int\n    A\nb : int\n    B", both);
    check("S.\n\nParameters:\n-----------\na: int\n    A\n\nb: int\n    B\n\nSome more prose.", both);
    check("S.\n\nParameters\n==========\n  a\n    A\n  b\n    B", both);
    check(
        "S.\n\nParameters\n----------\na : int\n    A\n\nOther Parameters\n----------------\nb\n    B",
        both,
    );
    check("S.\n\nParameters\n----------\n- `a`: A\n- `b`: B", both);
    check("S.\n\nParameters\n----------\na : What it is for", &[("a", "What it is for")]);
}

#[test]
fn rustdoc_sections_are_parsed() {
    let docs = parse(
        " Copies a file.
 Quickly.

 # Arguments

 All are needed.

 * `from` - where it is,
   and not a folder:
   - a path
   - an address

   Links are followed.
 * `to: &Path` – where it goes
 * `r#type` (u8, optional) — what it is, defaults to `1`

 # Returns

 How many bytes.

 # Errors

 When the disk is full.

 # Panics

 Never.

 # Examples

 ```
 # Arguments
 * `no` - not one
 ```
",
    );

    assert_eq!(docs.summary, "Copies a file. Quickly.");
    assert_eq!(
        params(&docs),
        [
            ("from", "where it is, and not a folder: - a path - an address\n\nLinks are followed."),
            ("to", "where it goes"),
            ("type", "what it is, defaults to `1`"),
        ]
    );
    assert_eq!(docs.param("to").unwrap().ty.as_deref(), Some("&Path"));
    assert_eq!(docs.param("r#type").unwrap().default.as_deref(), Some("1"));
    assert_eq!(docs.returns.unwrap().description, "How many bytes.");
    assert_eq!(
        (docs.raises[0].ty.as_deref(), docs.raises[0].description.as_str()),
        (None, "When the disk is full.")
    );
    assert_eq!(docs.description, "Copies a file.\nQuickly.\n\nAll are needed.");
}

#[test]
fn sections_for_programmers_are_not_in_the_description() {
    let docs = parse(
        "S.

# Safety
None.

## Of threads
None either.

# Usage
Often.

## Examples
```
# Note
```
- a: b

Example:
    >>> s()

# Panics
:param a: A
",
    );
    assert_eq!(docs.description, "S.\n\n# Usage\nOften.");
    assert_eq!(params(&docs), [("a", "A")]);
    let docs = parse("S.\n\n# Panics\nNever.\n\nArgs:\n    a: A\n\nMore.");
    assert_eq!(docs.description, "S.\n\nMore.");
    assert_eq!(params(&docs), [("a", "A")]);
    assert_eq!(parse("S.\n\nExample:\n    >>> s()").description, "S.\n\nExample:\n    >>> s()");
}

#[test]
fn rustdoc_variants_are_parsed() {
    let both = &[("a", "A"), ("b", "B")];
    check(" S.\n\n # Arguments\n\n * `a` - A\n * `b` - B\n\n # Panics\n\n * `c` - C", both);
    check("S.\n# Parameters\n- a: A\n- b: B", both);
    check("### ARGS:\n+ `a`: A\n+ b -- B", both);
    check("# Arguments\na: A\nb: B", both);
    check("# Arguments\n\n`a` - A\n\n`b` - B", both);
    check("# Arguments\n1. `a` - A\n2. `b` - B", both);
    check("# Arguments\n- `a`\n  A\n- `b` B", both);
    check("# Arguments\n- `a`: A\n- `b`: B\n\nModes:\n\n- fast: F", both);
    check("# Arguments\n## Required\n- `a`: A\n## Optional\n- `b`: B", both);
    check("\n * S.\n *\n * # Arguments\n *\n * * `a` - A\n * * `b` - B\n ", both);
    check("# Arguments\n* `a` - A\nb: c\n* `b` - B", &[("a", "A b: c"), ("b", "B")]);
}

#[test]
fn styles_can_be_mixed() {
    let both = &[("a", "A"), ("b", "B")];
    check("S.\n\nArgs:\n    a: A\n\n:param b: B", both);
    check("S.\n\n:param a: A\n\nArgs:\n    b: B", both);
    check("S.\n\n:param a: A\nArgs:\n    b: B", both);
    check("S.\n\n# Arguments\n\n* `a` - A\n\nParameters\n----------\nb : int\n    B", both);
    check("S.\n\nParameters\n----------\na : int\n    A\n\nArgs:\n    b: B", both);
    check("S.\n\nArgs:\n    a: A\n\n# Arguments\n\n* `b` - B", both);
    check("S.\n\n# Arguments\n\n* `a` - A\n:param b: B", both);
}

#[test]
fn prose_is_not_documentation() {
    for text in [
        "",
        "Search: the web.",
        "Note: see x\nSearch: the web.",
        "Modes.\n\n- `query`: text\n- `limit`: text",
        "Modes:\n* fast\n* slow",
        "Code.\n\n```\nArgs:\n    x: no\n:param y: no\n```\n\nEnd.",
        "Uses :class:`Query` and\n:func:`search`.",
        "Title\n=====\n\nfoo : bar",
        "# Optional\n\n- x: y",
        "S.\n\nOptional:\n    x: y",
        "Note:\n    x: y\n\nExample::\n\n    x: y",
    ] {
        check(text, &[]);
        check_description(text, text);
    }
}

#[test]
fn paragraphs_around_a_removed_part_stay_separate() {
    check_description("  S.  ", "S.");
    check_description("S.\n:param x: X\n\nMore.", "S.\n\nMore.");
    check_description("S.\n\n\nArgs:\n  x: X\n\n\n\nMore.", "S.\n\n\nMore.");
    check_description("S.\n\nArgs:\n    None.\n\nReturns:\n    x", "S.");
    check_description("Args:\n    x: X", "");
    check_description("S.\n\n# Returns\n\nR:\n\n```\n1\n\n2\n```\n\nMore.", "S.\n\n```\n1\n\n2\n```");
}

#[test]
fn a_type_over_two_lines_is_one_type() {
    for order in [
        ["depth: How deep.", "kind (Literal[\"a\",\n        \"b\"]): The kind."],
        ["kind (Literal[\"a\",\n        \"b\"]): The kind.", "depth: How deep."],
    ] {
        let docs = parse(&format!("Describe.\n\nArgs:\n    {}", order.join("\n    ")));
        let found = |name| docs.param(name).map(|param| (param.ty.as_deref(), param.description.as_str()));
        assert_eq!(found("kind"), Some((Some("Literal[\"a\", \"b\"]"), "The kind.")));
        assert_eq!(found("depth"), Some((None, "How deep.")));
        assert_eq!(docs.description, "Describe.");
    }
    // The name of this field is on its second line.
    let docs = parse("S.\n\n:param dict[str,\n    int] x: d");
    assert_eq!(docs.param("x").map(|x| (x.ty.as_deref(), x.line)), Some((Some("dict[str, int]"), 3)));
    // Open brackets in a text are no type.
    let docs = parse("S.\n\nSee (this\nor that): all.\n\nArgs:\n    x: See (this\n        or that): all.");
    assert_eq!(docs.description, "S.\n\nSee (this\nor that): all.");
    assert_eq!(docs.param("x").map(|x| x.description.as_str()), Some("See (this or that): all."));
}
