//! Tests of calls, results, histories and streams. Definitions and choices are tested beside their code.

mod calls;
mod history;
mod properties;
mod results;
mod stream;
mod unfinished;
