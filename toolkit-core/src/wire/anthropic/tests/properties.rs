//! What holds for every payload, every call and every way to cut a stream.
