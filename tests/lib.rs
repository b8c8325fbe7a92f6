//! The tests are in the folders beside this file, each explained in its first line.
