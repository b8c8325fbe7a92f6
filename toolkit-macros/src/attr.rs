//! What stands in `#[tool(…)]` and `#[param(…)]`.

use crate::diag::{Diag, hint};
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::time::Duration;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, LitStr, Meta, Path, Token};

/// The arguments of `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct ToolAttr {
    pub(crate) name: Option<LitStr>,
    pub(crate) namespace: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) krate: Option<Path>,
    pub(crate) timeout: Option<Duration>,
}

impl ToolAttr {
    const KNOWN: &'static [&'static str] = &["name", "namespace", "description", "timeout", "crate"];

    pub(crate) fn read(tokens: TokenStream, diag: &mut Diag) -> Self {
        let mut attr = Self::default();
        each_argument(tokens, diag, |key, input, diag| {
            match key.to_string().as_str() {
                "name" => set(&mut attr.name, key, text(input)?, diag),
                "namespace" => set(&mut attr.namespace, key, text(input)?, diag),
                "description" => set(&mut attr.description, key, text(input)?, diag),
                "timeout" => set(&mut attr.timeout, key, duration(input)?, diag),
                "crate" => set(&mut attr.krate, key, path(input)?, diag),
                other => {
                    let hint = hint(other, Self::KNOWN);
                    return Err(syn::Error::new(
                        key.span(),
                        format!("`#[tool]` has no argument `{other}`{hint}"),
                    ));
                }
            }
            Ok(())
        });
        attr
    }
}

/// The arguments of all `#[param(…)]` attributes of one parameter.
#[derive(Default)]
pub(crate) struct ParamAttr {
    pub(crate) default: Option<DefaultAttr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) aliases: Vec<LitStr>,
}

/// `default` or `default = expr`.
#[derive(Clone)]
pub(crate) enum DefaultAttr {
    OfType(Ident),
    Value(Box<Expr>),
}

impl ParamAttr {
    const KNOWN: &'static [&'static str] = &["default", "description", "rename", "alias"];

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
        read
    }

    fn read_arguments(&mut self, tokens: TokenStream, diag: &mut Diag) {
        each_argument(tokens, diag, |key, input, diag| {
            match key.to_string().as_str() {
                "default" => {
                    let value = match input.peek(Token![=]) {
                        true => DefaultAttr::Value(Box::new(value(input)?)),
                        false => DefaultAttr::OfType(key.clone()),
                    };
                    set(&mut self.default, key, value, diag);
                }
                "description" => set(&mut self.description, key, text(input)?, diag),
                "rename" => set(&mut self.rename, key, text(input)?, diag),
                "alias" => self.aliases.push(text(input)?),
                other => {
                    let hint = hint(other, Self::KNOWN);
                    return Err(syn::Error::new(
                        key.span(),
                        format!("`#[param]` has no argument `{other}`{hint}"),
                    ));
                }
            }
            Ok(())
        });
    }
}

/// Reads `key …, key …`. A mistake in one argument does not hide those in the next.
fn each_argument(
    tokens: TokenStream,
    diag: &mut Diag,
    mut read: impl FnMut(&Ident, ParseStream<'_>, &mut Diag) -> syn::Result<()>,
) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let argument = Ident::parse_any(input).and_then(|key| read(&key, input, diag));
            let argument = argument.and_then(|()| end_of_argument(input));
            if let Err(error) = argument {
                diag.push(error);
                skip_argument(input);
            }
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        diag.push(error);
    }
}

fn end_of_argument(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) { Ok(()) } else { Err(input.error("expected `,`")) }
}

fn skip_argument(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

fn set<T>(place: &mut Option<T>, key: &Ident, value: T, diag: &mut Diag) {
    if place.replace(value).is_some() {
        diag.error(key, format!("`{key}` is given twice"));
    }
}

fn value<T: syn::parse::Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn text(input: ParseStream<'_>) -> syn::Result<LitStr> {
    value(input)
}

/// `path`, or the path in quotes as serde has it.
fn path(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![=]>()?;
    match input.peek(LitStr) {
        true => input.parse::<LitStr>()?.parse_with(Path::parse_mod_style),
        false => input.call(Path::parse_mod_style),
    }
}

fn duration(input: ParseStream<'_>) -> syn::Result<Duration> {
    let literal = text(input)?;
    read_duration(&literal.value()).ok_or_else(|| {
        syn::Error::new(
            literal.span(),
            r#"a time limit is a number above 0 and a unit, as in "5s", "500ms" or "2m""#,
        )
    })
}

fn read_duration(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * seconds;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}
