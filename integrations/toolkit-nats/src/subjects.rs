//! The subjects of a fleet. Each begins with the prefix of the fleet.
//!
//! | subject | who subscribes |
//! | --- | --- |
//! | `P.to.WORKER.CALLER.NAMESPACE.HASH` | one worker: calls |
//! | `P.to.WORKER.CALLER.cancel` | one worker: the reply subjects of cancelled calls |
//! | `P.to.WORKER.CALLER.ask` | one worker: questions whether it runs a call, with its reply subject |
//! | `P.to.WORKER.tick` | the worker itself |
//!
//! `WORKER` is two tokens: the name of the worker, which permissions of the server can bind to a user, and an
//! id.
//!
//! | subject | who subscribes |
//! | --- | --- |
//! | `P.tools.NAMESPACE.HASH` | the workers with this version, as a queue group: definitions |
//! | `P.result.CALLER` | the workers with a ledger, as a queue group: stored results |
//! | `P.who` | all workers |
//! | `P.live.NAME` | callers: announcements of the workers with this name |

/// Stands for the name of a caller or a worker without one.
pub(crate) const ANONYMOUS: &str = "_";

/// Stands for the namespace of tools without one.
const NO_NAMESPACE: &str = "=";

/// Stands for the version in cancellations. A version has two tokens.
const CANCEL: &str = "cancel";

/// Stands for the version in questions whether a call runs.
const ASK: &str = "ask";

/// The name of a namespace, and the hash of its definitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct NamespaceVersion {
    pub(crate) namespace: Option<String>,
    pub(crate) hash: String,
}

impl NamespaceVersion {
    /// Returns the version's two tokens, without further dots.
    pub(crate) fn tokens(&self) -> String {
        let namespace = self.namespace.as_deref().unwrap_or(NO_NAMESPACE);
        format!("{}.{}", namespace.replace('.', "/"), self.hash)
    }
}

const TICK: &str = "tick";

/// Returns the subject of cancellations, after the fleet's prefix.
pub(crate) fn cancellations(worker: &str, caller: &str) -> String {
    format!("to.{worker}.{caller}.{CANCEL}")
}

/// Returns the subject of questions, after the fleet's prefix.
pub(crate) fn questions(worker: &str, caller: &str) -> String {
    format!("to.{worker}.{caller}.{ASK}")
}

/// Returns the subject of a worker's ticks, after the fleet's prefix.
pub(crate) fn ticks(worker: &str) -> String {
    format!("to.{worker}.{TICK}")
}

/// A message for a worker, by its subject.
pub(crate) enum Inbound<'a> {
    /// A call: the caller's name, and the version's tokens.
    Call {
        caller: &'a str,
        version: &'a str,
    },
    Cancel,
    Ask,
    Tick,
    Tools {
        version: &'a str,
    },
    #[cfg(feature = "ledger")]
    StoredResult {
        caller: &'a str,
    },
    Who,
    /// A request of the service API, such as `PING`.
    Service {
        verb: &'a str,
    },
}

impl<'a> Inbound<'a> {
    pub(crate) fn read(prefix: &str, subject: &'a str) -> Option<Self> {
        if let Some(request) = subject.strip_prefix("$SRV.") {
            return Some(Self::Service { verb: request.split('.').next().unwrap_or_default() });
        }
        let rest = subject.strip_prefix(prefix)?.strip_prefix('.')?;
        if rest == "who" {
            return Some(Self::Who);
        }
        let (kind, rest) = rest.split_once('.')?;
        match kind {
            "to" => {
                let (_name, rest) = rest.split_once('.')?;
                let (_id, rest) = rest.split_once('.')?;
                if rest == TICK {
                    return Some(Self::Tick);
                }
                let (caller, version) = rest.split_once('.')?;
                Some(match version {
                    CANCEL => Self::Cancel,
                    ASK => Self::Ask,
                    _ => Self::Call { caller, version },
                })
            }
            "tools" => Some(Self::Tools { version: rest }),
            #[cfg(feature = "ledger")]
            "result" => Some(Self::StoredResult { caller: rest }),
            _ => None,
        }
    }
}

/// Returns the name in a worker's id. `None` if it has none: an announcement may say anything.
pub(crate) fn name_of_worker(worker: &str) -> Option<&str> {
    let (name, id) = worker.split_once('.')?;
    (is_token(name) && is_token(id)).then_some(name)
}

/// Returns whether the text can be a token of a subject and a part of a service's name.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_its_caller_and_its_version() {
        let version = NamespaceVersion { namespace: Some("shop.v1".to_owned()), hash: "12ab".to_owned() };
        assert_eq!(version.tokens(), "shop/v1.12ab");
        let Some(Inbound::Call { caller, version: tokens }) =
            Inbound::read("fleet", "fleet.to.pay.w1.ada.shop/v1.12ab")
        else {
            panic!("not a call");
        };
        assert_eq!((caller, tokens), ("ada", "shop/v1.12ab"));
        let cancellation = format!("fleet.{}", cancellations("pay.w1", "ada"));
        assert!(matches!(Inbound::read("fleet", &cancellation), Some(Inbound::Cancel)));
        let question = format!("fleet.{}", questions("pay.w1", "ada"));
        assert!(matches!(Inbound::read("fleet", &question), Some(Inbound::Ask)));
        let tick = format!("fleet.{}", ticks("pay.w1"));
        assert!(matches!(Inbound::read("fleet", &tick), Some(Inbound::Tick)));
        assert!(Inbound::read("fleet", "fleets.to.pay.w1.ada.shop.1").is_none());
    }

    #[test]
    fn the_id_of_a_worker_is_its_name_and_one_more_token() {
        assert_eq!(name_of_worker("pay.w1"), Some("pay"));
        for other in ["", "pay", "pay.", ".w1", "pay.w1.x", "pay.*", "pay. w1", ">.w1", "pay.w\n1"] {
            assert_eq!(name_of_worker(other), None, "{other:?}");
        }
    }
}
