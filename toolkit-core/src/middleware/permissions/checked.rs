//! The check of rules against the registry of a dispatcher, once for each registry.

use crate::error::{BuildError, BuildProblem};
use crate::registry::ToolRegistry;
use arc_swap::ArcSwapOption;
use std::sync::{Arc, Weak};

#[derive(Default)]
pub(super) struct CheckedRules(ArcSwapOption<LastCheck>);

struct LastCheck {
    registry: Weak<ToolRegistry>,
    refusal: Option<String>,
}

/// A clone checks anew: it may be the middleware of another registry.
impl Clone for CheckedRules {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl CheckedRules {
    /// Returns why all calls are refused, if there are `problems` with the registry.
    pub(super) fn refusal(
        &self,
        registry: &Arc<ToolRegistry>,
        problems: impl FnOnce(&ToolRegistry) -> Vec<BuildProblem>,
    ) -> Option<String> {
        if let Some(check) = &*self.0.load()
            && check.registry.as_ptr() == Arc::as_ptr(registry)
        {
            return check.refusal.clone();
        }
        let refusal = BuildError::unless_empty(problems(registry)).err().map(|error| error.to_string());
        let check = LastCheck { registry: Arc::downgrade(registry), refusal: refusal.clone() };
        self.0.store(Some(Arc::new(check)));
        refusal
    }
}
