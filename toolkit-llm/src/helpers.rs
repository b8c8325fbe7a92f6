//! Macros and small functions used throughout the crate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if another thread panicked while holding the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The maximum nesting depth of a value that `serde_json` can parse.
pub const MAX_NESTING: usize = 127;

/// Checks that valid JSON is not nested deeper than `max` levels. Otherwise, returns an error message.
pub fn check_nesting(json: &str, max: usize) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest <= max {
        return Ok(());
    }
    Err(format!("is nested {deepest} levels deep, and could not be read again; flatten it to {max} levels"))
}

/// A boxed `Send` future.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Declares builder methods. Each method sets the field that has the same name as its parameter. With
/// `Type.part`, the fields belong to `self.part` instead of `self`.
macro_rules! setters {
    ($type:ident: $($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*) => {
        impl $type {
            $($(#[$doc])* #[must_use] pub fn $method(mut self, $field: $ty) -> Self {
                self.$field = $value;
                self
            })*
        }
    };
    ($type:ident.$part:ident: $($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*) => {
        impl $type {
            $($(#[$doc])* #[must_use] pub fn $method(mut self, $field: $ty) -> Self {
                self.$part.$field = $value;
                self
            })*
        }
    };
}

/// Implements `Debug` for a type with closures, locks or secrets. The output shows only the listed values.
macro_rules! debug {
    ($type:ident $(<$lifetime:lifetime>)?, $this:ident $(, $name:literal: $value:expr)*) => {
        impl std::fmt::Debug for $type $(<$lifetime>)? {
            fn fmt(&$this, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field($name, &$value))*.finish_non_exhaustive()
            }
        }
    };
}

/// Implements `From` for an enum. The content of a variant is converted to the variant.
macro_rules! from_contents {
    ($type:ident: $($variant:ident($content:ty)),+) => {
        $(impl From<$content> for $type {
            fn from(content: $content) -> Self {
                Self::$variant(content)
            }
        })+
    };
}

/// Declares the object-safe form of a trait, and implements it for all types that implement the trait.
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
