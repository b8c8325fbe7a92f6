//! Collects every mistake, so that one compile shows them all.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;

#[derive(Debug, Default)]
pub(crate) struct Diag {
    errors: Vec<syn::Error>,
}

impl Diag {
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// Reports a mistake under the user's tokens.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The output, and behind it the errors.
    pub(crate) fn into_tokens(self, mut output: TokenStream) -> TokenStream {
        output.extend(self.errors.iter().map(syn::Error::to_compile_error));
        output
    }
}

/// `` ; did you mean `x`? `` if one of the known words is like the given one, else all of them.
pub(crate) fn hint(given: &str, known: &[&str]) -> String {
    let closest = known
        .iter()
        .map(|known| (strsim::normalized_damerau_levenshtein(given, known), known))
        .filter(|(score, _)| *score >= 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match (closest, known) {
        (Some((_, closest)), _) => format!("; did you mean `{closest}`?"),
        (None, []) => String::new(),
        (None, known) => format!("; there is {}", list(known)),
    }
}

fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
