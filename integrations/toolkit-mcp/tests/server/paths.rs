//! The path of a server over HTTP.

use super::http::{send, stateless};
use toolkit_ai::{ToolRegistry, tool, tools};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{ProtectedResource, VerifiedToken};

/// Greets.
#[tool]
fn greet() -> &'static str {
    "Hello!"
}

fn server() -> McpServer {
    McpServer::new(ToolRegistry::from_tools(tools![greet]).expect("legal")).expect("complete")
}

#[test]
fn a_path_that_no_request_can_have_is_a_build_error() {
    let illegal = "write letters, digits and ";
    for (path, fix) in [
        ("/a/{x}", illegal),
        ("{", illegal),
        ("}", illegal),
        ("*x", illegal),
        ("/{*x}", illegal),
        (":x", illegal),
        ("/a/:x/b", illegal),
        ("a b", illegal),
        ("é", illegal),
        ("a?b", illegal),
        ("..", illegal),
        ("%2", illegal),
        ("/.well-known/oauth-protected-resource", "use another path"),
        ("/.well-known/oauth-protected-resource/mcp/", "use another path"),
    ] {
        let error = server().with_path(path).expect_err(path).to_string();
        assert!(error.contains("cannot be served: ") && error.contains(fix), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_server_is_served_at_its_path_with_and_without_slashes() {
    for (path, served) in [
        ("", vec!["/"]),
        ("/", vec!["/"]),
        ("tools", vec!["/tools", "/tools/"]),
        ("/tools/", vec!["/tools", "/tools/"]),
        ("/a/b", vec!["/a/b", "/a/b/"]),
        ("/%7Bx%7D/a:b", vec!["/%7Bx%7D/a:b"]),
    ] {
        let server =
            server().with_path(path).expect(path).bind_http("127.0.0.1:0").await.expect("a free port");
        let address = server.address();
        assert_eq!(
            server.url().trim_end_matches('/'),
            format!("http://{address}{}", served[0]).trim_end_matches('/')
        );
        tokio::spawn(server.run_until(std::future::pending()));
        let (headers, body) = stateless("greet", "{}");
        for path in served {
            assert_eq!(send(address, "POST", path, &headers, &body).await.status, 200, "{path}");
        }
        assert_eq!(send(address, "POST", "/other", &headers, &body).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_metadata_of_a_resource_whose_path_cannot_be_served_is_that_of_the_origin() {
    for path in ["/{x}", "/:x", "/*x"] {
        let resource = format!("https://tools.example.com{path}");
        let resource = ProtectedResource::new(resource, ["https://login.example.com"]);
        let server = server().with_oauth(resource, async |_| None::<VerifiedToken>);
        #[cfg(feature = "axum-08")]
        let _: axum::Router = server.clone().into_router();
        let server = server.bind_http("127.0.0.1:0").await.expect("a free port");
        let address = server.address();
        tokio::spawn(server.run_until(std::future::pending()));
        let metadata = "/.well-known/oauth-protected-resource";
        assert_eq!(send(address, "GET", metadata, "", "").await.status, 200, "{path}");
        let (headers, body) = stateless("greet", "{}");
        let refused = send(address, "POST", "/mcp", &headers, &body).await;
        let challenge = refused.header("www-authenticate").expect("a challenge");
        let expected = format!("Bearer resource_metadata=\"https://tools.example.com{metadata}\"");
        assert!(challenge.starts_with(&expected), "{challenge}");
    }
}
