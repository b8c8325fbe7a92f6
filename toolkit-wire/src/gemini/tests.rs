//! Calls, results and streams as a whole; definitions, choices, schemas and paths are tested beside
//! their code.

mod calls;
mod history;
mod properties;
mod repair;
mod results;
mod stream;
