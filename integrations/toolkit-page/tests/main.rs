//! Tests of the page, over its router.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod approvals;
mod attacks;
mod calls;
mod page_client;
mod sizes;
mod tools;
