//! Who calls a tool.

use super::Worker;
use crate::frames::CallHead;
use crate::subjects::ANONYMOUS;
use std::sync::Arc;
use toolkit_core::context::TraceContext;

/// A verified caller.
///
/// ```
/// use toolkit_ai::ToolRegistry;
/// use toolkit_nats::{Identity, Worker};
///
/// let worker = Worker::new(ToolRegistry::new())?.with_verifier(|token| match token {
///     "valid" => Ok(Identity::new("ada")),
///     _ => Err("the token is not valid"),
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity(Arc<str>);

impl Identity {
    /// Creates a verified identity.
    ///
    /// `name` is stable, such as the subject of a token.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name of the caller.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Describes the caller of a tool on a worker: state of the call, and an extension for middleware.
///
/// ```
/// use toolkit_ai::prelude::*;
/// use toolkit_nats::{RemoteCaller, Worker};
///
/// /// Say who calls.
/// #[tool]
/// fn who(#[state] caller: &RemoteCaller) -> String {
///     caller.identity.as_ref().map_or("anonymous", |identity| identity.as_str()).to_owned()
/// }
///
/// let worker = Worker::new(tools![who])?;
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteCaller {
    /// The verified identity. `None` for an anonymous caller.
    pub identity: Option<Identity>,
    /// The id of the caller's run, unverified.
    pub run: Option<Arc<str>>,
    /// The caller's trace context.
    pub trace: Option<TraceContext>,
}

pub(super) type Verify = Arc<dyn Fn(&str) -> Result<Identity, String> + Send + Sync>;

/// Returns the verified caller of a call, or why it is refused. A token counts more than a subject.
pub(super) fn caller_of(
    head: &CallHead<'_>,
    subject: &str,
    settings: &Worker,
) -> Result<RemoteCaller, String> {
    let identity = match (&settings.verify, &head.token) {
        (Some(verify), Some(token)) => Some(verify(token)?),
        _ if settings.trusts_subjects && subject != ANONYMOUS => Some(Identity::new(subject)),
        _ => None,
    };
    Ok(RemoteCaller { identity, run: head.run.as_deref().map(Into::into), trace: head.trace.clone() })
}

/// Returns the owner of a caller's calls in the ledger. Those of an anonymous one belong to its secret, and
/// without a secret to the message alone, whose reply subject no other message has.
#[cfg(feature = "ledger")]
pub(super) fn owner_of(caller: &RemoteCaller, head: &CallHead<'_>, reply: &str) -> Vec<u8> {
    match &caller.identity {
        Some(identity) => identity.as_str().as_bytes().to_vec(),
        None => {
            let mut hash = hmac_sha256::Hash::new();
            hash.update(head.owner.as_deref().unwrap_or(reply).as_bytes());
            // No identity begins so.
            [&[0][..], &hash.finalize()].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::ToolRegistry;

    #[test]
    fn only_a_verified_caller_has_an_identity() {
        let verify = |token: &str| match token {
            "signed" => Ok(Identity::new("ada")),
            _ => Err("the signature is wrong".to_owned()),
        };
        let anonymous = || Worker::new(ToolRegistry::new()).unwrap();
        let name = |token: Option<&'static str>, worker: Worker| {
            let head = CallHead { token: token.map(Into::into), ..CallHead::default() };
            let caller = caller_of(&head, "eve", &worker)?;
            Ok::<_, String>(caller.identity.map(|identity| identity.as_str().to_owned()))
        };
        assert_eq!(name(Some("signed"), anonymous().with_verifier(verify)), Ok(Some("ada".to_owned())));
        assert!(name(Some("forged"), anonymous().with_verifier(verify).trust_subjects()).is_err());
        assert_eq!(name(Some("signed"), anonymous()), Ok(None));
        assert_eq!(name(None, anonymous().with_verifier(verify)), Ok(None));
        assert_eq!(name(None, anonymous().trust_subjects()), Ok(Some("eve".to_owned())));
    }
}
