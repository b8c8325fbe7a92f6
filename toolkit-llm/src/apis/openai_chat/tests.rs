//! Tests of calls, results, histories and streams. Choices are tested with those of Responses.

mod calls;
mod definitions;
mod deviations;
mod history;
mod mistral;
mod properties;
mod results;
mod stream;
