//! Tests of requests, responses and streams.

mod calls;
mod choice;
mod definitions;
mod history;
mod properties;
mod repair;
mod results;
mod stream;
