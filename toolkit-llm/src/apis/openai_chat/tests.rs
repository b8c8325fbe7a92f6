//! Tests of calls, results, histories and streams. The modules of definitions and choices have their own tests.

mod mistral;
mod properties;
