//! Doc comments with the tokens of their lines.

use crate::diag::{Diag, hint};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta};
use toolkit_docstring::{Docstring, ParamDoc};

/// The documentation of a function, a type, a parameter or a field.
#[derive(Default)]
pub(crate) struct Docs {
    parsed: Docstring,
    /// The span of each line.
    spans: Vec<Span>,
    /// Documentation expanded by the compiler, such as `#[doc = include_str!("…")]`.
    included: Vec<Expr>,
}

impl Docs {
    pub(crate) fn from_attrs(attrs: &[Attribute]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        let mut docs = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
            let Meta::NameValue(meta) = &attr.meta else { continue };
            match &meta.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                    for line in text.value().split('\n') {
                        lines.push(line.to_owned());
                        docs.spans.push(text.span());
                    }
                }
                included => docs.included.push(included.clone()),
            }
        }
        if !lines.is_empty() {
            docs.parsed = toolkit_docstring::parse(&lines.join("\n"));
        }
        docs
    }

    /// Returns the documentation of the first parameter accepted by `is_wanted`.
    pub(crate) fn param(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&ParamDoc> {
        self.parsed.params.iter().find(|param| is_wanted(&param.name))
    }

    /// Returns the description as an expression of type `&'static str`, if there is one.
    pub(crate) fn description(&self) -> Option<TokenStream> {
        let included = &self.included;
        match (self.parsed.description.as_str(), included.as_slice()) {
            ("", []) => None,
            (text, []) => Some(text.to_token_stream()),
            ("", included) => Some(quote!(::core::concat!(#(#included),*))),
            (text, included) => Some(quote!(::core::concat!(#text, #("\n\n", #included),*))),
        }
    }

    /// Reports likely mistakes in the text.
    pub(crate) fn check_text(&self, diag: &mut Diag) {
        for problem in &self.parsed.problems {
            diag.error_at(self.span(problem.line), &problem.message);
        }
    }

    /// Reports stale documentation: parameters or fields missing from `known`.
    pub(crate) fn check_names(&self, owner: &Ident, kind: &str, known: &[String], diag: &mut Diag) {
        for documented in self.parsed.params.iter().filter(|param| !known.contains(&param.name)) {
            let name = &documented.name;
            let hint =
                if known.is_empty() { "; remove its documentation".to_owned() } else { hint(name, known) };
            diag.error_at(self.span(documented.line), format!("`{owner}` has no {kind} `{name}`{hint}"));
        }
    }

    fn span(&self, line: usize) -> Span {
        self.spans.get(line).copied().unwrap_or_else(Span::call_site)
    }
}

/// Returns the description of a parameter or field as an expression of type `&'static str`.
///
/// In order of precedence: `#[param(description = "…")]`, a comment of its own, a section of its owner.
pub(crate) fn describe(attr: Option<&LitStr>, own: &Docs, section: Option<&ParamDoc>) -> Option<TokenStream> {
    let section = || section.map(|section| &section.description).filter(|text| !text.is_empty());
    attr.map(ToTokens::to_token_stream)
        .or_else(|| own.description())
        .or_else(|| section().map(ToTokens::to_token_stream))
}
