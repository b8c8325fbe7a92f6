//! What has been found so far.

use crate::default;
use crate::model::{Docstring, ParamDoc, Problem, RaisesDoc, ReturnsDoc};
use crate::type_spec::TypeSpec;

/// Gathers documentation. What is said first about a parameter stays, except that a later description
/// goes before an earlier one, as a later key does in a dictionary; the writer is told.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    docs: Docstring,
    types: Vec<ParamDoc>,
}

impl Findings {
    /// A parameter is described.
    pub(crate) fn param(&mut self, name: &str, spec: &TypeSpec, description: &str, line: usize) {
        let found = ParamDoc {
            name: name.to_owned(),
            ty: spec.ty.clone(),
            description: description.to_owned(),
            default: spec.default.clone().or_else(|| default::stated(description)),
            optional: spec.optional,
            line,
        };
        match self.docs.params.iter_mut().find(|param| param.name == name) {
            None => self.docs.params.push(found),
            Some(param) => {
                if !found.description.is_empty() {
                    param.description.clone_from(&found.description);
                }
                complete(param, found);
                self.problem(line, format!("parameter `{name}` is documented twice"));
            }
        }
    }

    /// The type of a parameter is told apart from its description.
    pub(crate) fn param_type(&mut self, name: &str, spec: TypeSpec, line: usize) {
        self.types.push(ParamDoc {
            name: name.to_owned(),
            ty: spec.ty,
            default: spec.default,
            optional: spec.optional,
            line,
            ..ParamDoc::default()
        });
    }

    /// The result is described.
    pub(crate) fn returns(&mut self, ty: Option<String>, description: &str, line: usize) {
        let returns = self.docs.returns.get_or_insert_with(|| ReturnsDoc { line, ..ReturnsDoc::default() });
        returns.ty = returns.ty.take().or(ty);
        if !returns.description.is_empty() && !description.is_empty() {
            returns.description.push_str("\n\n");
        }
        returns.description.push_str(description);
    }

    /// A failure is described.
    pub(crate) fn raises(&mut self, ty: Option<String>, description: String, line: usize) {
        self.docs.raises.push(RaisesDoc { ty, description, line });
    }

    /// The writer slipped.
    pub(crate) fn problem(&mut self, line: usize, message: String) {
        self.docs.problems.push(Problem { line, message });
    }

    /// Everything found, together with the text that is left.
    pub(crate) fn finish(self, summary: String, description: String) -> Docstring {
        let mut docs = self.docs;
        for typed in self.types {
            match docs.params.iter_mut().find(|param| param.name == typed.name) {
                None => docs.params.push(typed),
                Some(param) => complete(param, typed),
            }
        }
        docs.params.sort_by_key(|param| param.line);
        Docstring { summary, description, ..docs }
    }
}

fn complete(param: &mut ParamDoc, found: ParamDoc) {
    param.ty = param.ty.take().or(found.ty);
    param.default = param.default.take().or(found.default);
    param.optional |= found.optional;
}

#[cfg(test)]
mod tests {
    use super::Findings;
    use crate::type_spec::TypeSpec;

    #[test]
    fn the_later_description_and_the_earlier_type_stay() {
        let mut findings = Findings::default();
        findings.param("x", &TypeSpec::default(), "", 1);
        findings.param("x", &TypeSpec::read("int, optional"), "first", 2);
        findings.param("x", &TypeSpec::read("str"), "second", 3);
        let docs = findings.finish(String::new(), String::new());

        let x = docs.param("x").unwrap();
        assert_eq!(x.description, "second");
        assert_eq!(x.ty.as_deref(), Some("int"));
        assert!(x.optional);
        assert_eq!(x.line, 1);
        let lines: Vec<_> = docs.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn merges_types_in_the_end() {
        let mut findings = Findings::default();
        findings.param_type("b", TypeSpec::read("int"), 1);
        findings.param_type("a", TypeSpec::read("str"), 2);
        findings.param("a", &TypeSpec::default(), "text", 3);
        let docs = findings.finish(String::new(), String::new());

        let found: Vec<_> = docs
            .params
            .iter()
            .map(|param| (param.name.as_str(), param.ty.as_deref(), param.description.as_str()))
            .collect();
        assert_eq!(found, [("b", Some("int"), ""), ("a", Some("str"), "text")]);
        assert!(docs.problems.is_empty());
    }

    #[test]
    fn joins_what_is_returned() {
        let mut findings = Findings::default();
        findings.returns(None, "one", 1);
        findings.returns(Some("int".to_owned()), "", 2);
        findings.returns(Some("str".to_owned()), "two", 3);
        let returns = findings.finish(String::new(), String::new()).returns.unwrap();
        assert_eq!(returns.ty.as_deref(), Some("int"));
        assert_eq!(returns.description, "one\n\ntwo");
        assert_eq!(returns.line, 1);
    }
}
