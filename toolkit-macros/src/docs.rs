//! Doc comments: the text, and which token stands behind each line of it.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};
use toolkit_docstring::Docstring;

/// The documentation of a function or of a parameter.
#[derive(Default)]
pub(crate) struct Docs {
    pub(crate) parsed: Docstring,
    /// For each line of the text, the token it comes from.
    spans: Vec<Span>,
    /// Documentation that only the compiler can read, as in `#[doc = include_str!("…")]`.
    included: Vec<Expr>,
}

impl Docs {
    pub(crate) fn read(attrs: &[Attribute]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        let mut docs = Self::default();
        for attr in attrs {
            let Meta::NameValue(meta) = &attr.meta else { continue };
            if !meta.path.is_ident("doc") {
                continue;
            }
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

    pub(crate) fn is_empty(&self) -> bool {
        self.parsed.description.is_empty() && self.included.is_empty()
    }

    /// The token behind a line of the text.
    pub(crate) fn span(&self, line: usize) -> Span {
        self.spans.get(line).copied().unwrap_or_else(Span::call_site)
    }

    /// The description as an expression of type `&'static str`.
    pub(crate) fn description(&self) -> TokenStream {
        let description = self.parsed.description.as_str();
        let included = &self.included;
        match (description, included.as_slice()) {
            (text, []) => text.to_token_stream(),
            ("", included) => quote::quote!(::core::concat!(#(#included),*)),
            (text, included) => quote::quote!(::core::concat!(#text, #("\n\n", #included),*)),
        }
    }
}
