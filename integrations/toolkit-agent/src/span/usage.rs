//! Counters for the tokens in an agent's span: the sum over all model calls within the span.

use crate::helpers::lock;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::trace::OpenSpan;
use toolkit_llm::Usage;

/// A counter for the tokens in an agent's span. Clones share the count. The default value counts nothing.
#[derive(Clone, Default)]
pub(crate) struct SpanUsage(Option<Arc<UsageCounter>>);

struct UsageCounter {
    /// The counter of the enclosing span.
    outer: SpanUsage,
    /// The tokens so far. `None` before the first model call has ended.
    sum: Mutex<Option<Usage>>,
}

impl SpanUsage {
    /// Adds the tokens of a model call to this counter and to the counters of all enclosing spans.
    #[inline]
    pub(crate) fn add(&self, usage: Usage) {
        let mut next = self;
        while let Some(counted) = &next.0 {
            *lock(&counted.sum).get_or_insert_default() += usage;
            next = &counted.outer;
        }
    }

    /// Creates the counter for a span. `outer` is the counter of the enclosing span.
    pub(super) fn within(outer: &Self) -> Self {
        Self(Some(Arc::new(UsageCounter { outer: outer.clone(), sum: Mutex::default() })))
    }

    /// Records the counted tokens in `span`.
    pub(super) fn record(&self, span: &OpenSpan) {
        if let Some(usage) = self.0.as_ref().and_then(|counted| *lock(&counted.sum)) {
            span.record("gen_ai.usage.input_tokens", usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        }
    }
}
