//! Tests of calls, results and streams. Definitions, choices, schemas and paths are tested beside their code.

mod calls;
mod history;
mod properties;
mod repair;
mod results;
mod stream;
