//! Writes messages of the binary event stream of Amazon Web Services.

use serde_json::Value;

pub(super) fn message(kind: &str, event: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [(":message-type", "event"), (":event-type", kind)] {
        headers.push(name.len() as u8);
        headers.extend(name.bytes());
        headers.push(7); // a string
        headers.extend((value.len() as u16).to_be_bytes());
        headers.extend(value.bytes());
    }
    let payload = event.to_string();
    let mut bytes = ((12 + headers.len() + payload.len() + 4) as u32).to_be_bytes().to_vec();
    bytes.extend((headers.len() as u32).to_be_bytes());
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload.bytes());
    bytes.extend(crc32(&bytes).to_be_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let add = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
    !bytes.iter().fold(u32::MAX, add)
}
