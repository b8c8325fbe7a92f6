//! Macros used throughout the crate.

/// A boxed `Send` future.
pub(crate) type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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
