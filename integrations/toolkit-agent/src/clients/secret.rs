//! Secrets that expire, and the functions of the program that return them.

use crate::helpers::BoxFuture;
use crate::model::{ModelError, ModelErrorKind};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long before its expiry a token is replaced.
const MARGIN: Duration = Duration::from_secs(60);

/// A secret with an expiry.
pub(super) trait Expiring: Clone + Send + 'static {
    /// The name of the secret in error messages.
    const NAME: &'static str;

    /// Returns the time at which the secret expires. `None` if the secret is for a single request.
    fn expires(&self) -> Option<SystemTime>;

    fn is_empty(&self) -> bool;
}

type Failure = Box<dyn Error + Send + Sync>;
type Make<T> = dyn Fn() -> BoxFuture<'static, Result<T, Failure>> + Send + Sync;

/// A function of the program that returns secrets, together with the latest secret. Clones share the secret.
#[derive(Clone)]
pub(super) struct Source<T>(Arc<Shared<T>>);

struct Shared<T> {
    make: Box<Make<T>>,
    latest: Mutex<Option<T>>,
}

impl<T: Expiring> Source<T> {
    pub(super) fn new<F, Fut, V, E>(source: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        V: Into<T>,
        E: Into<Failure>,
    {
        let make = move || -> BoxFuture<'static, Result<T, Failure>> {
            let value = source();
            Box::pin(async move { value.await.map(Into::into).map_err(Into::into) })
        };
        Self(Arc::new(Shared { make: Box::new(make), latest: Mutex::default() }))
    }

    /// Returns a valid secret, and whether an earlier request has already used it.
    pub(super) async fn get(&self, service: &str, limit: Duration) -> Result<(T, bool), ModelError> {
        let made = timeout(limit, async {
            // Concurrent requests wait for the same secret.
            let mut latest = self.0.latest.lock().await;
            if let Some(secret) = latest.as_ref().filter(|secret| is_valid(*secret)) {
                return Ok::<_, Failure>((secret.clone(), true));
            }
            let secret = (self.0.make)().await?;
            *latest = secret.expires().map(|_| secret.clone());
            Ok((secret, false))
        });
        let name = T::NAME;
        let fail =
            |kind, text: String| Err(ModelError::new(kind, format!("no {name} for {service}: {text}")));
        match made.await {
            Ok(Ok((secret, _))) if secret.is_empty() => {
                fail(ModelErrorKind::Unauthorized, "the source has returned an empty string".to_owned())
            }
            Ok(Ok(secret)) => Ok(secret),
            Ok(Err(failure)) => match failure.downcast::<ModelError>() {
                Ok(error) => Err(*error),
                Err(failure) => fail(ModelErrorKind::Unauthorized, failure.to_string()),
            },
            Err(_) => {
                let text = format!("the source has not answered within {} s", limit.as_secs_f64());
                fail(ModelErrorKind::TimedOut, text)
            }
        }
    }

    /// Drops the latest secret after the server has refused it.
    pub(super) async fn forget(&self) {
        *self.0.latest.lock().await = None;
    }
}

fn is_valid(secret: &impl Expiring) -> bool {
    secret.expires().is_some_and(|expires| SystemTime::now() + MARGIN < expires)
}
