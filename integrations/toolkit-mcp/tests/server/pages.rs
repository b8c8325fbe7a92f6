//! Pages in browsers: preflight requests, and answers that a page may read.

use super::http::{call, initialize, send, start};

const ORIGIN: &str = "Origin: https://app.example.com\r\n";

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_call_the_server_and_read_its_answers() {
    let server = start(|server| {
        server.with_allowed_origins(["https://app.example.com:443"]).with_bearer_token("secret")
    })
    .await;
    let question =
        "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: mcp-method, x-own\r\n";
    let preflight = send(server.address, "OPTIONS", "/mcp", &format!("{ORIGIN}{question}"), "").await;
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-headers"), Some("mcp-method, x-own"));
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, POST, DELETE"));

    let refused = call(server.address, ORIGIN, "request", "{}").await;
    let known = format!("{ORIGIN}Authorization: Bearer secret\r\n");
    let answered = send(server.address, "POST", "/mcp", &known, &initialize().to_string()).await;
    for (response, status) in [(&preflight, 204), (&refused, 401), (&answered, 200)] {
        assert_eq!(response.status, status);
        assert_eq!(response.header("access-control-allow-origin"), Some("https://app.example.com"));
        let exposed = response.header("access-control-expose-headers");
        assert_eq!(exposed, Some("mcp-session-id, www-authenticate"));
        assert_eq!(response.header("vary"), Some("origin"));
    }
}

#[tokio::test]
async fn a_page_of_another_origin_learns_nothing() {
    let server = start(|server| server.with_bearer_token("secret")).await;
    for method in ["OPTIONS", "POST", "GET", "DELETE"] {
        let response = send(server.address, method, "/mcp", "Origin: https://evil.example\r\n", "").await;
        assert_eq!(response.status, 403, "{method}");
        assert_eq!(response.header("access-control-allow-origin"), None, "{method}");
    }
    assert_eq!(
        send(server.address, "OPTIONS", "/mcp", "Authorization: Bearer secret\r\n", "").await.status,
        405
    );
}
