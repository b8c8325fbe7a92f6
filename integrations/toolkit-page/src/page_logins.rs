//! One-time tokens, and the cookies that they are exchanged for.

use hmac_sha256::{HMAC, Hash};
use http::HeaderMap;
use http::header::COOKIE;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many unused tokens, and how many cookies, are valid at once. The oldest is dropped.
const KEPT: usize = 32;

/// Makes the addresses by which readers enter a [page](crate::ToolPage). Clones share what is valid.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_page::ToolPage;
///
/// let page = ToolPage::new(Dispatcher::new(ToolRegistry::new())?);
/// let logins = page.logins();
/// assert!(logins.new_path().starts_with("/?token="));
/// assert_ne!(logins.new_path(), logins.new_path()); // each is valid once
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct PageLogins(Arc<LoginState>);

struct LoginState {
    /// `None` if the system has no random numbers: then nobody enters.
    secret: Option<[u8; 32]>,
    path: Mutex<String>,
    valid: Mutex<Valid>,
}

#[derive(Default)]
struct Valid {
    issued: u64,
    /// The numbers of the tokens that nobody has used.
    tokens: VecDeque<u64>,
    /// The numbers of the tokens whose readers have a cookie.
    readers: VecDeque<u64>,
}

impl PageLogins {
    pub(crate) fn new() -> Self {
        let mut secret = [0; 32];
        let secret = getrandom::fill(&mut secret).is_ok().then_some(secret);
        Self(Arc::new(LoginState { secret, path: Mutex::default(), valid: Mutex::default() }))
    }

    pub(crate) fn set_path(&self, path: &str) {
        path.clone_into(&mut self.0.path.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns a path with a new token, such as `/?token=…`. The first request with it gets a cookie, and
    /// later ones are refused.
    #[must_use]
    pub fn new_path(&self) -> String {
        let mut valid = self.valid();
        let number = valid.issued;
        valid.issued += 1;
        push(&mut valid.tokens, number);
        drop(valid);
        let path = self.0.path.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{path}/?token={}", self.sealed("token", number))
    }

    /// Exchanges a token for the value of a `Set-Cookie` header. A token is exchanged once.
    pub(crate) fn exchange(&self, token: &str) -> Option<String> {
        let number = self.unsealed("token", token)?;
        let mut valid = self.valid();
        let position = valid.tokens.iter().position(|unused| *unused == number)?;
        valid.tokens.remove(position);
        push(&mut valid.readers, number);
        drop(valid);
        let path = self.0.path.lock().unwrap_or_else(PoisonError::into_inner);
        let value = self.sealed("cookie", number);
        let path = if path.is_empty() { "/" } else { &path };
        Some(format!("{}={value}; HttpOnly; SameSite=Strict; Path={path}", self.cookie_name()))
    }

    /// Returns whether a request has a valid cookie.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        for header in headers.get_all(COOKIE) {
            for pair in header.to_str().unwrap_or_default().split(';') {
                let Some((key, value)) = pair.trim().split_once('=') else { continue };
                if key != name {
                    continue;
                }
                let Some(number) = self.unsealed("cookie", value) else { continue };
                if self.valid().readers.contains(&number) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns the token that requests which change something must repeat in a header.
    pub(crate) fn csrf_token(&self) -> String {
        self.sealed("csrf", 0)
    }

    pub(crate) fn is_csrf_token(&self, given: &str) -> bool {
        self.unsealed("csrf", given) == Some(0)
    }

    /// Returns a name of its own, because the ports of a host share their cookies.
    fn cookie_name(&self) -> String {
        let seal = self.sealed("name", 0);
        format!("toolkit_page_{}", seal.get(2..10).unwrap_or_default())
    }

    /// Returns the number with a seal that only this page can make.
    fn sealed(&self, purpose: &str, number: u64) -> String {
        let mut text = format!("{number}.");
        let key = self.0.secret.unwrap_or_default();
        for byte in HMAC::mac(format!("{purpose} {number}").as_bytes(), key) {
            text.push_str(&format!("{byte:02x}"));
        }
        text
    }

    fn unsealed(&self, purpose: &str, text: &str) -> Option<u64> {
        self.0.secret?;
        let number = text.split_once('.')?.0.parse().ok()?;
        // Comparing digests takes a time that reveals nothing about the seal.
        let digest = |text: &str| Hash::hash(text.as_bytes());
        (digest(text) == digest(&self.sealed(purpose, number))).then_some(number)
    }

    fn valid(&self) -> MutexGuard<'_, Valid> {
        self.0.valid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PageLogins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageLogins").field("readers", &self.valid().readers.len()).finish_non_exhaustive()
    }
}

fn push(numbers: &mut VecDeque<u64>, number: u64) {
    if numbers.len() == KEPT {
        numbers.pop_front();
    }
    numbers.push_back(number);
}
