//! Servers behind a URL.
