//! Connections over proxies, their limits, private addresses, and invalid URLs.

use super::*;
use hyper_util::client::proxy::matcher::Matcher;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// Starts a server that reads the head of one request, sends `answer` and closes the connection. Returns its
/// address, and a future for the head.
async fn server(answer: &'static [u8]) -> (String, impl Future<Output = String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let head = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).await.unwrap();
            head.extend(byte);
        }
        stream.write_all(answer).await.unwrap();
        String::from_utf8(head).unwrap()
    };
    (address, head)
}

fn client(limits: HttpLimits, proxies: Matcher) -> HttpClient {
    HttpClient::with_connector(Connector::with_proxies(&limits, proxies), limits)
}

async fn send(client: &HttpClient, url: &str) -> Result<(u16, String), HttpError> {
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = parse_url(url)?;
    let response = client.send(request, Duration::from_secs(20)).await?;
    Ok((response.status.as_u16(), response.secrets.redact("for YWRhOnBhc3M=")))
}

async fn get(url: &str, proxies: Matcher) -> Result<u16, HttpError> {
    let limits = HttpLimits::default().with_connect(Duration::from_secs(5));
    Ok(send(&client(limits, proxies), url).await?.0)
}

#[tokio::test]
async fn a_proxy_reads_plain_requests() {
    let (address, head) = server(ANSWER).await;
    let proxies = Matcher::builder().http(format!("http://ada:pass@{address}")).build();
    let client = client(HttpLimits::default(), proxies);
    let (response, head) = tokio::join!(send(&client, "http://models.test:8080/v1/chat?x=1"), head);
    assert_eq!(response, Ok((200, "for …".to_owned())));
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[0], "GET http://models.test:8080/v1/chat?x=1 HTTP/1.1");
    assert!(lines.contains(&"host: models.test:8080"), "{head}");
    assert!(lines.contains(&"proxy-authorization: Basic YWRhOnBhc3M="), "{head}");
}

#[tokio::test]
async fn a_proxy_only_tunnels_encrypted_requests() {
    let (address, head) = server(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
    let proxies = Matcher::builder().https(format!("http://ada:pass@{address}")).build();
    let (refused, head) = tokio::join!(get("https://models.test/v1/chat", proxies), head);
    assert!(head.starts_with("CONNECT models.test:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic YWRhOnBhc3M=\r\n"), "{head}");
    assert!(!head.contains("v1/chat"), "{head}");
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), HttpErrorKind::Connection);
    assert!(!refused.is_lasting() && refused.to_string().contains("authorization"), "{refused}");
}

#[tokio::test]
async fn one_client_sends_to_many_hosts_each_with_its_proxy() {
    let (first, first_head) = server(ANSWER).await;
    let (second, second_head) = server(ANSWER).await;
    let proxies = Matcher::builder().all(format!("http://{second}")).no("127.0.0.1").build();
    let client = client(HttpLimits::default(), proxies);
    let url = format!("http://{first}/v1");
    let (response, head) = tokio::join!(send(&client, &url), first_head);
    assert_eq!(response.unwrap().0, 200);
    assert!(head.starts_with("GET /v1 HTTP/1.1\r\n"), "{head}");
    let (response, head) = tokio::join!(send(&client, "http://models.test/v2"), second_head);
    assert_eq!(response.unwrap().0, 200);
    assert!(head.starts_with("GET http://models.test/v2 HTTP/1.1\r\n"), "{head}");
}

#[tokio::test]
async fn other_proxies_are_refused_without_their_secrets() {
    for proxy in ["socks5://ada:pass@127.0.0.1:1", "https://ada:pass@127.0.0.1:1"] {
        let proxies = Matcher::builder().all(proxy).build();
        let error = get("https://models.test", proxies).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::InvalidRequest);
        assert!(error.to_string().contains("only `http` is supported"), "{error}");
        assert!(!error.to_string().contains("pass"), "{error}");
    }
}

#[tokio::test]
async fn the_limit_for_connecting_includes_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let limits = HttpLimits::default().with_connect(Duration::from_millis(50));
    let error = send(&client(limits, Matcher::builder().build()), &url).await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::TimedOut);
    assert_eq!(error.to_string(), "no connection to the server: no answer within 0.05 s");
}

