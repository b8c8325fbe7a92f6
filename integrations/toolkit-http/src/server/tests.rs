//! Accepted hosts and origins, and the number of connections.

use super::allowed::{Host, Origin};
use super::*;
use http::Response;
use std::future::pending;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[test]
fn hosts_are_accepted_by_name_and_port() {
    let is_accepted = |accepted: &str, host: &str| {
        Host::of_request(host).is_some_and(|host| Host::accepted(accepted).accepts(&host))
    };
    for (accepted, host) in [
        ("tools.example.com", "tools.example.com"),
        ("tools.example.com", "Tools.Example.com:8080"),
        ("tools.example.com:8080", "tools.example.com:8080"),
        ("::1", "[::1]:80"),
        ("[::1]:80", "[::1]:80"),
    ] {
        assert!(is_accepted(accepted, host), "{accepted} {host}");
    }
    for (accepted, host) in [
        ("tools.example.com", "example.com"),
        ("tools.example.com", "tools.example.com.evil"),
        ("tools.example.com:8080", "tools.example.com"),
        ("tools.example.com:8080", "tools.example.com:80"),
        ("::1", "[::2]"),
        ("tools.example.com", "a b"),
    ] {
        assert!(!is_accepted(accepted, host), "{accepted} {host}");
    }
}

#[test]
fn origins_are_accepted_by_scheme_name_and_port() {
    let is_accepted = |accepted: &str, origin: &str| {
        let origin = Origin::of_request(origin);
        Origin::accepted(accepted).zip(origin).is_some_and(|(accepted, origin)| accepted.accepts(&origin))
    };
    for (accepted, origin) in [
        ("https://app.example.com", "https://app.example.com"),
        ("https://app.example.com:443", "https://app.example.com"),
        ("https://app.example.com/", "https://APP.example.com:443"),
        ("http://localhost:*", "http://localhost:3000"),
        ("http://[::1]:*", "http://[::1]:3000"),
        ("null", "null"),
    ] {
        assert!(is_accepted(accepted, origin), "{accepted} {origin}");
    }
    for (accepted, origin) in [
        ("https://app.example.com", "http://app.example.com"),
        ("https://app.example.com", "https://app.example.com:8443"),
        ("https://app.example.com", "https://app.example.com.evil"),
        ("http://localhost:*", "https://localhost:3000"),
        ("http://localhost:*", "null"),
        ("app.example.com", "https://app.example.com"),
        ("https://app.example.com", ""),
    ] {
        assert!(!is_accepted(accepted, origin), "{accepted} {origin}");
    }
}

#[tokio::test]
async fn connections_beyond_the_maximum_wait() {
    let mut guards = HttpGuards::new("GET", "");
    guards.max_connections = 1;
    let listener = guards.bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = |_| async { Response::new("hello".into()) };
    let server = tokio::spawn(async move { guards.accept(listener, answer, pending()).await });
    let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut first = TcpStream::connect(address).await.unwrap();
    let mut second = TcpStream::connect(address).await.unwrap();
    let mut byte = [0];
    first.write_all(request).await.unwrap();
    first.read_exact(&mut byte).await.unwrap();
    second.write_all(request).await.unwrap();
    let waiting = timeout(Duration::from_millis(50), second.read_exact(&mut byte)).await;
    assert!(waiting.is_err(), "the second connection is served");
    drop(first);
    timeout(Duration::from_secs(20), second.read_exact(&mut byte)).await.unwrap().unwrap();
    server.abort();
}
