//! The benchmarks are in the files beside this one; the first line of each names its measurement.
