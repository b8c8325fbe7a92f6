//! The benchmarks are in the files beside this one, each explained in its first line.
