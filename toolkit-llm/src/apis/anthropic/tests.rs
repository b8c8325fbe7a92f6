//! Properties of random payloads, histories and streams, and what several messages have in common.
//!
//! Single messages and streams are in `tests/data` of this crate.

mod unfinished;
