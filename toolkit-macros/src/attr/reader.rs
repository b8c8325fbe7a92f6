//! Parsers for lists of `key = value` arguments.

use super::CratePath;
use super::neighbours::advice;
use crate::diag::{Diag, hint};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::time::Duration;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::token::{Brace, Paren};
use syn::{Expr, ExprLit, Lit, LitBool, LitStr, Path, Token, parenthesized};

/// Adds each key to `seen`, and lets `parse` read the tokens after it.
///
/// After an error, the next argument follows, so all errors are reported.
pub(super) fn each_argument(
    tokens: TokenStream,
    seen: &mut Vec<Ident>,
    diag: &mut Diag,
    mut parse: impl FnMut(&Ident, ParseStream<'_>, &mut Diag) -> syn::Result<()>,
) {
    let parsed =
        Parser::parse2(|input: ParseStream<'_>| all_arguments(input, seen, diag, &mut parse), tokens);
    if let Err(error) = parsed {
        diag.push(error);
    }
}

fn all_arguments(
    input: ParseStream<'_>,
    seen: &mut Vec<Ident>,
    diag: &mut Diag,
    parse: &mut impl FnMut(&Ident, ParseStream<'_>, &mut Diag) -> syn::Result<()>,
) -> syn::Result<()> {
    while !input.is_empty() {
        if let Err(error) = one_argument(input, seen, diag, parse) {
            diag.push(error);
            skip_argument(input);
        }
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

fn one_argument(
    input: ParseStream<'_>,
    seen: &mut Vec<Ident>,
    diag: &mut Diag,
    parse: &mut impl FnMut(&Ident, ParseStream<'_>, &mut Diag) -> syn::Result<()>,
) -> syn::Result<()> {
    const NO_NAME: &str = "expected a name and a value, as in `name = \"x\"`";
    let key = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), NO_NAME))?;
    if seen.contains(&key) && key != "alias" {
        diag.error(&key, format!("`{key}` is given twice; keep one"));
    }
    seen.push(key.clone());
    parse(&key, input, diag)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    if input.peek(Paren) {
        return Err(input.error(format!("expected `,`; a value is written as `{key} = …`")));
    }
    Err(input.error("expected `,`"))
}

fn skip_argument(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// Returns the error for an unknown argument, with suggestions from `known`.
pub(super) fn unknown_argument(attribute: &str, key: &Ident, known: &[&str]) -> syn::Error {
    let word = key.to_string();
    let hint = match advice(attribute, &word) {
        Some(advice) => format!("; {advice}"),
        None => hint(&word, known),
    };
    syn::Error::new(key.span(), format!("`{attribute}` has no argument `{key}`{hint}"))
}

pub(super) fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

pub(super) fn string(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    let mut expected = "expected a string literal".to_owned();
    if let Ok(word) = input.fork().parse::<Ident>() {
        expected.push_str(&format!("; write `\"{word}\"`"));
    }
    input.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), expected))
}

/// Parses `= expr`, such as a string literal, a constant or `concat!`.
pub(super) fn text(input: ParseStream<'_>) -> syn::Result<Expr> {
    one_text(value(input)?)
}

fn one_text(expr: Expr) -> syn::Result<Expr> {
    match ungrouped(&expr) {
        Expr::Lit(_) if only_string(&expr).is_none() => {
            Err(syn::Error::new_spanned(expr, "expected a string"))
        }
        _ => Ok(expr),
    }
}

/// Returns the value of a string literal.
pub(crate) fn only_string(expr: &Expr) -> Option<String> {
    match ungrouped(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Removes parentheses, and the invisible groups that other macros put around `$x:expr`.
pub(crate) fn ungrouped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungrouped(&group.expr),
        Expr::Paren(paren) => ungrouped(&paren.expr),
        expr => expr,
    }
}

/// Parses `= path` or, as in serde, `= "path"`.
pub(super) fn path(input: ParseStream<'_>) -> syn::Result<CratePath> {
    input.parse::<Token![=]>()?;
    let path = if input.peek(LitStr) {
        input.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?
    } else {
        input.call(Path::parse_mod_style)?
    };
    Ok(CratePath(path.into_token_stream()))
}

pub(super) fn duration(input: ParseStream<'_>) -> syn::Result<Duration> {
    let given: Expr = value(input)?;
    let duration = only_string(&given).as_deref().and_then(parse_duration);
    let message = r#"`timeout` needs a positive number and a unit, as in "5s", "500ms" or "2m", or "none""#;
    duration.ok_or_else(|| syn::Error::new_spanned(given, message))
}

/// Parses a duration, where `none` is [`Duration::MAX`].
fn parse_duration(text: &str) -> Option<Duration> {
    if text == "none" {
        return Some(Duration::MAX);
    }
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let seconds_per_unit = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * seconds_per_unit;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero())
}

/// Parses a flag: `= true`, `= false`, or nothing for `true`.
pub(super) fn flag(input: ParseStream<'_>) -> syn::Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    let flag: syn::Result<LitBool> = value(input);
    flag.map(|flag| flag.value).map_err(|error| syn::Error::new(error.span(), "expected `true` or `false`"))
}

/// Parses `("a", B)`, `= ["a", B]` or `= "a"`.
pub(super) fn texts(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let texts: Vec<Expr> = if input.peek(Token![=]) {
        if input.peek2(Brace) {
            return Err(input.error("expected a list, as in `[\"a\", \"b\"]`"));
        }
        let value: Expr = value(input)?;
        match ungrouped(&value) {
            Expr::Array(array) => array.elems.iter().cloned().collect(),
            _ => vec![value],
        }
    } else {
        let list;
        parenthesized!(list in input);
        Punctuated::<Expr, Token![,]>::parse_terminated(&list)?.into_iter().collect()
    };
    texts.into_iter().map(one_text).collect()
}

/// Parses `= [expr, expr]`.
pub(super) fn list(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    match ungrouped(&value(input)?) {
        Expr::Array(array) => Ok(array.elems.iter().cloned().collect()),
        other => Err(syn::Error::new_spanned(other, "expected a list, as in `[1, 2]`")),
    }
}

/// Parses `(name = expr, name = expr)`.
pub(super) fn pairs(input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<Vec<(Ident, Expr)>> {
    let list;
    parenthesized!(list in input);
    let mut pairs = Vec::new();
    each_argument(list.parse()?, &mut Vec::new(), diag, |name, input, _| add_pair(&mut pairs, name, input));
    Ok(pairs)
}

fn add_pair(pairs: &mut Vec<(Ident, Expr)>, name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    pairs.push((name.clone(), value(input)?));
    Ok(())
}
