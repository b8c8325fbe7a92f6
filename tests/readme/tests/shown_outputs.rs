//! Programs of the guide print what their page shows.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::redundant_closure_for_method_calls
)]

use std::sync::{Mutex, PoisonError};

static PRINTED: Mutex<String> = Mutex::new(String::new());

fn record(text: &str) {
    *PRINTED.lock().unwrap_or_else(PoisonError::into_inner) += text;
}

// They replace those of the standard library below.
macro_rules! print {
    ($($text:tt)*) => { $crate::record(&format!($($text)*)) };
}
macro_rules! println {
    ($($text:tt)*) => { $crate::record(&(format!($($text)*) + "\n")) };
}

include!(concat!(env!("OUT_DIR"), "/shown_outputs.rs"));

#[test]
fn programs_print_what_their_page_shows() {
    let mut wrong = String::new();
    for (program, run, shown) in SHOWN {
        run();
        let printed = std::mem::take(&mut *PRINTED.lock().unwrap_or_else(PoisonError::into_inner));
        if printed != *shown {
            wrong += &format!("docs/guide/{program} prints:\n{printed}");
        }
    }
    assert!(SHOWN.len() > 20, "{} programs", SHOWN.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}
