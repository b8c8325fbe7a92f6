//! Counters for the tokens of all model calls within an agent's span.

use crate::helpers::lock;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::trace::OpenSpan;
use toolkit_llm::Usage;

/// A counter for the tokens in an agent's span. Clones share it. The default counts nothing.
#[derive(Clone, Default)]
pub(crate) struct SpanUsage(Option<Arc<UsageCounter>>);

struct UsageCounter {
    outer: SpanUsage,
    /// The tokens of the ended model calls.
    sum: Mutex<Option<Usage>>,
}

impl SpanUsage {
    /// Adds the tokens of a model call to this counter and all enclosing ones.
    #[inline]
    pub(crate) fn add(&self, usage: Usage) {
        let mut next = self;
        while let Some(counted) = &next.0 {
            *lock(&counted.sum).get_or_insert_default() += usage;
            next = &counted.outer;
        }
    }

    /// Creates the counter for a span within that of `outer`.
    pub(super) fn within(outer: &Self) -> Self {
        Self(Some(Arc::new(UsageCounter { outer: outer.clone(), sum: Mutex::default() })))
    }

    pub(super) fn record(&self, span: &OpenSpan) {
        if let Some(usage) = self.0.as_ref().and_then(|counted| *lock(&counted.sum)) {
            span.record("gen_ai.usage.input_tokens", usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        }
    }
}
