//! Macros of the core, used throughout the crate.

pub(crate) use toolkit_llm::__private::BoxFuture;

macro_rules! setters {
    ($($all:tt)*) => { toolkit_core::__setters! { $($all)* } };
}
macro_rules! debug {
    ($($all:tt)*) => { toolkit_core::__debug! { $($all)* } };
}
