//! The docstring parser on any text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = toolkit_docstring::parse(text);
});
