//! A service over HTTP/1.1 that sends its answers as they are.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Starts a service that answers by head and body, and returns its address.
pub(crate) async fn serve(answer: impl Fn(&str, &str) -> Vec<u8> + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(handle(stream, answer.clone()));
        }
    });
    url
}

async fn handle(mut stream: TcpStream, answer: impl Fn(&str, &str) -> Vec<u8>) {
    let mut received = Vec::new();
    let mut buffer = [0; 8_192];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        received.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&received);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let mut lengths = head.lines().filter_map(|line| line.split_once(':'));
        let length = lengths.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.map_or(0, |(_, value)| value.trim().parse().unwrap());
        if body.len() >= length {
            let _ = stream.write_all(&answer(head, body)).await;
            let _ = stream.shutdown().await;
            return;
        }
    }
}

pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    format!("{head}\r\n{body}").into_bytes()
}
