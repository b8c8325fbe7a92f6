//! The programs of the READMEs and of the guide, under the lints of this package.
//!
//! The test is that they compile. `toolkit-readme` runs them.

#![allow(
    clippy::doc_markdown,
    clippy::missing_const_for_fn,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unused_async,
    clippy::unused_self,
    clippy::unwrap_used,
    closure_returning_async_block,
    unreachable_pub,
    unused_qualifications,
    unused_results,
    reason = "they are about the code of the guide, which is short, not about generated code"
)]

include!(concat!(env!("OUT_DIR"), "/guide.rs"));
