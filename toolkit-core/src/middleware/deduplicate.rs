//! Deduplication of identical calls within one batch.

use super::{Middleware, Next, Outcome, SharedOutcome, ToolRequest, run_once};
use crate::error::ToolError;
use crate::guard::lock;
use crate::output::ToolOutput;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// Runs identical calls of a batch only once.
///
/// They have the same tool and the same [arguments](ToolRequest::canonical_arguments). The duplicates get
/// the same result with a warning for the model. Calls always run if the tool is [not
/// idempotent](crate::ToolMetadata::idempotent), if the arguments are not JSON, or if the program
/// [computes](crate::ArgumentTransform::computed) one. If the running call is cancelled, a duplicate runs
/// in its place.
///
/// If [`Retry`](super::Retry) is added before this middleware, each retry runs once for the call and all
/// duplicates. Clones share the calls.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::middleware::Deduplicate;
///
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(Deduplicate::new());
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Deduplicate {
    batches: Arc<Mutex<Batches>>,
}

/// Batches by the address of their token, which the `Weak` pointer keeps from being reused.
type Batches = HashMap<usize, (Weak<u64>, Calls)>;

/// Outcomes by tool name and arguments.
type Calls = HashMap<(String, String), AttemptOutcomes>;

/// The outcomes of identical calls, one for each attempt. `made` counts the attempts by the position of
/// the call.
#[derive(Debug, Default)]
struct AttemptOutcomes {
    outcomes: Vec<SharedOutcome>,
    made: HashMap<usize, usize>,
}

impl Deduplicate {
    /// The warning for the model in the result of a duplicate call.
    pub const WARNING: &str = "this call was not run: another call of the same turn is identical, and this is its result; do not repeat calls";

    /// Creates the middleware.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the outcome that identical calls share for this attempt.
    fn outcome(&self, request: &ToolRequest, arguments: &str) -> SharedOutcome {
        let token = request.batch_token();
        let mut batches = lock(&self.batches);
        let address = Arc::as_ptr(token) as usize;
        if !batches.contains_key(&address) {
            batches.retain(|_, (batch, _)| batch.strong_count() > 0);
        }
        let (_, calls) = batches.entry(address).or_insert_with(|| (Arc::downgrade(token), Calls::new()));
        let key = (request.definition().name.as_str().to_owned(), arguments.to_owned());
        let AttemptOutcomes { outcomes, made } = calls.entry(key).or_default();
        let attempt = made.entry(request.position()).or_default();
        if outcomes.len() <= *attempt {
            outcomes.push(SharedOutcome::default());
        }
        let outcome = outcomes[*attempt].clone();
        *attempt += 1;
        outcome
    }
}

impl Middleware for Deduplicate {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let arguments = match request.canonical_arguments() {
            Some(arguments) if request.definition().metadata.idempotent != Some(false) => arguments,
            _ => return next.run(request).await,
        };
        let shared = self.outcome(&request, arguments);
        let (outcome, has_run) = run_once(&shared, request, next).await;
        if has_run { outcome } else { repeated(outcome) }
    }
}

fn repeated(outcome: Outcome) -> Outcome {
    match outcome {
        Ok(output) => {
            let message = with_warning(output.message());
            Ok(ToolOutput::with_message(output, message))
        }
        Err(error) => {
            let message = with_warning(error.message());
            Err(ToolError::with_message(error, message))
        }
    }
}

fn with_warning(message: &str) -> String {
    if message.is_empty() {
        Deduplicate::WARNING.to_owned()
    } else {
        format!("{message}\n{}", Deduplicate::WARNING)
    }
}
