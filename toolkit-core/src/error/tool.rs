//! What went wrong with one call, told to the model.

use super::kind::ErrorKind;

use super::{Violation, nearest, shorten};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How many violations or names one message lists.
const LISTED: usize = 16;

/// How a tool asks for another try.
const TRY_AGAIN: &str = "Try again: ";

/// Why a call has no output: a text for the model that says what to do next, a brief one for the
/// user, and the kind for the program.
///
/// It is a value, not a crash: the dispatcher turns every failure into one of these, and a tool may
/// return one itself to choose both texts.
///
/// ```
/// use toolkit::{ErrorKind, ToolError};
///
/// let error = ToolError::failed("the city is not known; try its English name").with_brief("weather failed");
/// assert_eq!(error.kind(), ErrorKind::Failed);
/// assert_eq!(error.message(), "Error running tool: the city is not known; try its English name");
/// assert_eq!(error.brief(), "weather failed");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolError(Box<Repr>);

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Repr {
    kind: ErrorKind,
    message: String,
    #[serde(default)]
    brief: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Violation>,
    /// How many violations were only counted.
    #[serde(default)]
    more: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    #[serde(default)]
    retryable: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<ToolError>,
}

impl ToolError {
    /// An error with a message for the model; the brief text is the same until
    /// [`with_brief`](Self::with_brief).
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Repr {
            kind,
            brief: message.clone(),
            message,
            violations: Vec::new(),
            more: 0,
            details: None,
            retryable: false,
            earlier: Vec::new(),
        }))
    }

    /// Sets what the program may know and the model need not, such as the causes of the failure.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.0.details = Some(details.into());
        self
    }

    /// Replaces the short text that is shown to the user.
    #[must_use]
    pub fn with_brief(mut self, brief: impl Into<String>) -> Self {
        self.0.brief = brief.into();
        self
    }

    /// Says whether the same call may succeed if it is made again, as after a lost connection.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = retryable;
        self
    }

    /// Remembers the errors of earlier attempts, and tells the model how many there were and what else went wrong.
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

    /// Replaces the text for the model.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// No tool is called `name`. Of the `known` names the message offers those that are
    /// [most like it](super::nearest), else all if they are few.
    #[must_use]
    pub fn not_found<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let brief = format!("Tool `{}` not found", shorten(name));
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = nearest(name, known.iter().copied());
        let message = match (nearest.as_slice(), known.len()) {
            ([], 0) => format!("{brief}; there are no tools"),
            ([], 1..=LISTED) => format!("{brief}; there is {}", one_of(&known)),
            ([], _) => brief.clone(),
            (nearest, _) => format!("{brief}; did you mean {}?", one_of(nearest)),
        };
        Self::new(ErrorKind::NotFound, message).with_brief(brief)
    }

    /// The arguments are not JSON, for the reason given.
    #[must_use]
    pub fn invalid_json(reason: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidJson, format!("Error parsing JSON arguments: {reason}"))
            .with_brief("Invalid arguments")
    }

    /// The arguments do not fit the parameters. All violations are in the message, up to sixteen.
    #[must_use]
    pub fn invalid_arguments(violations: Vec<Violation>) -> Self {
        Self::invalid_arguments_and_more(violations, 0)
    }

    /// The same with violations that were only counted.
    pub(crate) fn invalid_arguments_and_more(violations: Vec<Violation>, more: usize) -> Self {
        let message = listed(&violations, more);
        let mut error = Self::new(ErrorKind::InvalidArguments, message).with_brief("Invalid arguments");
        error.0.violations = violations;
        error.0.more = more;
        error
    }

    /// Tells the violations in other words, or not: `None` leaves one out. A message that does not list them stays.
    pub(crate) fn map_violations(mut self, change: impl FnMut(Violation) -> Option<Violation>) -> Self {
        let lists_them = self.0.message == listed(&self.0.violations, self.0.more);
        self.0.violations = self.0.violations.into_iter().filter_map(change).collect();
        if lists_them {
            self.0.message = listed(&self.0.violations, self.0.more);
        }
        self
    }

    /// The tool ran and failed, for the reason given. Where `{:#}` says more of it than `{}`, that becomes the
    /// [details](Self::details).
    #[must_use]
    pub fn failed(reason: impl fmt::Display) -> Self {
        Self::failed_with(&reason.to_string(), format!("{reason:#}"))
    }

    /// The tool ran and failed, for the reason given; `details` is the reason with what the model need not know.
    pub(crate) fn failed_with(reason: &str, details: String) -> Self {
        let mut error = Self::new(ErrorKind::Failed, format!("Error running tool: {reason}"))
            .with_brief("Tool runtime error");
        error.0.details = Some(details).filter(|details| details != reason);
        error
    }

    /// The tool asks the model to call again, otherwise than it did; `hint` says how.
    ///
    /// ```
    /// use toolkit::{ErrorKind, ToolError};
    ///
    /// let error = ToolError::retry("the date lies in the past; take one from today on");
    /// assert_eq!(error.kind(), ErrorKind::Retry);
    /// assert_eq!(error.message(), "Try again: the date lies in the past; take one from today on");
    /// ```
    #[must_use]
    pub fn retry(hint: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Retry, format!("{TRY_AGAIN}{hint}")).with_brief("Tool asks for another try")
    }

    /// The tool's value cannot be written as JSON, for the reason given.
    #[must_use]
    pub fn invalid_output(reason: impl fmt::Display) -> Self {
        let message = format!("Error running tool: its result cannot be written as JSON: {reason}");
        Self::new(ErrorKind::InvalidOutput, message).with_brief("Invalid return type")
    }

    /// The tool did not finish within `limit`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolkit::ToolError;
    ///
    /// let error = ToolError::timed_out("slow_tool", Duration::from_secs(5));
    /// assert_eq!(error.message(), "Tool 'slow_tool' timed out after 5s");
    /// ```
    #[must_use]
    pub fn timed_out(tool: &str, limit: Duration) -> Self {
        let seconds = limit.as_secs_f64();
        Self::new(ErrorKind::TimedOut, format!("Tool '{tool}' timed out after {seconds}s"))
    }

    /// The call was cancelled before the tool finished.
    #[must_use]
    pub fn cancelled(tool: &str) -> Self {
        Self::new(ErrorKind::Cancelled, format!("Tool '{tool}' was cancelled before it finished"))
    }

    /// The tool panicked with this text, which is a [detail](Self::details): it was written for the programmer, and
    /// may hold whatever an error of a foreign type shows for debugging.
    #[must_use]
    pub fn panicked(tool: &str, text: &str) -> Self {
        Self::new(ErrorKind::Panicked, format!("Tool '{tool}' panicked"))
            .with_brief("Tool runtime error")
            .with_details(text)
    }

    /// A policy or a person refused the call, for the reason given.
    #[must_use]
    pub fn denied(tool: &str, reason: &str) -> Self {
        Self::new(ErrorKind::Denied, format!("Tool '{tool}' was denied: {reason}"))
            .with_brief(format!("Tool '{tool}' denied"))
    }

    /// The tool is switched off, for the reason given; an empty one is none.
    ///
    /// ```
    /// use toolkit::ToolError;
    ///
    /// let error = ToolError::disabled("pay", "the shop is closed");
    /// assert_eq!(error.message(), "Tool 'pay' is disabled: the shop is closed");
    /// ```
    #[must_use]
    pub fn disabled(tool: &str, reason: &str) -> Self {
        let brief = format!("Tool '{tool}' is disabled");
        let message = if reason.is_empty() { brief.clone() } else { format!("{brief}: {reason}") };
        Self::new(ErrorKind::Disabled, message).with_brief(brief)
    }

    /// The tool is called too often, and may be called again after `wait`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolkit::ToolError;
    ///
    /// let error = ToolError::rate_limited("search", Duration::from_millis(11_500));
    /// assert_eq!(error.message(), "Tool 'search' is called too often; call it again in 12 seconds");
    /// ```
    #[must_use]
    pub fn rate_limited(tool: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let unit = if seconds == 1 { "second" } else { "seconds" };
        let brief = format!("Tool '{tool}' is called too often");
        Self::new(ErrorKind::RateLimited, format!("{brief}; call it again in {seconds} {unit}"))
            .with_brief(brief)
    }

    /// The same failure, after which the model should stop trying: it was the last of so many in a row.
    #[must_use]
    pub(crate) fn exhausted(mut self, tool: &str, attempts: u32) -> Self {
        let message = self.message().strip_prefix(TRY_AGAIN).unwrap_or(self.message());
        let times = if attempts == 1 { "time" } else { "times" };
        let stop = format!("Tool '{tool}' was called wrongly {attempts} {times} in a row; stop calling it");
        self.0.message = format!("{stop}. The last time: {message}");
        self.0.kind = ErrorKind::Exhausted;
        self.0.retryable = false;
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The text for the model.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The short text for the user.
    #[must_use]
    pub fn brief(&self) -> &str {
        &self.0.brief
    }

    /// What the program may know and the model does not read: for an error of the tool's, its text with that of
    /// its causes, where there are any. Displaying an error with `{:#}` tells them too.
    ///
    /// ```
    /// use toolkit::ToolError;
    ///
    /// let error = ToolError::failed("the database is down").with_details("10.0.0.7:5432 refused");
    /// assert_eq!(error.to_string(), "Error running tool: the database is down");
    /// assert_eq!(format!("{error:#}"), "Error running tool: the database is down (10.0.0.7:5432 refused)");
    /// ```
    #[must_use]
    pub fn details(&self) -> Option<&str> {
        self.0.details.as_deref()
    }

    /// Whether the same call may succeed if it is made again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The errors of earlier attempts at the call, first one first.
    #[must_use]
    pub fn earlier_attempts(&self) -> &[Self] {
        &self.0.earlier
    }

    /// Every fault of the arguments; empty unless arguments were wrong.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }
}

/// The tool failed, for the reason given.
impl From<&str> for ToolError {
    fn from(reason: &str) -> Self {
        Self::failed(reason)
    }
}

/// The tool failed, for the reason given.
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

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError").field("kind", &self.0.kind).field("message", &self.0.message).finish()
    }
}

impl std::error::Error for ToolError {}

fn listed(violations: &[Violation], more: usize) -> String {
    let total = violations.len() + more;
    let mut message = "Error validating JSON arguments: ".to_owned();
    if let [only] = violations {
        message.push_str(&only.to_string());
        return message;
    }
    message.push_str(&format!("{total} problems"));
    for violation in violations.iter().take(LISTED) {
        message.push_str(&format!("\n- {violation}"));
    }
    if let Some(more @ 1..) = total.checked_sub(LISTED) {
        message.push_str(&format!("\n- and {more} more"));
    }
    message
}

/// `` `a` ``, or `` `a` or `b` ``.
pub(crate) fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}
