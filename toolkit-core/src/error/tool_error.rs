//! Errors for the model.

use super::details::Details;
use super::kind::ErrorKind;
use super::listing::{LISTED, listed, names, one_of};
use super::pending::Pending;
use super::{Violation, nearest, shorten};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The prefix of messages created by [`ToolError::retry`].
const TRY_AGAIN: &str = "Try again: ";

/// The failure of a call: a message for the model, a brief text for the user, the kind.
///
/// Every failure becomes a `ToolError`. A tool may return one itself, to choose the texts.
///
/// ```
/// use toolkit_ai::{ErrorKind, ToolError};
///
/// let error = ToolError::failed("the city is not known; try its English name").with_brief("weather failed");
/// assert_eq!(error.kind(), ErrorKind::Failed);
/// assert_eq!(error.message(), "Error running tool: the city is not known; try its English name");
/// assert_eq!(error.brief(), "weather failed");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolError(pub(super) Box<Repr>);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repr {
    kind: ErrorKind,
    message: String,
    #[serde(default)]
    brief: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Violation>,
    /// The number of violations beyond `violations`.
    #[serde(default)]
    more: usize,
    #[serde(default, skip_serializing_if = "Details::are_private")]
    pub(super) details: Details,
    #[serde(default)]
    retryable: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<ToolError>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pending: Option<Box<Pending>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
}

