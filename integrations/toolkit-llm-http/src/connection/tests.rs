//! Connections over proxies, their limits, and invalid URLs.

use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// Starts a server that reads the head of one request, sends `answer` and closes the connection. Returns the
/// address of the server, and a future that returns the head of the request.
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

/// Sends a request to `url` through `proxies`, as the clients do.
async fn get(url: &str, proxies: &Matcher) -> Result<u16, ModelError> {
    let limits = HttpLimits::default().with_connect(Duration::from_secs(5));
    let connections = Connections::with_proxies(url, &limits, proxies)?;
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = uri(url)?;
    let authorization = connections.proxy_authorization.clone();
    request.headers_mut().extend(authorization.map(|value| (http::header::PROXY_AUTHORIZATION, value)));
    Ok(connections.send(request).await?.status().as_u16())
}

#[tokio::test]
async fn a_proxy_reads_plain_requests() {
    let (address, head) = server(ANSWER).await;
    let proxies = Matcher::builder().http(format!("http://ada:pass@{address}")).build();
    let (status, head) = tokio::join!(get("http://models.test:8080/v1/chat?x=1", &proxies), head);
    assert_eq!(status, Ok(200));
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[0], "GET http://models.test:8080/v1/chat?x=1 HTTP/1.1");
    assert!(lines.contains(&"host: models.test:8080"), "{head}");
    assert!(lines.contains(&"proxy-authorization: Basic YWRhOnBhc3M="), "{head}");
}

#[tokio::test]
async fn a_proxy_only_tunnels_encrypted_requests() {
    let (address, head) = server(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
    let proxies = Matcher::builder().https(format!("http://ada:pass@{address}")).build();
    let (refused, head) = tokio::join!(get("https://models.test/v1/chat", &proxies), head);
    assert!(head.starts_with("CONNECT models.test:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic YWRhOnBhc3M=\r\n"), "{head}");
    assert!(!head.contains("v1/chat"), "{head}");
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind, ModelErrorKind::Connection);
    assert!(refused.is_retryable() && refused.to_string().contains("authorization"), "{refused}");
}

#[tokio::test]
async fn some_hosts_have_no_proxy() {
    let (address, head) = server(ANSWER).await;
    let proxies = Matcher::builder().all("http://127.0.0.1:1").no("127.0.0.1").build();
    let url = format!("http://{address}/v1");
    let (status, head) = tokio::join!(get(&url, &proxies), head);
    assert_eq!(status, Ok(200));
    assert!(head.starts_with("GET /v1 HTTP/1.1\r\n"), "{head}");
}

#[tokio::test]
async fn other_proxies_are_refused_without_their_secrets() {
    for proxy in ["socks5://ada:pass@127.0.0.1:1", "https://ada:pass@127.0.0.1:1"] {
        let proxies = Matcher::builder().all(proxy).build();
        let error = get("https://models.test", &proxies).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::InvalidRequest);
        assert!(error.to_string().contains("only `http` is supported"), "{error}");
        assert!(!error.to_string().contains("pass"), "{error}");
    }
}

#[tokio::test]
async fn the_limit_for_connecting_includes_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let limits = HttpLimits::default().with_connect(Duration::from_millis(50));
    let connections = Connections::with_proxies(&url, &limits, &Matcher::builder().build()).unwrap();
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = uri(&url).unwrap();
    let error = connections.send(request).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::TimedOut);
    assert_eq!(error.to_string(), "no connection to the model's server: no answer within 0.05 s");
}

#[test]
fn only_urls_of_servers_are_accepted() {
    for url in ["https://api.test/v1", "http://127.0.0.1:8080", "http://[::1]:80/v1?key=secret"] {
        assert!(uri(url).is_ok(), "{url}");
    }
    let begin = "must begin with `https://`";
    for (url, said) in [
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
        let error = uri(url).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::InvalidRequest, "{url}");
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
