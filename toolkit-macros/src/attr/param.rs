//! The attribute `#[param(…)]`.

use super::constraint::Constraints;
use super::reader::{each_argument, set, string, text, ungrouped, unknown_argument, value};
use crate::diag::Diag;
use crate::item::only_argument;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Token, Type};

/// The arguments of all `#[param(…)]` attributes of a parameter or field.
#[derive(Default)]
pub(crate) struct ParamAttr {
    pub(crate) default: Option<DefaultAttr>,
    pub(crate) description: Option<Expr>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) flatten: Option<Ident>,
    pub(crate) constraints: Constraints,
}

/// `default` or `default = expr`.
pub(crate) enum DefaultAttr {
    OfType(Ident),
    Value(Box<Expr>),
}

impl DefaultAttr {
    /// Returns the default as an expression of the type `ty`.
    pub(crate) fn expr(&self, ty: &Type) -> TokenStream {
        match self {
            Self::OfType(key) => quote_spanned!(key.span()=> <#ty as ::core::default::Default>::default()),
            // The conversion lets `default = "x"` fit a `String`.
            Self::Value(value) if matches!(ungrouped(value), Expr::Lit(ExprLit { lit: Lit::Str(_), .. })) => {
                quote_spanned!(value.span()=> ::core::convert::Into::into(#value))
            }
            Self::Value(value) => quote!(#value),
        }
    }

    /// Generates an expression of type `Option<Value>`: the default as JSON. `value` is the expression of the default.
    pub(crate) fn json(&self, ty: &Type, value: &TokenStream) -> TokenStream {
        let is_empty = |container| matches!(self, Self::OfType(_)) && only_argument(ty, container).is_some();
        // The type inside of an empty value need not be `Serialize`.
        let value = match () {
            () if is_empty("Vec") => &quote!(::std::vec::Vec::<()>::new()),
            () if is_empty("Option") => &quote!(::core::option::Option::<()>::None),
            () => value,
        };
        quote_spanned!(self.span()=> __toolkit::default_value(#value).to_value())
    }

    /// Returns the span for errors about the value.
    fn span(&self) -> Span {
        match self {
            Self::OfType(key) => key.span(),
            Self::Value(value) => value.span(),
        }
    }
}

impl ParamAttr {
    const KNOWN: &'static [&'static str] = &["default", "description", "rename", "alias", "flatten"];

    /// Returns the names of all arguments.
    pub(crate) fn known() -> Vec<&'static str> {
        [Self::KNOWN, Constraints::KNOWN].concat()
    }

    pub(crate) fn parse(attrs: &[Attribute], diag: &mut Diag) -> Self {
        let mut parsed = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("param")) {
            match attr.meta.require_list() {
                Ok(list) => each_argument(list.tokens.clone(), diag, |key, input, diag| {
                    parsed.parse_argument(key, input, diag)
                }),
                Err(_) => diag.error(attr, "`#[param]` needs parentheses, as in `#[param(default = 5)]`"),
            }
        }
        if let Some(DefaultAttr::Value(default)) = &parsed.default {
            parsed.constraints.check_default(default, diag);
        }
        parsed
    }

    /// Returns `true` if there is no argument except `flatten`.
    pub(crate) fn is_only_flatten(&self) -> bool {
        let Self { default, description, rename, aliases, flatten: _, constraints } = self;
        let is_named = rename.is_some() || !aliases.is_empty();
        default.is_none() && description.is_none() && !is_named && constraints.is_empty()
    }

    /// Returns `true` if there is no argument.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_only_flatten() && self.flatten.is_none()
    }

    fn parse_argument(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        match key.to_string().as_str() {
            "default" => {
                let value = match input.peek(Token![=]) {
                    true => DefaultAttr::Value(Box::new(value(input)?)),
                    false => DefaultAttr::OfType(key.clone()),
                };
                set(&mut self.default, key, value, diag);
            }
            "description" => set(&mut self.description, key, text(input)?, diag),
            "rename" => set(&mut self.rename, key, name(input, diag)?, diag),
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

/// Parses the name of a parameter.
///
/// Names with quotes, backslashes or control characters are refused. JSON escapes these characters, but names
/// are compared with the unparsed text of a call.
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
