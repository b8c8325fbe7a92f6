//! What the reader of a page may do.

use std::sync::Arc;

/// What the reader of a page may do: read, call tools, decide.
///
/// ```
/// use toolkit_page::PageRights;
///
/// let guest = PageRights::read_only();
/// assert!(!guest.may_call() && !guest.may_decide());
/// assert!(guest.with_calls().may_call());
/// let ada = PageRights::all().with_name("ada");
/// assert!(ada.may_decide());
/// assert_eq!(ada.name(), "ada");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct PageRights {
    calls: bool,
    decisions: bool,
    name: Option<Arc<str>>,
}

impl PageRights {
    /// Returns the right to read, without calls and decisions.
    pub fn read_only() -> Self {
        Self { calls: false, decisions: false, name: None }
    }

    /// Returns all rights.
    pub fn all() -> Self {
        Self { calls: true, decisions: true, name: None }
    }

    /// Adds the right to call tools.
    pub fn with_calls(self) -> Self {
        Self { calls: true, ..self }
    }

    /// Adds the right to decide: which tools are enabled, and whether calls of agents run.
    pub fn with_decisions(self) -> Self {
        Self { decisions: true, ..self }
    }

    /// Sets the name of the reader, under which decisions are saved. The default is `page`.
    pub fn with_name(self, name: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the name of the reader.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("page")
    }

    /// Returns whether the reader may call tools.
    #[must_use]
    pub fn may_call(&self) -> bool {
        self.calls
    }

    /// Returns whether the reader may enable and disable tools, and decide calls of agents.
    #[must_use]
    pub fn may_decide(&self) -> bool {
        self.decisions
    }
}
