//! Reading `key = value` lists, mistake by mistake.

use crate::diag::Diag;
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::time::Duration;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, LitBool, LitInt, LitStr, Path, Token, parenthesized};

/// Reads `key …, key …`. A mistake in one argument does not hide those in the next.
pub(super) fn each_argument(
    tokens: TokenStream,
    diag: &mut Diag,
    mut read: impl FnMut(&Ident, ParseStream<'_>, &mut Diag) -> syn::Result<()>,
) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let key = Ident::parse_any(input).map_err(|error| {
                syn::Error::new(error.span(), "expected a name and a value, as in `name = \"x\"`")
            });
            let argument = key.and_then(|key| read(&key, input, diag));
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

pub(super) fn set<T>(place: &mut Option<T>, key: &Ident, value: T, diag: &mut Diag) {
    if place.replace(value).is_some() {
        diag.error(key, format!("`{key}` is given twice"));
    }
}

pub(super) fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

pub(super) fn text(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), "expected a text in quotes"))
}

/// The expression without the invisible parentheses that other macros put around `$x:expr`.
pub(super) fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungrouped(*group.expr),
        expr => expr,
    }
}

/// `path`, or the path in quotes as serde has it.
pub(super) fn path(input: ParseStream<'_>) -> syn::Result<Path> {
    input.parse::<Token![=]>()?;
    match input.peek(LitStr) {
        true => input.parse::<LitStr>()?.parse_with(Path::parse_mod_style),
        false => input.call(Path::parse_mod_style),
    }
}

pub(super) fn duration(input: ParseStream<'_>) -> syn::Result<Duration> {
    input.parse::<Token![=]>()?;
    let literal: Lit = input.parse()?;
    let text = if let Lit::Str(text) = &literal { text.value() } else { String::new() };
    read_duration(&text).ok_or_else(|| {
        syn::Error::new(
            literal.span(),
            r#"a time limit is a number above 0 and a unit, as in "5s", "500ms" or "2m"; "none" is no limit"#,
        )
    })
}

/// No limit is one that never ends.
fn read_duration(text: &str) -> Option<Duration> {
    if text == "none" {
        return Some(Duration::MAX);
    }
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

/// `key` for yes, or `key = true` and `key = false`.
pub(super) fn flag(input: ParseStream<'_>) -> syn::Result<bool> {
    if input.peek(Token![=]) { value::<LitBool>(input).map(|flag| flag.value) } else { Ok(true) }
}

/// `key = 5`, without a sign.
pub(super) fn number(input: ParseStream<'_>) -> syn::Result<LitInt> {
    value(input)
}

/// `key("a", "b")`, or `key = "a"`.
pub(super) fn texts(input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    if input.peek(Token![=]) {
        return text(input).map(|only| vec![only]);
    }
    let list;
    parenthesized!(list in input);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

/// `key = [expr, expr]`.
pub(super) fn list(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    match ungrouped(value(input)?) {
        Expr::Array(array) => Ok(array.elems.into_iter().collect()),
        other => Err(syn::Error::new_spanned(other, "expected a list, as in `[1, 2]`")),
    }
}

/// `key(name = expr, name = expr)`.
pub(super) fn pairs(input: ParseStream<'_>) -> syn::Result<Vec<(Ident, Expr)>> {
    let list;
    parenthesized!(list in input);
    let pair = |input: ParseStream<'_>| Ok((Ident::parse_any(input)?, value(input)?));
    Ok(list.parse_terminated(pair, Token![,])?.into_iter().collect())
}
