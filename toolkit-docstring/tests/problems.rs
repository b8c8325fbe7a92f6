//! Slips that are reported to the writer.

use toolkit_docstring::{Docstring, parse};

fn problems(docs: &Docstring) -> Vec<(usize, &str)> {
    docs.problems.iter().map(|problem| (problem.line, problem.message.as_str())).collect()
}

#[test]
fn slips_are_reported() {
    let check = |text, expected: &[(usize, &str)]| assert_eq!(problems(&parse(text)), expected, "{text}");
    check(":param x The query", &[(0, "`:param` lacks the colon after its name")]);
    check("S.\n\n:returns the list", &[(2, "`:returns` lacks the colon after its keyword")]);
    check("S.\n:param: the query", &[(1, "parameter field without a name")]);
    check("S.\n:type 9: int", &[(1, "`9` is not a parameter name")]);
    check("Args:\n  x: one\n\n:param x: two", &[(3, "parameter `x` is documented twice")]);
    check(":type x: int\n:param x: two", &[]);

    let twice = parse("Args:\n  x: one\n\n:param int x: two");
    assert_eq!(twice.params.len(), 1);
    assert_eq!(twice.param("x").unwrap().description, "two");
    assert_eq!(twice.param("x").unwrap().ty.as_deref(), Some("int"));
}
