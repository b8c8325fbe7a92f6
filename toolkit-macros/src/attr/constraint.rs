//! Constraints of a parameter: `range`, `length`, `pattern` and so on.

use super::reader::{list, text, ungrouped, value};
use crate::diag::{Diag, hint};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use regex_lite::Regex;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprRange, ExprUnary, Lit, LitStr, RangeLimits, Token, UnOp, parenthesized};

/// The formats that the core checks.
const FORMATS: &[&str] =
    &["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"];

/// The constraints of one parameter, or of the items of one.
#[derive(Default)]
pub(crate) struct Constraints {
    /// Calls of the methods of `Constraints` in the core, each a statement.
    pub(crate) calls: TokenStream,
    /// What the type must be for these constraints, and the word that demands it.
    demands: Vec<(Demand, Ident)>,
    items: Option<Box<Self>>,
    range: (Option<f64>, Option<f64>),
    length: (Option<u64>, Option<u64>),
    pattern: Option<Regex>,
    one_of: Vec<String>,
}

/// What a type must be written as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    Number,
    Text,
    Countable,
    Items,
}

impl Constraints {
    pub(crate) const KNOWN: &'static [&'static str] =
        &["range", "length", "pattern", "multiple_of", "format", "one_of", "items", "examples", "deprecated"];

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Reads one constraint; `false` if the key is none.
    pub(crate) fn read(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<bool> {
        match key.to_string().as_str() {
            "range" => self.read_range(key, ungrouped(value(input)?), diag),
            "length" => self.read_length(key, ungrouped(value(input)?), diag),
            "pattern" => self.read_pattern(key, &text(input)?, diag),
            "format" => self.read_format(key, &text(input)?, diag),
            "multiple_of" => {
                let step: Expr = value(input)?;
                if number(&step).is_some_and(|step| step <= 0.0) {
                    diag.error(&step, "every number is a multiple of something above 0");
                }
                self.demand(Demand::Number, key);
                self.call(quote!(multiple_of(#step)));
            }
            "one_of" => {
                let values = list(input)?;
                if values.is_empty() {
                    diag.error(key, "no value would be allowed");
                }
                self.one_of = values.iter().map(|value| value.to_token_stream().to_string()).collect();
                self.call(quote!(one_of([#(#values),*])));
            }
            "examples" => {
                let values = list(input)?;
                self.call(quote!(examples([#(#values),*])));
            }
            "deprecated" => self.call(quote!(deprecated())),
            "items" => self.read_items(key, input, diag)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_range(&mut self, key: &Ident, range: Expr, diag: &mut Diag) {
        let Expr::Range(ExprRange { start, end, limits, .. }) = range else {
            diag.error(range, "expected a range, as in `1..=50`, `1..` or `..=50`");
            return;
        };
        if start.is_none() && end.is_none() {
            diag.error(key, "a range needs a bound");
        }
        self.range = (start.as_deref().and_then(number), end.as_deref().and_then(number));
        if let (Some(least), Some(most)) = self.range
            && (least > most || (least >= most && matches!(limits, RangeLimits::HalfOpen(_))))
        {
            diag.error(quote!(#start #limits #end), "no number is in this range");
        }
        self.demand(Demand::Number, key);
        if let Some(start) = start {
            self.call(quote!(minimum(#start)));
        }
        match (end, limits) {
            (Some(end), RangeLimits::Closed(_)) => self.call(quote!(maximum(#end))),
            (Some(end), RangeLimits::HalfOpen(_)) => self.call(quote!(exclusive_maximum(#end))),
            (None, _) => {}
        }
    }

    fn read_length(&mut self, key: &Ident, length: Expr, diag: &mut Diag) {
        let (least, most) = match &length {
            Expr::Range(ExprRange { start, end, limits, .. }) => {
                let open = u64::from(matches!(limits, RangeLimits::HalfOpen(_)));
                let end = end.as_deref().map(|end| (end, open));
                (start.as_deref().map(|start| (start, 0)), end)
            }
            exact => (Some((exact, 0)), Some((exact, 0))),
        };
        let mut read = |bound: Option<(&Expr, u64)>| {
            let (expr, less) = bound?;
            let count = whole_number(expr).and_then(|count| count.checked_sub(less));
            if count.is_none() {
                diag.error(expr, "a length is a whole number");
            }
            count
        };
        self.length = (read(least), read(most));
        if let (Some(least), Some(most)) = self.length
            && least > most
        {
            diag.error(&length, "nothing has this length");
        }
        self.demand(Demand::Countable, key);
        let (least, most) = self.length;
        if let Some(least) = least {
            self.call(quote!(min_length(#least)));
        }
        if let Some(most) = most {
            self.call(quote!(max_length(#most)));
        }
    }

    fn read_pattern(&mut self, key: &Ident, pattern: &LitStr, diag: &mut Diag) {
        match Regex::new(&pattern.value()) {
            Ok(regex) => self.pattern = Some(regex),
            Err(error) => {
                let said = error.to_string();
                diag.error(pattern, format!("not a regular expression: {}", said.trim()));
            }
        }
        self.demand(Demand::Text, key);
        self.call(quote!(pattern(#pattern)));
    }

    fn read_format(&mut self, key: &Ident, format: &LitStr, diag: &mut Diag) {
        let name = format.value();
        if !FORMATS.contains(&name.as_str()) {
            diag.error(format, format!("there is no check for the format `{name}`{}", hint(&name, FORMATS)));
        }
        self.demand(Demand::Text, key);
        self.call(quote!(format(#format)));
    }

    fn read_items(&mut self, key: &Ident, input: ParseStream<'_>, diag: &mut Diag) -> syn::Result<()> {
        let content;
        parenthesized!(content in input);
        let mut items = Self::default();
        let known: Vec<&str> = Self::KNOWN.iter().copied().filter(|known| *known != "deprecated").collect();
        while !content.is_empty() {
            let key: Ident = content.parse()?;
            if !items.read(&key, &content, diag)? {
                // What follows is of an argument that does not exist.
                content.parse::<TokenStream>()?;
                let hint = hint(&key.to_string(), &known);
                return Err(syn::Error::new(key.span(), format!("items have no constraint `{key}`{hint}")));
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        let calls = &items.calls;
        self.demand(Demand::Items, key);
        self.call(quote!(items(|__constraints| { #calls })));
        self.items = Some(Box::new(items));
        Ok(())
    }

    /// A default that the constraints refuse could never be written by the model.
    pub(crate) fn check_default(&self, default: &Expr, diag: &mut Diag) {
        let (least, most) = self.range;
        if let Some(number) = number(default)
            && (least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most))
        {
            diag.error(default, "the default is outside the range");
        }
        if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = default {
            let value = text.value();
            let count = value.chars().count() as u64;
            let (least, most) = self.length;
            if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
                diag.error(
                    default,
                    format!("the default has {count} characters, which `length` does not allow"),
                );
            }
            if self.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&value)) {
                diag.error(default, "the default does not match the pattern");
            }
        }
        let is_literal = matches!(default, Expr::Lit(_));
        if is_literal
            && !self.one_of.is_empty()
            && !self.one_of.contains(&default.to_token_stream().to_string())
        {
            diag.error(default, format!("the default is not one of {}", self.one_of.join(", ")));
        }
    }

    /// Has the compiler look whether a type is what its constraints are for. Nothing is ever run.
    pub(crate) fn assertions(&self, ty: &TokenStream) -> Vec<TokenStream> {
        let mut assertions: Vec<TokenStream> = Vec::new();
        for (demand, key) in &self.demands {
            let assertion = match demand {
                Demand::Number => "is_number",
                Demand::Text => "is_text",
                Demand::Countable => "is_countable",
                Demand::Items => "has_items",
            };
            let assertion = Ident::new(assertion, key.span());
            assertions.push(quote_spanned!(key.span()=> const _: fn() = __toolkit::#assertion::<#ty>;));
        }
        if let Some(items) = &self.items {
            assertions.extend(items.assertions(&quote_spanned!(ty.span()=> <#ty as __toolkit::Items>::Item)));
        }
        assertions
    }

    fn demand(&mut self, demand: Demand, key: &Ident) {
        self.demands.push((demand, key.clone()));
    }

    fn call(&mut self, call: TokenStream) {
        self.calls.extend(quote_spanned!(call.span()=> __constraints.#call;));
    }
}

/// The number that a literal is, with its sign.
fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr: inner, .. }) => number(inner).map(|number| -number),
        Expr::Paren(inner) => number(&inner.expr),
        Expr::Group(inner) => number(&inner.expr),
        _ => None,
    }
}

fn whole_number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Group(inner) => whole_number(&inner.expr),
        _ => None,
    }
}
