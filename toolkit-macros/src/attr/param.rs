//! What stands in `#[param(…)]`.

use super::constraint::Constraints;
use super::reader::{each_argument, set, text, value};
use crate::diag::{Diag, hint};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token};

/// The arguments of all `#[param(…)]` attributes of one parameter or field.
#[derive(Default)]
pub(crate) struct ParamAttr {
    pub(crate) default: Option<DefaultAttr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) flatten: Option<Ident>,
    pub(crate) constraints: Constraints,
}

/// `default` or `default = expr`.
#[derive(Clone)]
pub(crate) enum DefaultAttr {
    OfType(Ident),
    Value(Box<Expr>),
}

impl DefaultAttr {
    /// The expression as its author wrote it, nearly.
    pub(crate) fn source(&self) -> String {
        match self {
            Self::OfType(_) => "that of its type".to_owned(),
            Self::Value(value) => value.to_token_stream().to_string().replace(" :: ", "::"),
        }
    }

    /// A literal text is what people write as the default of a `String`.
    pub(crate) fn is_text(&self) -> bool {
        fn is_text(value: &Expr) -> bool {
            match value {
                Expr::Group(group) => is_text(&group.expr),
                Expr::Paren(paren) => is_text(&paren.expr),
                value => matches!(value, Expr::Lit(ExprLit { lit: Lit::Str(_), .. })),
            }
        }
        matches!(self, Self::Value(value) if is_text(value))
    }
}

impl ParamAttr {
    const KNOWN: &'static [&'static str] = &["default", "description", "rename", "alias", "flatten"];

    pub(crate) fn read(attrs: &[Attribute], diag: &mut Diag) -> Self {
        let mut read = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("param")) {
            match &attr.meta {
                Meta::List(list) => read.read_arguments(list.tokens.clone(), diag),
                Meta::Path(_) | Meta::NameValue(_) => {
                    diag.error(attr, "write the arguments in parentheses, as in `#[param(default = 5)]`");
                }
            }
        }
        if let Some(DefaultAttr::Value(default)) = &read.default {
            read.constraints.check_default(default, diag);
        }
        read
    }

    /// Whether nothing is said but `flatten`.
    pub(crate) fn is_only_flatten(&self) -> bool {
        let Self { default, description, rename, aliases, flatten: _, constraints } = self;
        let named = rename.is_some() || !aliases.is_empty();
        default.is_none() && description.is_none() && !named && constraints.is_empty()
    }

    /// Whether nothing at all is said.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_only_flatten() && self.flatten.is_none()
    }

    fn read_arguments(&mut self, tokens: TokenStream, diag: &mut Diag) {
        each_argument(tokens, diag, |key, input, diag| self.read_argument(key, input, diag));
    }

    fn read_argument(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
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
            other => {
                if !self.constraints.read(key, input, diag)? {
                    let known = [Self::KNOWN, Constraints::KNOWN].concat();
                    let hint = hint(other, &known);
                    let message = format!("`#[param]` has no argument `{other}`{hint}");
                    return Err(syn::Error::new(key.span(), message));
                }
            }
        }
        Ok(())
    }
}

/// The name of a parameter. It is compared with the text of a call, where these characters stand escaped.
fn name(input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<LitStr> {
    let name = text(input)?;
    let is_escaped = |c: char| matches!(c, '"' | '\\') || c.is_control();
    if name.value().contains(is_escaped) {
        let plain = name.value().trim_matches(is_escaped).replace(is_escaped, "_");
        let example = if plain.is_empty() { String::new() } else { format!("; write for example {plain:?}") };
        let message = format!(
            "the name of a parameter cannot have quotes, backslashes or control characters, which JSON escapes{example}"
        );
        diag.error(&name, message);
    }
    Ok(name)
}
