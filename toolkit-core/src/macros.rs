//! Internal macros for builder methods, settings structs and `Debug` implementations.

/// Declares builder methods that set the field of their parameter's name, with `Type.part` a field of
/// `self.part`.
#[doc(hidden)]
#[macro_export]
macro_rules! __setters {
    ($type:ident $(. $part:tt)* :
        $($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*
    ) => {
        $crate::__setters! { @each $type [$($part)*] $({$(#[$doc])* $method($field: $ty) = $value})* }
    };
    (@each $type:ident $path:tt $($each:tt)*) => {
        #[allow(clippy::double_must_use)]
        impl $type {
            $($crate::__setters! { @one $path $each })*
        }
    };
    (@one [$($part:tt)*] {$(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr}) => {
        $(#[$doc])*
        #[must_use]
        pub fn $method(mut self, $field: $ty) -> Self {
            self $(.$part)* .$field = $value;
            self
        }
    };
}

/// Declares conversions from a list of types, which, unlike one from all types of a kind, can grow.
#[doc(hidden)]
#[macro_export]
macro_rules! __from {
    ($type:ident: $($value:ident: $($from:ty)|+ => $result:expr;)+) => {
        $($(impl From<$from> for $type {
            fn from($value: $from) -> Self {
                $result
            }
        })+)+
    };
}

/// Implements `From` for an enum, from the variants' contents.
#[doc(hidden)]
#[macro_export]
macro_rules! __from_contents {
    ($type:ident: $($variant:ident($content:ty)),+) => {
        $(impl From<$content> for $type {
            fn from(content: $content) -> Self {
                Self::$variant(content)
            }
        })+
    };
}

/// Implements `Debug` for a type with closures, locks or secrets, with only the listed values.
#[doc(hidden)]
#[macro_export]
macro_rules! __debug {
    ($type:ident $(<$lifetime:lifetime>)?, $this:ident $(, $name:literal: $value:expr)*) => {
        impl std::fmt::Debug for $type $(<$lifetime>)? {
            fn fmt(&$this, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field($name, &$value))*.finish_non_exhaustive()
            }
        }
    };
}

/// The macros above, as the crates of the workspace call them.
macro_rules! setters {
    ($($all:tt)*) => { $crate::__setters! { $($all)* } };
}
macro_rules! from {
    ($($all:tt)*) => { $crate::__from! { $($all)* } };
}

/// Generates a settings struct with its `Default` and builder methods.
///
/// Each line declares a field, an optional default (`= …`) and an optional builder method, which stores
/// its argument unless `=> …` changes it.
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

/// Implements `Debug` for a type, with only the listed values.
macro_rules! impl_debug {
    ($type:ident, |$this:ident| $($field:ident: $value:expr),* $(,)?) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($type))$(.field(stringify!($field), &$value))*.finish()
            }
        }
    };
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}

/// Lists `#[tool]` functions as an array of [`FunctionTool`](crate::FunctionTool)s.
///
/// Listed tools are always found. [`ToolRegistry::discover`](crate::ToolRegistry::discover) misses the
/// tools of a crate that the program mentions nowhere, because the linker drops it.
///
/// ```ignore
/// let registry = ToolRegistry::from_tools(tools![add, search::search_web])?;
/// ```
#[macro_export]
macro_rules! tools {
    () => {{
        let none: [$crate::FunctionTool; 0] = [];
        none
    }};
    ($($listed:tt)*) => {
        $crate::__listed_tools!([$($listed)*] $($listed)*)
    };
}

/// The names in [`tools!`], as written and once more to look at their form.
///
/// Written anew, a name would lose its place for compiler errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __listed_tools {
    (@ $($tool:ty),* $(,)?) => {
        [$(<$tool>::tool()),*]
    };
    ([$($listed:tt)*] $($($part:ident)::+),* $(,)?) => {
        $crate::__listed_tools!(@ $($listed)*)
    };
    ([$($listed:tt)*] $($($part:ident)::+ $(($($arguments:tt)*))?),* $(,)?) => {
        $crate::__listed_tools!(_)
    };
    ([$($listed:tt)*] $($path:path),* $(,)?) => {
        $crate::__listed_tools!(@ $($listed)*)
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "`tools!` lists the names of `#[tool]` functions, as in `tools![add, files::read]`; other tools are \
             listed without the macro, as in `[add::tool(), closure]`"
        )
    };
}
