//! The macros of the core for builder methods that only set a field, for conversions, and for the output of `Debug`.

macro_rules! setters {
    ($($all:tt)*) => { toolkit_core::__setters! { $($all)* } };
}
#[cfg(feature = "model")]
macro_rules! from {
    ($($all:tt)*) => { toolkit_core::__from! { $($all)* } };
}
#[cfg(feature = "model")]
macro_rules! debug {
    ($($all:tt)*) => { toolkit_core::__debug! { $($all)* } };
}
#[cfg(feature = "model")]
macro_rules! from_contents {
    ($($all:tt)*) => { toolkit_core::__from_contents! { $($all)* } };
}
