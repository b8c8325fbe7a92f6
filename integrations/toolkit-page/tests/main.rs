//! Tests of the page, over its router and over connections.

mod attacks;
mod calls;
mod page_client;
mod sizes;
mod tools;
