//! Every accumulator on any bytes: it never panics, yields each call once, and its response can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolkit_llm::{ApiFormat, StreamEvent};

fuzz_target!(|bytes: &[u8]| {
    let Some((size, body)) = bytes.split_first() else { return };
    for &format in ApiFormat::ALL {
        let mut stream = format.accumulator();
        let mut events = Vec::new();
        for piece in body.chunks(usize::from(*size).max(1)) {
            events.extend(stream.push_bytes(piece).into_iter().flatten());
        }
        let end = stream.finish();
        events.extend(end.events);
        let yielded = events.iter().filter(|event| matches!(event, StreamEvent::Call(_))).count();
        if yielded > 0 {
            let calls = format.parse_calls(&end.body).expect("the response can be read");
            assert_eq!(calls.len(), yielded, "{}", end.body);
            assert!(format.assistant_messages(&end.body).is_ok());
        }
    }
});
