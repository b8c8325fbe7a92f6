//! The tests are in the folders beside this file; each target says in its first line what it is about.
