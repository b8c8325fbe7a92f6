//! The price of tokens.

use crate::response::Usage;

/// The price of one million tokens, in any currency.
///
/// ```
/// use toolkit_ai::llm::{Price, Usage};
///
/// let price = Price::per_million(3.0, 15.0);
/// assert_eq!(price.cost(Usage::new(1_000_000, 200_000)), 6.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Price {
    /// The price of input tokens.
    pub input: f64,
    /// The price of input tokens read from a cache. `None` means that of [`input`](Self::input).
    pub cached_input: Option<f64>,
    /// The price of input tokens written into a cache. `None` means that of [`input`](Self::input).
    pub cache_write: Option<f64>,
    /// The price of output tokens.
    pub output: f64,
}

impl Price {
    /// Creates a price for input and output tokens.
    #[must_use]
    pub fn per_million(input: f64, output: f64) -> Self {
        Self { input, cached_input: None, cache_write: None, output }
    }

    /// Returns the cost of these tokens.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let parts = [
            (usage.input_tokens - cached - written, self.input),
            (cached, self.cached_input.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (usage.output_tokens, self.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 * price / 1e6).sum()
    }
}

setters! { Price:
    /// Sets the price of input tokens read from a cache.
    with_cached_input(cached_input: f64) = Some(cached_input);
    /// Sets the price of input tokens written into a cache.
    with_cache_write(cache_write: f64) = Some(cache_write);
}
