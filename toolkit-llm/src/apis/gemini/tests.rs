//! Tests of calls, results, histories and streams. The modules of definitions, choices, schemas and paths have their
//! own tests.

mod calls;
mod history;
mod properties;
mod repair;
mod results;
mod stream;
