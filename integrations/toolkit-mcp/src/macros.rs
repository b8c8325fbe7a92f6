//! Macros of the core.

macro_rules! setters {
    ($($all:tt)*) => { toolkit_core::__setters! { $($all)* } };
}
pub(crate) use setters;
macro_rules! debug {
    ($($all:tt)*) => { toolkit_core::__debug! { $($all)* } };
}
pub(crate) use debug;
