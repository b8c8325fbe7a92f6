//! Builds a [`Docstring`] from the parts found by the parser.

use crate::default;
use crate::model::{Docstring, ParamDoc, Problem, RaisesDoc, ReturnsDoc};
use crate::type_spec::TypeSpec;

/// Collects the parts of a doc comment into a [`Docstring`].
///
/// If a parameter is documented twice, its first type, its first default and its last description are
/// used, and the repetition is a problem.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    docs: Docstring,
    types: Vec<ParamDoc>,
}

impl Builder {
    /// Adds a parameter, whose documentation begins at `line`.
    pub(crate) fn param(&mut self, name: &str, spec: &TypeSpec, description: &str, line: usize) {
        let found = param_doc(name, spec, description, line);
        match self.docs.params.iter_mut().find(|param| param.name == name) {
            None => self.docs.params.push(found),
            Some(param) => {
                if !found.description.is_empty() {
                    param.description.clone_from(&found.description);
                }
                fill_gaps(param, found);
                self.problem(line, format!("parameter `{name}` is documented twice"));
            }
        }
    }

    /// Adds a type given apart from its description, as in `:type x: int`.
    pub(crate) fn param_type(&mut self, name: &str, spec: &TypeSpec, line: usize) {
        self.types.push(param_doc(name, spec, "", line));
    }

    /// Adds documentation of the return value to an earlier one.
    pub(crate) fn returns(&mut self, ty: Option<String>, description: &str, line: usize) {
        let returns = self.docs.returns.get_or_insert_with(|| ReturnsDoc { line, ..ReturnsDoc::default() });
        returns.ty = returns.ty.take().or(ty);
        if !returns.description.is_empty() && !description.is_empty() {
            returns.description.push_str("\n\n");
        }
        returns.description.push_str(description);
    }

    pub(crate) fn raises(&mut self, ty: Option<String>, description: String, line: usize) {
        self.docs.raises.push(RaisesDoc { ty, description, line });
    }

    pub(crate) fn problem(&mut self, line: usize, message: String) {
        self.docs.problems.push(Problem { line, message });
    }

    /// Adds the summary and the description.
    pub(crate) fn finish(self, summary: String, description: String) -> Docstring {
        let mut docs = self.docs;
        for typed in self.types {
            match docs.params.iter_mut().find(|param| param.name == typed.name) {
                None => docs.params.push(typed),
                Some(param) => fill_gaps(param, typed),
            }
        }
        docs.params.sort_by_key(|param| param.line);
        Docstring { summary, description, ..docs }
    }
}

fn param_doc(name: &str, spec: &TypeSpec, description: &str, line: usize) -> ParamDoc {
    let TypeSpec { ty, optional, default } = spec.clone();
    let default = default.or_else(|| default::find(description));
    ParamDoc { name: name.to_owned(), ty, description: description.to_owned(), default, optional, line }
}

fn fill_gaps(param: &mut ParamDoc, found: ParamDoc) {
    param.ty = param.ty.take().or(found.ty);
    param.default = param.default.take().or(found.default);
    param.optional |= found.optional;
}

#[cfg(test)]
mod tests {
    use super::Builder;
    use crate::type_spec::TypeSpec;

    #[test]
    fn the_last_description_and_the_first_type_win() {
        let mut builder = Builder::default();
        builder.param("x", &TypeSpec::default(), "", 1);
        builder.param("x", &TypeSpec::parse("int, optional"), "first", 2);
        builder.param("x", &TypeSpec::parse("str"), "second", 3);
        let docs = builder.finish(String::new(), String::new());

        let x = docs.param("x").unwrap();
        assert_eq!(x.description, "second");
        assert_eq!(x.ty.as_deref(), Some("int"));
        assert!(x.optional);
        assert_eq!(x.line, 1);
        let lines: Vec<_> = docs.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn types_are_merged_into_descriptions() {
        let mut builder = Builder::default();
        builder.param_type("b", &TypeSpec::parse("int"), 1);
        builder.param_type("a", &TypeSpec::parse("str"), 2);
        builder.param("a", &TypeSpec::default(), "text", 3);
        let docs = builder.finish(String::new(), String::new());

        let found: Vec<_> = docs
            .params
            .iter()
            .map(|param| (param.name.as_str(), param.ty.as_deref(), param.description.as_str()))
            .collect();
        assert_eq!(found, [("b", Some("int"), ""), ("a", Some("str"), "text")]);
        assert!(docs.problems.is_empty());
    }

    #[test]
    fn descriptions_of_the_return_value_are_joined() {
        let mut builder = Builder::default();
        builder.returns(None, "one", 1);
        builder.returns(Some("int".to_owned()), "", 2);
        builder.returns(Some("str".to_owned()), "two", 3);
        let returns = builder.finish(String::new(), String::new()).returns.unwrap();
        assert_eq!(returns.ty.as_deref(), Some("int"));
        assert_eq!(returns.description, "one\n\ntwo");
        assert_eq!(returns.line, 1);
    }
}
