//! Macros that write repeated code.

/// Writes builder methods, each for the field of its parameter's name, possibly in a part of the type.
macro_rules! setters {
    ($ty:ty { $($(#[$meta:meta])* $method:ident($field:ident: $argument:ty) = $value:expr;)* }) => {
        impl $ty {
            $($(#[$meta])* #[must_use] pub fn $method(mut self, $field: $argument) -> Self {
                self.$field = $value;
                self
            })*
        }
    };
    ($ty:ty, $part:tt { $($(#[$meta:meta])* $method:ident($field:ident: $argument:ty) = $value:expr;)* }) => {
        impl $ty {
            $($(#[$meta])* #[must_use] pub fn $method(mut self, $field: $argument) -> Self {
                self.$part.$field = $value;
                self
            })*
        }
    };
}

/// Writes a struct of settings: each field with its documentation, its default and its builder method.
///
/// A field without `= …` has the default of its type; a method without `=> …` takes the field's value.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $ty:ident {
            $($(#[$doc:meta])* $field:ident: $of:ty $(= $default:expr)? $(, $method:ident($argument:ty) $(=> $value:expr)?)?;)*
        }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $ty {
            $($(#[$doc])* pub $field: $of,)*
        }

        impl Default for $ty {
            fn default() -> Self {
                Self { $($field: settings!(@first $($default,)? <$of>::default(),),)* }
            }
        }

        impl $ty {
            $($(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $method(mut self, $field: $argument) -> Self {
                    self.$field = settings!(@first $($value,)? $field,);
                    self
                }
            )?)*
        }
    };
    (@first $first:expr, $($rest:expr,)*) => { $first };
}

/// Writes the setters that tools of several kinds share, over their `definition_mut`, and `Debug`.
macro_rules! definition_setters {
    ($($ty:ident)*) => {$(
        impl $ty {
            /// Sets the name.
            #[must_use]
            pub fn with_name(mut self, name: $crate::name::ToolName) -> Self {
                self.definition_mut().name = name;
                self
            }

            /// Sets the description.
            #[must_use]
            pub fn with_description(mut self, description: impl Into<String>) -> Self {
                self.definition_mut().description = description.into();
                self
            }

            /// Sets the time limit of a call, which precedes those of dispatcher and registry.
            #[must_use]
            pub fn with_timeout(mut self, limit: std::time::Duration) -> Self {
                self.definition_mut().metadata.timeout = Some(limit);
                self
            }
        }

        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let definition = $crate::tool::Tool::definition(self);
                f.debug_struct(stringify!($ty)).field("definition", definition).finish_non_exhaustive()
            }
        }
    )*};
}