#[tokio::test]
async fn private_addresses_are_refused_after_their_resolution() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = client(HttpLimits::default(), Matcher::builder().build()).with_public_addresses_only();
    // The system reads the last two forms as addresses.
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "127.1", "2130706433"] {
        for scheme in ["http", "https"] {
            let error = send(&client, &format!("{scheme}://{host}:{port}/")).await.unwrap_err();
            assert_eq!(error.kind(), HttpErrorKind::NotAllowed, "{host}: {error}");
            assert!(error.is_lasting() && error.to_string().contains("not public"), "{error}");
        }
    }
    let none = timeout(Duration::from_millis(20), listener.accept()).await;
    assert!(none.is_err(), "a connection was opened");
}

#[tokio::test]
async fn a_proxy_may_be_private_where_servers_must_be_public() {
    let (address, head) = server(ANSWER).await;
    let proxies = Matcher::builder().all(format!("http://{address}")).build();
    let client = client(HttpLimits::default(), proxies).with_public_addresses_only();
    let error = send(&client, "http://10.0.0.1/").await.unwrap_err();
    assert_eq!(error.kind(), HttpErrorKind::NotAllowed);
    let (response, head) = tokio::join!(send(&client, "http://models.test/"), head);
    assert_eq!(response.unwrap().0, 200);
    assert!(head.starts_with("GET http://models.test/ "), "{head}");
}

/// Returns the URL of a server and its connections.
async fn counted() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                while stream.read_u8().await.is_ok_and(|byte| byte != b'?') {}
                stream.write_all(ANSWER).await.unwrap();
                while stream.read_u8().await.is_ok_and(|byte| byte != b'?') {}
                stream.write_all(ANSWER).await
            });
        }
    });
    (url, opened)
}

#[tokio::test]
async fn plain_connections_are_kept_only_if_the_client_says_so() {
    for (keeps, expected) in [(false, 2), (true, 1)] {
        let (url, opened) = counted().await;
        let mut client = client(HttpLimits::default(), Matcher::builder().build());
        if keeps {
            client = client.with_kept_connections();
        }
        for _ in 0..2 {
            let mut request = Request::new(Bytes::new());
            *request.uri_mut() = parse_url(&format!("{url}?")).unwrap();
            let mut response = client.send(request, Duration::from_secs(20)).await.unwrap();
            assert_eq!(response.body.all().await.unwrap(), b"{}");
        }
        assert_eq!(opened.load(Ordering::Relaxed), expected);
    }
}

#[tokio::test]
async fn an_error_says_what_happened_and_whether_the_request_was_sent() {
    let unopened = client(HttpLimits::default(), Matcher::builder().build());
    let error = send(&unopened, "http://127.0.0.1:9/").await.unwrap_err();
    assert_eq!(error.to_string(), format!("no connection to the server: {}", error.reason()));
    assert!(error.is_unsent() && error.reason().starts_with("Connection refused"), "{error}");
    let broken = HttpError::of_connection(&std::io::Error::other("reset"), false, "x");
    assert_eq!((broken.to_string().as_str(), broken.reason()), ("the connection to x broke: reset", "reset"));
    assert!(!broken.is_unsent());
    let proxies = Matcher::builder().all("socks5://127.0.0.1:1").build();
    let error = send(&client(HttpLimits::default(), proxies), "http://models.test").await.unwrap_err();
    assert!(error.is_unsent() && error.to_string() == error.reason(), "{error}");
}

#[test]
fn an_invalid_certificate_is_lasting() {
    let invalid = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
    assert!(HttpError::of_connection(&std::io::Error::other(invalid), true, "x").is_lasting());
    assert!(!HttpError::of_connection(&std::io::Error::other("reset"), true, "x").is_lasting());
}

#[test]
fn only_urls_of_servers_are_accepted() {
    for url in ["https://api.test/v1", "http://127.0.0.1:8080", "http://[::1]:80/v1?key=secret"] {
        assert!(parse_url(url).is_ok(), "{url}");
    }
    let begin = "must begin with `https://`";
    for (url, message) in [
        ("", begin),
        ("api.secret/v1", begin),
        ("ftp://api.secret", begin),
        ("https://", begin),
        ("https:///secret", begin),
        ("https://api.test/v1 secret", "without spaces"),
        ("https://ada:secret@api.test", "the header `authorization`"),
        ("http://localhost:114434/secret", "an invalid port"),
        ("http://gateway:SECRET/v1", "an invalid port"),
    ] {
        let error = parse_url(url).unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::InvalidRequest, "{url}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
