//! Tests of calls and results. Definitions and choices are tested beside their code.

mod calls;
mod deviations;
mod history;
mod mistral;
mod properties;
mod results;
mod stream;
