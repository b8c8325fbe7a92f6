//! Doc comments: the parsed documentation, and the span of each line for errors.

use crate::attr::{only_string, ungrouped};
use crate::diag::{Diag, hint};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::{env, fs};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Token};
use toolkit_docstring::{Docstring, ParamDoc};

/// The documentation of a function, a type, a parameter or a field.
#[derive(Default)]
pub(crate) struct Docs {
    parsed: Docstring,
    /// The location of each line.
    spans: Vec<Span>,
    /// Documentation that only the compiler can evaluate, such as `#[doc = my_macro!()]`.
    unread: Vec<Expr>,
}

impl Docs {
    pub(crate) fn from_attrs(attrs: &[Attribute]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        let mut docs = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
            let Meta::NameValue(meta) = &attr.meta else { continue };
            match evaluate(&meta.value) {
                Some(text) => {
                    for line in text.split('\n') {
                        lines.push(line.to_owned());
                        docs.spans.push(meta.value.span());
                    }
                }
                None => docs.unread.push(meta.value.clone()),
            }
        }
        if !lines.is_empty() {
            docs.parsed = toolkit_docstring::parse(&lines.join("\n"));
        }
        docs
    }

    /// Returns the documentation of the first parameter whose name `is_wanted`.
    pub(crate) fn param(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&ParamDoc> {
        self.parsed.params.iter().find(|param| is_wanted(&param.name))
    }

    /// Returns the description as an expression of type `&'static str`.
    pub(crate) fn description(&self) -> Option<TokenStream> {
        match (self.parsed.description.as_str(), self.unread.as_slice()) {
            ("", []) => None,
            (text, []) => Some(text.to_token_stream()),
            ("", unread) => Some(quote!(::core::concat!(#(#unread),*))),
            (text, unread) => Some(quote!(::core::concat!(#text, #("\n\n", #unread),*))),
        }
    }

    /// Generates a warning for each part that the macro cannot evaluate, so that its descriptions are not
    /// read.
    ///
    /// A macro cannot warn, but the compiler warns of deprecated items.
    pub(crate) fn warnings(&self) -> TokenStream {
        let mut warnings = TokenStream::new();
        for part in &self.unread {
            warnings.extend(quote_spanned! {part.span()=>
                const _: () = {
                    #[deprecated(note = "this documentation is published whole, because only the compiler can \
                        read it; describe each parameter in a comment on the parameter")]
                    const UNREAD_DOCUMENTATION: () = ();
                    UNREAD_DOCUMENTATION
                };
            });
        }
        warnings
    }

    pub(crate) fn check_text(&self, diag: &mut Diag) {
        for problem in &self.parsed.problems {
            diag.error_at(self.span(problem.line), &problem.message);
        }
    }

    /// Reports documentation of parameters or fields that are not in `known`.
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

/// Returns whether the description is neither `None` nor an empty string literal.
pub(crate) fn is_described(description: Option<&TokenStream>) -> bool {
    let Some(description) = description else { return false };
    match syn::parse2::<LitStr>(description.clone()) {
        Ok(text) => !text.value().trim().is_empty(),
        Err(_) => true,
    }
}

/// Evaluates a literal, or `concat!`, `stringify!`, `env!` and `include_str!` with such arguments.
fn evaluate(expr: &Expr) -> Option<String> {
    let invocation = match ungrouped(expr) {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => return Some(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => return Some(flag.value.to_string()),
        Expr::Lit(_) => return only_string(expr),
        Expr::Macro(invocation) => &invocation.mac,
        _ => return None,
    };
    if invocation.path.is_ident("stringify") {
        // The compiler puts its own spaces between several tokens.
        return invocation.parse_body::<Ident>().ok().map(|word| word.to_string());
    }
    let exprs = invocation.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
    let arguments = exprs.iter().map(evaluate).collect::<Option<Vec<String>>>()?;
    match invocation.path.segments.last()?.ident.to_string().as_str() {
        "concat" => Some(arguments.concat()),
        "env" => env::var(arguments.first()?).ok(),
        // The compiler reads the file, too, so a change of it leads to a new build.
        "include_str" if proc_macro::is_available() => {
            let source = proc_macro::Span::call_site().local_file()?;
            fs::read_to_string(source.parent()?.join(arguments.first()?)).ok()
        }
        _ => None,
    }
}

/// Returns the description of a parameter or field as an expression of type `&'static str`.
///
/// It comes from `#[param(description = "…")]`, or else a comment on the parameter or field, or else a
/// section in the documentation of the function or type.
pub(crate) fn describe(attr: Option<&Expr>, own: &Docs, section: Option<&ParamDoc>) -> Option<TokenStream> {
    if let Some(attr) = attr {
        return Some(attr.to_token_stream());
    }
    if let Some(description) = own.description() {
        return Some(description);
    }
    let description = &section?.description;
    if description.is_empty() { None } else { Some(description.to_token_stream()) }
}
