//! Tests of calls, results, histories and streams. The modules of definitions and choices have their own tests.

mod calls;
mod deviations;
mod history;
mod mistral;
mod properties;
mod results;
mod stream;