impl ToolError {
    /// Creates an error with a message for the model.
    ///
    /// It is also the brief text for the user, unless [`with_brief`](Self::with_brief) sets another.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Repr {
            kind,
            brief: message.clone(),
            message,
            violations: Vec::new(),
            more: 0,
            details: Details::default(),
            retryable: false,
            earlier: Vec::new(),
            pending: None,
            retry_after: None,
        }))
    }

    /// Sets the earlier attempts' errors and appends them to the message.
    #[must_use]
    pub fn with_earlier_attempts(mut self, earlier: Vec<Self>) -> Self {
        if earlier.is_empty() {
            return self;
        }
        let mut message = format!("{} (attempt {})", self.0.message, earlier.len() + 1);
        let mut last = self.0.message.as_str();
        for (attempt, error) in earlier.iter().enumerate().rev().take(LISTED) {
            if error.message() != last {
                message.push_str(&format!("\n- attempt {}: {}", attempt + 1, error.message()));
            }
            last = error.message();
        }
        self.0.message = message;
        self.0.earlier = earlier;
        self
    }

    /// Creates the error for a call of an unknown tool.
    ///
    /// The message suggests the [nearest](super::nearest) `known` names. If none is similar, it lists them
    /// all, up to 16.
    #[must_use]
    pub fn not_found<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let brief = format!("Tool `{}` not found", shorten(name));
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = nearest(name, known.iter().copied());
        let message = match (nearest.as_slice(), known.len()) {
            ([], 0) => format!("{brief}; there are no tools"),
            ([], 1..=LISTED) => format!("{brief}; available tools: {}", names(&known)),
            ([], _) => brief.clone(),
            (nearest, _) => format!("{brief}; did you mean {}?", one_of(nearest)),
        };
        Self::new(ErrorKind::NotFound, message).with_brief(brief)
    }

    /// Creates the error for arguments that are no valid JSON, with the syntax error as `reason`.
    #[must_use]
    pub fn invalid_json(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidJson, format!("Error parsing JSON arguments: {reason}"))
            .with_brief("Invalid arguments")
    }

    /// Creates the error for invalid arguments. The message lists up to 16 violations.
    #[must_use]
    pub fn invalid_arguments(violations: Vec<Violation>) -> Self {
        Self::invalid_arguments_and_more(violations, 0)
    }

    /// Creates the error for invalid arguments, with `more` violations beyond `violations`.
    pub(crate) fn invalid_arguments_and_more(violations: Vec<Violation>, more: usize) -> Self {
        let message = listed(&violations, more);
        let mut error = Self::new(ErrorKind::InvalidArguments, message).with_brief("Invalid arguments");
        error.0.violations = violations;
        error.0.more = more;
        error
    }

    /// Replaces each violation with the result of `change`, or removes it for `None`. The message is
    /// rebuilt, if it was the list of violations.
    pub(crate) fn map_violations(mut self, change: impl FnMut(Violation) -> Option<Violation>) -> Self {
        let is_listed = self.0.message == listed(&self.0.violations, self.0.more);
        self.0.violations = self.0.violations.into_iter().filter_map(change).collect();
        if is_listed {
            self.0.message = listed(&self.0.violations, self.0.more);
        }
        self
    }

    /// Applies `change` to every string in the error, its violations, and earlier attempts.
    pub(crate) fn map_texts(mut self, change: &dyn Fn(&str) -> String) -> Self {
        let Repr { message, brief, violations, details, earlier, pending, .. } = &mut *self.0;
        if let Some(pending) = pending {
            pending.map_texts(change);
        }
        for text in [message, brief].into_iter().chain(&mut details.text) {
            *text = change(text);
        }
        for violation in violations {
            let Violation { path, kind, message, .. } = &*violation;
            *violation = Violation::new(change(path), *kind, change(message));
        }
        *earlier = std::mem::take(earlier).into_iter().map(|error| error.map_texts(change)).collect();
        self
    }

    /// Creates the error for a failed tool, with the message `reason` for the model.
    ///
    /// The alternate form `{:#}` of `reason`, if it differs, becomes the [details](Self::details) for the
    /// program.
    #[must_use]
    pub fn failed(reason: impl fmt::Display) -> Self {
        Self::failed_with(&reason.to_string(), format!("{reason:#}"))
    }

    /// Creates the error for a failed tool, with the message `reason` for the model, and the full
    /// `details`.
    pub(crate) fn failed_with(reason: &str, details: String) -> Self {
        let mut error = Self::new(ErrorKind::Failed, format!("Error running tool: {reason}"))
            .with_brief("Tool runtime error");
        error.0.details = Details { text: Some(details).filter(|details| details != reason), stored: false };
        error
    }

    /// Creates the error for missing state of type `type_name`.
    #[cold]
    pub(crate) fn stateless(type_name: &str) -> Self {
        Self::failed(format_args!("the program lends no `{type_name}` to its tools"))
    }

    /// Creates an error that asks the model to correct the call as `hint` says.
    ///
    /// ```
    /// use toolkit_ai::{ErrorKind, ToolError};
    ///
    /// let error = ToolError::retry("the date lies in the past; take one from today on");
    /// assert_eq!(error.kind(), ErrorKind::Retry);
    /// assert_eq!(error.message(), "Try again: the date lies in the past; take one from today on");
    /// ```
    #[doc(alias("ModelRetry"))]
    #[must_use]
    pub fn retry(hint: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Retry, format!("{TRY_AGAIN}{hint}")).with_brief("Tool asks for another try")
    }

    /// Creates the error for an output that cannot be written as JSON.
    #[must_use]
    pub fn invalid_output(reason: impl fmt::Display) -> Self {
        let message = format!("Error running tool: its result cannot be written as JSON: {reason}");
        Self::new(ErrorKind::InvalidOutput, message).with_brief("Invalid return type")
    }

    /// Creates the error for a tool still running after `limit`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolkit_ai::ToolError;
    ///
    /// let error = ToolError::timed_out("slow_tool", Duration::from_secs(5));
    /// assert_eq!(error.message(), "Tool `slow_tool` timed out after 5s");
    /// ```
    #[must_use]
    pub fn timed_out(tool: &str, limit: Duration) -> Self {
        let seconds = limit.as_secs_f64();
        Self::new(ErrorKind::TimedOut, format!("Tool `{tool}` timed out after {seconds}s"))
    }

    /// Creates the error for a cancelled call.
    #[must_use]
    pub fn cancelled(tool: &str) -> Self {
        Self::new(ErrorKind::Cancelled, format!("Tool `{tool}` was cancelled before it finished"))
    }

    /// Creates the error for a panicked tool. The message may contain debug output, so it becomes
    /// [details](Self::details) hidden from the model.
    #[must_use]
    pub fn panicked(tool: &str, text: &str) -> Self {
        Self::new(ErrorKind::Panicked, format!("Tool `{tool}` panicked"))
            .with_brief("Tool runtime error")
            .with_details(text)
    }

    /// Creates the error for a call refused by a policy or a human.
    #[must_use]
    pub fn denied(tool: &str, reason: &str) -> Self {
        Self::new(ErrorKind::Denied, format!("Tool `{tool}` was denied: {reason}"))
            .with_brief(format!("Tool `{tool}` denied"))
    }

    /// Creates the error for a disabled tool. An empty `reason` is left out.
    ///
    /// ```
    /// use toolkit_ai::ToolError;
    ///
    /// let error = ToolError::disabled("pay", "the shop is closed");
    /// assert_eq!(error.message(), "Tool `pay` is disabled: the shop is closed");
    /// ```
    #[must_use]
    pub fn disabled(tool: &str, reason: &str) -> Self {
        let brief = format!("Tool `{tool}` is disabled");
        let message = if reason.is_empty() { brief.clone() } else { format!("{brief}: {reason}") };
        Self::new(ErrorKind::Disabled, message).with_brief(brief)
    }

    /// Creates the error for a tool called too often. The next call is allowed after `wait`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolkit_ai::ToolError;
    ///
    /// let wait = Duration::from_millis(11_500);
    /// let error = ToolError::rate_limited("search", wait);
    /// assert_eq!(error.message(), "Tool `search` is called too often; call it again in 12 seconds");
    /// assert_eq!(error.retry_after(), Some(wait));
    /// ```
    #[must_use]
    pub fn rate_limited(tool: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let unit = if seconds == 1 { "second" } else { "seconds" };
        let brief = format!("Tool `{tool}` is called too often");
        let mut error =
            Self::new(ErrorKind::RateLimited, format!("{brief}; call it again in {seconds} {unit}"))
                .with_brief(brief);
        error.0.retry_after = Some(wait);
        error
    }

    /// Changes the kind to [`ErrorKind::Exhausted`] after `attempts` failures in a row, and tells the model
    /// to stop calling the tool.
    #[must_use]
    pub(crate) fn exhausted(mut self, tool: &str, attempts: u32) -> Self {
        let message = self.message().strip_prefix(TRY_AGAIN).unwrap_or(self.message());
        let times = if attempts == 1 { "time" } else { "times" };
        let stop = format!("Tool `{tool}` failed {attempts} {times} in a row; stop calling it");
        self.0.message = format!("{stop}. Last error: {message}");
        self.0.kind = ErrorKind::Exhausted;
        self.0.retryable = false;
        self
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message for the model.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the brief text for the user.
    #[must_use]
    pub fn brief(&self) -> &str {
        &self.0.brief
    }

    /// Returns whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// Returns the time until the next call is allowed, for a tool called too often.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the errors of earlier attempts, oldest first.
    #[must_use]
    pub fn earlier_attempts(&self) -> &[Self] {
        &self.0.earlier
    }

    /// Returns the violations of the arguments.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }
}

setters! { ToolError.0:
    /// Sets the details for the program, such as causes, hidden from the model.
    with_details(details: impl Into<String>) = Details::private(details.into());
    /// Sets the brief text for the user.
    with_brief(brief: impl Into<String>) = brief.into();
    /// Sets whether the same call may succeed later.
    with_retryable(retryable: bool) = retryable;
    /// Sets the message for the model.
    with_message(message: impl Into<String>) = message.into();
}

/// Creates the error of a [failed](ToolError::failed) tool.
impl From<&str> for ToolError {
    fn from(reason: &str) -> Self {
        Self::failed(reason)
    }
}

/// Creates the error of a [failed](ToolError::failed) tool.
impl From<String> for ToolError {
    fn from(reason: String) -> Self {
        Self::failed(reason)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.details() {
            Some(details) if f.alternate() => write!(f, "{} ({details})", self.message()),
            _ => f.write_str(self.message()),
        }
    }
}

/// Prints the message for a failed `main`.
impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ToolError {}
