//! Which servers a document may name.

use crate::client::{Namespaces, OpenApiTools};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// Answers one request with `1`, if one comes.
fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4_096]);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1").unwrap();
    });
    format!("127.0.0.1:{port}")
}

#[tokio::test]
async fn servers_that_a_document_from_elsewhere_names_must_be_public() {
    let elsewhere = "https://docs.example/openapi.json";
    let server = |host: &str| format!("http://{host}/v1");
    let local = |host: &str| host.replace("127.0.0.1", "localhost");
    let first = service();
    let other = service();
    let own = service();
    for (address, server, base_url, is_allowed) in [
        (elsewhere.to_owned(), server(&first), None, false),
        // A name is checked after it was resolved.
        (elsewhere.to_owned(), server(&local(&first)), None, false),
        (elsewhere.to_owned(), "http://[::ffff:10.0.0.1]".to_owned(), None, false),
        (format!("http://{first}/openapi.json"), server(&other), None, false),
        (format!("http://{first}/openapi.json"), "/v1".to_owned(), None, true),
        (elsewhere.to_owned(), server(&other), Some(server(&other)), true),
        // The text of a document has no address: the program has it from a place of its own.
        (String::new(), server(&own), None, true),
    ] {
        let document = format!(
            r#"{{"openapi": "3.1.0", "servers": [{{"url": "{server}"}}], "paths": {{"/": {{"get": {{"operationId": "call"}}}}}}}}"#
        );
        let mut builder = OpenApiTools::builder().namespaces(Namespaces::None);
        if let Some(base_url) = base_url {
            builder = builder.base_url(base_url);
        }
        let tools = builder.read(&document, &address).unwrap().registry().unwrap();
        match tools.call("call", "{}").await {
            Ok(output) => assert!(is_allowed && output.to_text() == "1", "{address} {server}"),
            Err(error) => {
                assert!(
                    !is_allowed && error.to_string().contains("is not public"),
                    "{address} {server}: {error}"
                );
            }
        }
    }
}
