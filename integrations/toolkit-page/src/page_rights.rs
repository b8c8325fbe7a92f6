//! What the reader of a page may do.

/// What the reader of a page may do: read, call tools, decide.
///
/// ```
/// use toolkit_page::PageRights;
///
/// let guest = PageRights::read_only();
/// assert!(!guest.may_call() && !guest.may_decide());
/// assert!(guest.with_calls().may_call());
/// assert!(PageRights::all().may_decide());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct PageRights {
    calls: bool,
    decisions: bool,
}

impl PageRights {
    /// Returns the right to read, without calls and decisions.
    pub const fn read_only() -> Self {
        Self { calls: false, decisions: false }
    }

    /// Returns all rights.
    pub const fn all() -> Self {
        Self { calls: true, decisions: true }
    }

    /// Adds the right to call tools.
    pub const fn with_calls(self) -> Self {
        Self { calls: true, ..self }
    }

    /// Adds the right to decide which tools are enabled.
    pub const fn with_decisions(self) -> Self {
        Self { decisions: true, ..self }
    }

    /// Returns whether the reader may call tools.
    #[must_use]
    pub const fn may_call(self) -> bool {
        self.calls
    }

    /// Returns whether the reader may enable and disable tools.
    #[must_use]
    pub const fn may_decide(self) -> bool {
        self.decisions
    }
}
