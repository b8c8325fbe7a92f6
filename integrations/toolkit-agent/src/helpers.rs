//! Macros and small functions used throughout the crate.

use std::any::Any;
use std::future::poll_fn;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
pub(crate) use toolkit_llm::__private::{BoxFuture, MAX_NESTING, append_json, lock};

/// Calls a function of the program. A panic becomes an error with its message.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(&*panic).to_owned())
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return text;
    }
    panic.downcast_ref::<String>().map_or("no message", String::as_str)
}

/// Awaits a future of the program. A panic becomes an error with its message.
pub(crate) async fn guarded_future<F: Future>(work: F) -> Result<F::Output, String> {
    let mut work = pin!(work);
    poll_fn(|cx| match guarded(|| work.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Returns a new id of a run or a log: 64 bits, the hash of a counter under a random key of this process.
pub(crate) fn new_id() -> Arc<str> {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    static IDS: AtomicU64 = AtomicU64::new(0);
    let count = IDS.fetch_add(1, Ordering::Relaxed);
    let mut hash = KEY.get_or_init(RandomState::new).hash_one(count);
    // By hand, because each run has an id, and formatting it costs as much as all of the rest here.
    let mut digits = [0; 16];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(hash % 16) as usize];
        hash /= 16;
    }
    str::from_utf8(&digits).unwrap_or_default().into()
}

/// Shared text in JSON.
pub(crate) mod shared_text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(crate) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

/// Shared texts in JSON.
pub(crate) mod shared_texts {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::sync::Arc;

    pub(crate) fn serialize<S: Serializer>(texts: &[Arc<str>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(texts.iter().map(|text| &**text))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<str>>, D::Error> {
        let texts: Vec<String> = Vec::deserialize(deserializer)?;
        Ok(texts.into_iter().map(Arc::from).collect())
    }
}

/// Macros of the core.
macro_rules! setters {
    ($($all:tt)*) => { toolkit_core::__setters! { $($all)* } };
}
macro_rules! debug {
    ($($all:tt)*) => { toolkit_core::__debug! { $($all)* } };
}
macro_rules! from_contents {
    ($($all:tt)*) => { toolkit_core::__from_contents! { $($all)* } };
}

/// Declares and implements the object-safe form of a trait.
macro_rules! object_safe {
    (
        $(#[$doc:meta])* $visibility:vis trait $object:ident: $trait:ident {
            $(fn $getter:ident(&self $(, $given:ident: $kind:ty)*) -> $got:ty;)*
            $(async fn $method:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)*
        }
    ) => {
        $(#[$doc])* $visibility trait $object: Send + Sync {
            $(fn $getter(&self $(, $given: $kind)*) -> $got;)*
            $(fn $method<'a>(&'a self, $($parameter: $ty),*) -> $crate::helpers::BoxFuture<'a, $result>;)*
        }

        impl<T: $trait> $object for T {
            $(fn $getter(&self $(, $given: $kind)*) -> $got {
                $trait::$getter(self $(, $given)*)
            })*
            $(fn $method<'a>(&'a self, $($parameter: $ty),*) -> $crate::helpers::BoxFuture<'a, $result> {
                Box::pin($trait::$method(self, $($parameter),*))
            })*
        }
    };
}
