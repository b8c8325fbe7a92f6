//! The arguments of the attribute `#[param(…)]`.

use super::constraint::Constraints;
use super::reader::{each_argument, only_string, string, text, unknown_argument, value};
use crate::diag::Diag;
use crate::item::{is_primitive, only_argument, peel};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, LitStr, Token, Type};

#[derive(Default)]
pub(crate) struct ParamAttr {
    pub(crate) default: Option<DefaultAttr>,
    pub(crate) description: Option<Expr>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) flatten: Option<Ident>,
    pub(crate) constraints: Constraints,
    seen: Vec<Ident>,
}

/// The default of the type for a plain `default`, or the expression in `default = expr`.
pub(crate) enum DefaultAttr {
    OfType(Ident),
    Value(Box<Expr>),
}

impl DefaultAttr {
    pub(crate) fn expr(&self, ty: &Type) -> TokenStream {
        match self {
            Self::OfType(key) => quote_spanned!(key.span()=> <#ty as ::core::default::Default>::default()),
            // Allows `default = "x"` for a `String` and, by `Some`, for an `Option<String>`.
            Self::Value(value) if only_string(value).is_some() => {
                let inner = only_argument(ty, "Option");
                let is_number = matches!(peel(inner.unwrap_or(ty)), Type::Path(path) if path.path.get_ident().is_some_and(is_primitive));
                let converted = quote_spanned!(value.span()=> ::core::convert::Into::into(#value));
                match inner {
                    _ if is_number => value.to_token_stream(),
                    Some(_) => quote_spanned!(value.span()=> ::core::option::Option::Some(#converted)),
                    None => converted,
                }
            }
            Self::Value(value) => quote!(#value),
        }
    }

    /// Generates an expression for the default `value` as JSON.
    pub(crate) fn json(&self, value: &TokenStream) -> TokenStream {
        match self {
            Self::OfType(key) => default_of_type(key.span(), value),
            Self::Value(expr) => {
                quote_spanned!(expr.span()=> __toolkit::default_value(#value).toolkit_value())
            }
        }
    }
}

/// Generates an expression for a value of `Default` as JSON, with errors at `span`.
pub(crate) fn default_of_type(span: Span, value: &TokenStream) -> TokenStream {
    quote_spanned!(span=> __toolkit::default_value(#value).toolkit_value_of_type())
}

impl ParamAttr {
    const KNOWN: &'static [&'static str] = &["default", "description", "rename", "alias", "flatten"];

    pub(crate) fn known() -> Vec<&'static str> {
        [Self::KNOWN, Constraints::KNOWN].concat()
    }

    pub(crate) fn parse(attrs: &[Attribute], diag: &mut Diag) -> Self {
        let mut parsed = Self::default();
        let mut seen = Vec::new();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("param")) {
            match attr.meta.require_list() {
                Ok(list) if !list.tokens.is_empty() => {
                    each_argument(list.tokens.clone(), &mut seen, diag, |key, input, diag| {
                        parsed.parse_argument(key, input, diag)
                    });
                }
                _ => diag.error(attr, "`#[param]` needs arguments, as in `#[param(default = 5)]`"),
            }
        }
        parsed.seen = seen;
        if let Some(DefaultAttr::Value(default)) = &parsed.default {
            parsed.constraints.check_default(default, diag);
        }
        parsed
    }

    /// Returns the first given argument whose name `is_wanted`.
    pub(crate) fn given(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&Ident> {
        self.seen.iter().find(|key| is_wanted(&key.to_string()))
    }

    /// Reports `flatten` beside other `#[param]` arguments.
    pub(crate) fn check_flatten(&self, diag: &mut Diag) {
        if let (Some(flatten), Some(_)) = (&self.flatten, self.given(|key| key != "flatten")) {
            diag.error(
                flatten,
                "`flatten` excludes other `#[param]` arguments; put them on the fields of its type",
            );
        }
    }

    fn parse_argument(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        match key.to_string().as_str() {
            "default" => {
                let value = if input.peek(Token![=]) {
                    DefaultAttr::Value(Box::new(value(input)?))
                } else {
                    DefaultAttr::OfType(key.clone())
                };
                self.default = Some(value);
            }
            "description" => self.description = Some(text(input)?),
            "rename" => self.rename = Some(name(input, diag)?),
            "alias" => self.aliases.push(name(input, diag)?),
            "flatten" => self.flatten = Some(key.clone()),
            _ => {
                if !self.constraints.parse(key, input, diag)? {
                    return Err(unknown_argument("#[param]", key, &Self::known()));
                }
            }
        }
        Ok(())
    }
}

/// Parses the name of a parameter, and refuses quotes, backslashes and control characters.
///
/// JSON escapes them, but the runtime compares names with the JSON text of a call without decoding
/// escapes.
fn name(input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<LitStr> {
    let name = string(input)?;
    let is_escaped = |c: char| matches!(c, '"' | '\\') || c.is_control();
    if name.value().contains(is_escaped) {
        let plain = name.value().trim_matches(is_escaped).replace(is_escaped, "_");
        let example = if plain.is_empty() { String::new() } else { format!("; write for example `{plain}`") };
        let escaped = name.value().escape_debug().to_string();
        let message =
            format!("parameter name `{escaped}` contains quotes, backslashes or control characters{example}");
        diag.error(&name, message);
    }
    Ok(name)
}
