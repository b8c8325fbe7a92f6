//! Likely mistakes reported to the author.

use toolkit_docstring::{Docstring, parse};

fn problems(docs: &Docstring) -> Vec<(usize, &str)> {
    docs.problems.iter().map(|problem| (problem.line, problem.message.as_str())).collect()
}

#[test]
fn likely_mistakes_are_reported() {
    let check = |text, expected: &[(usize, &str)]| assert_eq!(problems(&parse(text)), expected, "{text}");
    check(":param x The query", &[(0, "`:param` is missing the colon after its name")]);
    check("S.\n\n:returns the list", &[(2, "`:returns` is missing the colon after its keyword")]);
    check("S.\n:param: the query", &[(1, "parameter field has no name; write `:param name: text`")]);
    check("S.\n:type 9: int", &[(1, "`9` is not a valid parameter name")]);
    check("Args:\n  x: one\n\n:param x: two", &[(3, "parameter `x` is documented twice")]);
    check(":type x: int\n:param x: two", &[]);

    let twice = parse("Args:\n  x: one\n\n:param int x: two");
    assert_eq!(twice.params.len(), 1);
    assert_eq!(twice.param("x").unwrap().description, "two");
    assert_eq!(twice.param("x").unwrap().ty.as_deref(), Some("int"));
}
