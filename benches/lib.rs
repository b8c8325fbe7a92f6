//! The benchmarks are in the files beside this one; each says in its first line what it measures.
