//! The secrets that a server gets. What it sends is read without them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;
use toolkit_core::redaction::Redactor;

/// The number of known tokens. A server may still answer a request with an earlier one.
#[cfg(feature = "client-http")]
const TOKENS: usize = 16;

/// The secrets of one connection. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownSecrets(Arc<Mutex<ConnectionSecrets>>);

#[derive(Default)]
struct ConnectionSecrets {
    /// The secrets of the endpoint.
    fixed: Redactor,
    tokens: VecDeque<String>,
}

impl KnownSecrets {
    pub(crate) fn add(&self, secrets: &Redactor) {
        lock(&self.0).fixed.extend(secrets);
    }

    #[cfg(feature = "client-http")]
    pub(crate) fn add_token(&self, token: &str) {
        let mut known = lock(&self.0);
        if known.tokens.iter().any(|known| known == token) {
            return;
        }
        known.tokens.truncate(TOKENS - 1);
        known.tokens.push_front(token.to_owned());
    }

    pub(crate) fn redactor(&self) -> Redactor {
        let known = lock(&self.0);
        let mut redactor = known.fixed.clone();
        for token in &known.tokens {
            redactor.add(token);
        }
        redactor
    }
}

crate::macros::debug!(ConnectionSecrets, self, "tokens": self.tokens.len());
