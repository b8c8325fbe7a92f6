//! Secrets that expire, from functions of the program.

use crate::helpers::BoxFuture;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use tokio::time::timeout;
use toolkit_llm::{ModelError, ModelErrorKind};

/// A secret is replaced this long before it expires.
const MARGIN: Duration = Duration::from_secs(60);

pub(super) trait Expiring: Clone + Send + 'static {
    const NAME: &'static str;

    /// Returns the expiry. `None` if the secret is for a single request.
    fn expires(&self) -> Option<SystemTime>;

    fn is_empty(&self) -> bool;
}

type Failure = Box<dyn Error + Send + Sync>;
type Make<T> = dyn Fn() -> BoxFuture<'static, Result<T, Failure>> + Send + Sync;

/// A function that returns secrets, and its latest secret. Clones share both.
#[derive(Clone)]
pub(super) struct Source<T>(Arc<Shared<T>>);

struct Shared<T> {
    make: Box<Make<T>>,
    latest: Mutex<Latest<T>>,
}

/// The latest secret, and the number of secrets so far.
struct Latest<T> {
    secret: Option<T>,
    number: u64,
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
        Self(Arc::new(Shared {
            make: Box::new(make),
            latest: Mutex::new(Latest { secret: None, number: 0 }),
        }))
    }

    /// Returns a valid secret, with its number for [`forget`](Self::forget) if an earlier request has used
    /// it.
    pub(super) async fn get(&self, service: &str, limit: Duration) -> Result<(T, Option<u64>), ModelError> {
        let made = timeout(limit, async {
            // Concurrent requests wait for the same secret.
            let mut latest = self.0.latest.lock().await;
            if let Some(secret) = &latest.secret
                && is_valid(secret)
            {
                return Ok::<_, Failure>((secret.clone(), Some(latest.number)));
            }
            let secret = (self.0.make)().await?;
            latest.secret = if secret.expires().is_some() { Some(secret.clone()) } else { None };
            latest.number += 1;
            Ok((secret, None))
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

    /// Drops the secret with this number, unless a newer one has replaced it.
    pub(super) async fn forget(&self, number: u64) {
        let mut latest = self.0.latest.lock().await;
        if latest.number == number {
            latest.secret = None;
        }
    }
}

fn is_valid(secret: &impl Expiring) -> bool {
    secret.expires().is_some_and(|expires| SystemTime::now() + MARGIN < expires)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A secret that does not expire during the test.
    #[derive(Clone)]
    struct Secret;

    impl Expiring for Secret {
        const NAME: &'static str = "secret";

        fn expires(&self) -> Option<SystemTime> {
            Some(SystemTime::now() + MARGIN * 9)
        }

        fn is_empty(&self) -> bool {
            false
        }
    }

    #[tokio::test]
    async fn a_refusal_drops_only_the_refused_secret() {
        let count = Arc::new(AtomicUsize::new(0));
        let made = count.clone();
        let source = Source::<Secret>::new(move || {
            made.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, ModelError>(Secret) }
        });
        let get = async || source.get("x", MARGIN).await.unwrap().1;
        assert_eq!((get().await, get().await, get().await), (None, Some(1), Some(1)));
        // Two requests with the first token are refused, the second when the token is replaced.
        source.forget(1).await;
        assert_eq!(get().await, None);
        source.forget(1).await;
        assert_eq!((get().await, count.load(Ordering::SeqCst)), (Some(2), 2));
        source.forget(2).await;
        assert_eq!((get().await, count.load(Ordering::SeqCst)), (None, 3));
    }
}
