//! Tests of calls, results, histories and streams. The modules of definitions, choices, schemas and paths have their
//! own tests.

mod properties;
