//! Collects compile errors, so one build reports all of them.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::cmp::Reverse;
use std::fmt::Display;

#[derive(Debug, Default)]
pub(crate) struct Diag {
    errors: Vec<syn::Error>,
}

impl Diag {
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn error_at(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Appends all errors to the output of the macro.
    pub(crate) fn into_tokens(self, mut output: TokenStream) -> TokenStream {
        output.extend(self.errors.iter().map(syn::Error::to_compile_error));
        output
    }
}

/// Returns `` ; did you mean `x`? `` for the word in `known` nearest to `given`, or a list of all known
/// words.
///
/// The nearest word has the fewest typing differences, and among several of them the longest common start.
pub(crate) fn hint(given: &str, known: &[impl AsRef<str>]) -> String {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    // Typing mistakes are rare in the first letters of a word.
    let closest = known
        .iter()
        .filter(|word| strsim::normalized_damerau_levenshtein(given, word) >= 0.6)
        .min_by_key(|word| (strsim::damerau_levenshtein(given, word), Reverse(common_start(given, word))));
    match (closest, known.as_slice()) {
        (Some(closest), _) => format!("; did you mean `{closest}`?"),
        (None, []) => String::new(),
        (None, [only]) => format!("; expected `{only}`"),
        (None, known) => format!("; expected one of `{}`", known.join("`, `")),
    }
}

fn common_start(word: &str, other: &str) -> usize {
    word.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}
