//! Running a call once that a model made twice in one turn.

use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::{ErrorKind, ToolError};
use crate::output::ToolOutput;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::OnceCell;

/// Runs a call once if a batch has it several times: the same tool with the same arguments, however they are
/// written.
///
/// The others get the same result, and the model is told so. A tool that says that it is
/// [not idempotent](crate::ToolMetadata::idempotent) is called as often as the model likes, and so is one
/// whose arguments are not JSON. If the one that runs is cancelled, another runs.
///
/// ```
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::middleware::Deduplicate;
///
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(Deduplicate::new());
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Debug, Default)]
pub struct Deduplicate {
    /// The calls of the batches that run, by the address of their token, which stays theirs as long as the entry
    /// points to it.
    batches: Mutex<HashMap<usize, (Weak<u64>, Calls)>>,
}

/// The outcome of each call by tool and arguments.
type Calls = HashMap<(String, String), Arc<OnceCell<Outcome>>>;

impl Deduplicate {
    /// The text that the model reads beside the result of a call that was not run again.
    pub const WARNING: &str = "this call was not run: another call of the same turn is identical, and this is its result; do not repeat calls";

    /// No calls yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the outcome of the call is, or will be.
    fn outcome(&self, request: &ToolRequest, arguments: String) -> Arc<OnceCell<Outcome>> {
        let token = request.batch_token();
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(token) as usize;
        if !batches.contains_key(&address) {
            batches.retain(|_, (batch, _)| batch.strong_count() > 0);
        }
        let (_, calls) = batches.entry(address).or_insert_with(|| (Arc::downgrade(token), Calls::new()));
        let key = (request.definition().name.as_str().to_owned(), arguments);
        calls.entry(key).or_default().clone()
    }
}

impl Middleware for Deduplicate {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let arguments = match request.canonical_arguments() {
            Some(arguments) if request.definition().metadata.idempotent != Some(false) => arguments,
            _ => return next.run(request).await,
        };
        let cell = self.outcome(&request, arguments);
        let mut own = false;
        let run = async {
            own = true;
            match next.run(request).await {
                // Nobody else should be answered with it.
                Err(error) if error.kind() == ErrorKind::Cancelled => Err(error),
                outcome => Ok(outcome),
            }
        };
        let outcome = cell.get_or_try_init(|| run).await?.clone();
        if own { outcome } else { repeated(outcome) }
    }
}

fn repeated(outcome: Outcome) -> Outcome {
    let warned = |text: &str| match text {
        "" => Deduplicate::WARNING.to_owned(),
        text => format!("{text}\n{}", Deduplicate::WARNING),
    };
    match outcome {
        Ok(output) => {
            let message = warned(output.message());
            Ok(ToolOutput::with_message(output, message))
        }
        Err(error) => {
            let message = warned(error.message());
            Err(ToolError::with_message(error, message))
        }
    }
}
