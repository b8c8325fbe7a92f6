//! Constraints of a parameter: `range`, `length`, `pattern` and others.

use super::reader::{each_argument, list, string, ungrouped, unknown_argument, value};
use crate::diag::{Diag, hint};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use regex_lite::Regex;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{
    Expr, ExprLit, ExprRange, ExprUnary, Generics, Lit, LitInt, LitStr, RangeLimits, UnOp, parenthesized,
};

/// The string formats that the runtime can validate.
const FORMATS: &[&str] =
    &["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"];

/// The constraints of a parameter, or of the items of a list.
#[derive(Default)]
pub(crate) struct Constraints {
    /// Generated statements that call methods of the runtime's `Constraints`.
    pub(crate) calls: TokenStream,
    /// The runtime functions that assert that a type supports the constraints, such as `is_number`, each
    /// at its constraint.
    assertions: Vec<Ident>,
    items: Option<Box<Self>>,
    range: (Option<f64>, Option<f64>),
    length: (Option<u64>, Option<u64>),
    pattern: Option<Regex>,
    one_of: Vec<String>,
}

impl Constraints {
    pub(crate) const KNOWN: &'static [&'static str] =
        &["range", "length", "pattern", "multiple_of", "format", "one_of", "items", "examples", "deprecated"];

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Parses the value of the argument called `key`. Returns `false` if it is no constraint.
    pub(crate) fn parse(
        &mut self,
        key: &Ident,
        input: ParseStream<'_>,
        diag: &mut Diag,
    ) -> syn::Result<bool> {
        match key.to_string().as_str() {
            "range" => self.parse_range(key, ungrouped(&value(input)?), diag),
            "length" => self.parse_length(key, ungrouped(&value(input)?), diag),
            "pattern" => self.parse_pattern(key, &string(input)?, diag),
            "format" => self.parse_format(key, &string(input)?, diag),
            "multiple_of" => {
                let step: Expr = value(input)?;
                if number(&step).is_some_and(|step| step <= 0.0) {
                    diag.error(&step, "`multiple_of` must be greater than 0");
                }
                self.assert("is_number", key);
                let literal = wide([&step]);
                self.call(quote!(multiple_of(#(#literal)*)));
            }
            "one_of" => {
                let values = list(input)?;
                if values.is_empty() {
                    diag.error(key, "`one_of` allows no value; add at least one");
                }
                self.one_of = values.iter().map(|value| value.to_token_stream().to_string()).collect();
                let literals = wide(&values);
                self.call(quote!(one_of([#(#literals),*])));
            }
            "examples" => {
                let values = list(input)?;
                if values.is_empty() {
                    diag.error(key, "`examples` is empty; remove it");
                }
                let literals = wide(&values);
                self.call(quote!(examples([#(#literals),*])));
            }
            "deprecated" => self.call(quote!(deprecated())),
            "items" => self.parse_items(key, input, diag)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn parse_range(&mut self, key: &Ident, range: &Expr, diag: &mut Diag) {
        let Expr::Range(ExprRange { start, end, limits, .. }) = range else {
            diag.error(range, "expected a range, as in `1..=50`, `1..` or `..=50`");
            return;
        };
        if start.is_none() && end.is_none() {
            diag.error(key, "`range` has no bounds; write at least one, as in `1..`");
        }
        let is_open = matches!(limits, RangeLimits::HalfOpen(_));
        self.range = (start.as_deref().and_then(number), end.as_deref().and_then(number));
        if let (Some(min), Some(max)) = self.range
            && (min > max || (min >= max && is_open))
        {
            diag.error(quote!(#start #limits #end), "`range` contains no number; widen it");
        }
        self.assert("is_number", key);
        let maximum = if is_open { quote!(exclusive_maximum) } else { quote!(maximum) };
        for (method, bound) in [(quote!(minimum), start), (maximum, end)] {
            let bound = wide(bound.as_deref());
            if !bound.is_empty() {
                self.call(quote!(#method(#(#bound)*)));
            }
        }
    }

    fn parse_length(&mut self, key: &Ident, length: &Expr, diag: &mut Diag) {
        let (start, end, excluded) = match length {
            Expr::Range(ExprRange { start, end, limits, .. }) => {
                let is_open = matches!(limits, RangeLimits::HalfOpen(_));
                (start.as_deref(), end.as_deref(), u64::from(is_open))
            }
            exact => (Some(exact), Some(exact), 0),
        };
        let min = length_bound(start, 0, diag);
        let max = length_bound(end, excluded, diag);
        if min.zip(max).is_some_and(|(min, max)| min > max) {
            diag.error(length, "`length` allows no value; widen it");
        }
        self.length = (min, max);
        self.assert("is_countable", key);
        if let Some(min) = min {
            self.call(quote!(min_length(#min)));
        }
        if let Some(max) = max {
            self.call(quote!(max_length(#max)));
        }
    }

    fn parse_pattern(&mut self, key: &Ident, pattern: &LitStr, diag: &mut Diag) {
        match Regex::new(&pattern.value()) {
            Ok(regex) => self.pattern = Some(regex),
            Err(error) => {
                let error = error.to_string();
                diag.error(pattern, format!("`pattern` is not a valid regular expression: {}", error.trim()));
            }
        }
        self.assert("is_text", key);
        self.call(quote!(pattern(#pattern)));
    }

    fn parse_format(&mut self, key: &Ident, format: &LitStr, diag: &mut Diag) {
        let name = format.value();
        if !FORMATS.contains(&name.as_str()) {
            diag.error(format, format!("format `{name}` is not supported{}", hint(&name, FORMATS)));
        }
        self.assert("is_text", key);
        self.call(quote!(format(#format)));
    }

    fn parse_items(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        let arguments;
        parenthesized!(arguments in input);
        if arguments.is_empty() {
            diag.error(key, "`items` is empty; remove it");
        }
        let mut items = Self::default();
        let tokens = arguments.parse()?;
        each_argument(tokens, &mut Vec::new(), diag, |key, input, diag| items.parse_item(key, input, diag));
        let calls = &items.calls;
        self.assert("has_items", key);
        self.call(quote!(items(|__constraints| { #calls })));
        self.items = Some(Box::new(items));
        Ok(())
    }

    fn parse_item(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        if !self.parse(key, input, diag)? {
            return Err(unknown_argument("items", key, Self::KNOWN));
        }
        Ok(())
    }

    /// Reports an error if `default` is a literal that violates the constraints.
    pub(crate) fn check_default(&self, default: &Expr, diag: &mut Diag) {
        let (min, max) = self.range;
        if let Some(number) = number(default)
            && (min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max))
        {
            diag.error(default, "`default` is outside of `range`");
        }
        let Expr::Lit(ExprLit { lit, .. }) = default else { return };
        if let Lit::Str(text) = lit {
            let value = text.value();
            let count = value.chars().count() as u64;
            let (min, max) = self.length;
            if min.is_some_and(|min| count < min) || max.is_some_and(|max| count > max) {
                diag.error(default, format!("`default` has {count} characters, outside of `length`"));
            }
            if self.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&value)) {
                diag.error(default, "`default` does not match `pattern`");
            }
        }
        if !self.one_of.is_empty() && !self.one_of.contains(&lit.to_token_stream().to_string()) {
            diag.error(default, format!("`default` is not one of {}", self.one_of.join(", ")));
        }
    }

    /// Generates compile-time assertions that `ty` supports the constraints.
    pub(crate) fn assertions(&self, ty: &TokenStream, generics: &Generics) -> Vec<TokenStream> {
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let mut assertions = Vec::new();
        for name in &self.assertions {
            let assertion = quote_spanned!(name.span()=> fn() = __toolkit::#name::<#ty>;);
            if generics.params.is_empty() {
                assertions.push(quote!(const _: #assertion));
                continue;
            }
            // A constant cannot be generic, but a function inside it can.
            assertions.push(quote! {
                const _: () = {
                    fn __assertion #impl_generics() #where_clause { let _: #assertion }
                };
            });
        }
        if let Some(items) = &self.items {
            let item = quote_spanned!(ty.span()=> <#ty as __toolkit::Items>::Item);
            assertions.extend(items.assertions(&item, generics));
        }
        assertions
    }

    fn assert(&mut self, function: &str, key: &Ident) {
        self.assertions.push(Ident::new(function, key.span()));
    }

    fn call(&mut self, call: TokenStream) {
        self.calls.extend(quote_spanned!(call.span()=> __constraints.#call;));
    }
}

/// Returns the value of a number literal, perhaps with a minus sign.
fn number(expr: &Expr) -> Option<f64> {
    match ungrouped(expr) {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        _ => None,
    }
}

/// Returns an integer literal without a suffix, and whether it is negative.
fn unsuffixed(expr: &Expr) -> Option<(bool, &LitInt)> {
    match ungrouped(expr) {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.suffix().is_empty() => {
            Some((false, number))
        }
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => {
            unsuffixed(expr).map(|(_, number)| (true, number))
        }
        _ => None,
    }
}

/// Adds a type suffix to all integer literals if one is beyond `i32`, the type of a literal without a
/// suffix.
fn wide<'e>(values: impl IntoIterator<Item = &'e Expr>) -> Vec<TokenStream> {
    let values: Vec<&Expr> = values.into_iter().collect();
    let literals: Vec<(bool, &LitInt)> =
        values.iter().map(|value| unsuffixed(value)).collect::<Option<_>>().unwrap_or_default();
    let suffix = if any_exceeds(&literals, i64::MAX.unsigned_abs()) {
        "u64"
    } else if any_exceeds(&literals, i32::MAX.unsigned_abs().into()) {
        "i64"
    } else {
        return values.iter().map(ToTokens::to_token_stream).collect();
    };
    let mut suffixed = Vec::with_capacity(literals.len());
    for (is_negative, literal) in literals {
        let number = LitInt::new(&format!("{}{suffix}", literal.token()), literal.span());
        suffixed.push(if is_negative { quote!(-#number) } else { quote!(#number) });
    }
    suffixed
}

/// Returns whether a literal is larger than `limit`, or larger by more than one if it is negative.
fn any_exceeds(literals: &[(bool, &LitInt)], limit: u64) -> bool {
    for (is_negative, literal) in literals {
        match literal.base10_parse::<u64>() {
            Ok(number) if number <= limit + u64::from(*is_negative) => {}
            _ => return true,
        }
    }
    false
}

/// Returns the number of items of a bound of `length`, or reports another bound.
fn length_bound(bound: Option<&Expr>, excluded: u64, diag: &mut Diag) -> Option<u64> {
    let expr = bound?;
    let count = integer(expr).and_then(|count| count.checked_sub(excluded));
    if count.is_none() {
        diag.error(expr, "`length` needs non-negative integers, as in `1..=80`");
    }
    count
}

fn integer(expr: &Expr) -> Option<u64> {
    match ungrouped(expr) {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}
