//! The secrets that a server gets. What it sends is read without them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;
use toolkit_core::redaction::Redactor;

/// The number of tokens that are known. A server may still answer a request with an earlier token.
#[cfg(feature = "client-http")]
const TOKENS: usize = 16;

/// The secrets of one connection. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownSecrets(Arc<Mutex<ConnectionSecrets>>);

#[derive(Default)]
struct ConnectionSecrets {
    /// The secrets of the endpoint.
    fixed: Redactor,
    /// The last tokens.
    tokens: VecDeque<String>,
}

impl KnownSecrets {
    /// Adds secrets of the endpoint.
    pub(crate) fn add(&self, secrets: &Redactor) {
        lock(&self.0).fixed.extend(secrets);
    }

    /// Adds the token of a request.
    #[cfg(feature = "client-http")]
    pub(crate) fn add_token(&self, token: &str) {
        let mut known = lock(&self.0);
        if known.tokens.iter().any(|known| known == token) {
            return;
        }
        known.tokens.truncate(TOKENS - 1);
        known.tokens.push_front(token.to_owned());
    }

    /// Returns the redactor for what the server sends now.
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
