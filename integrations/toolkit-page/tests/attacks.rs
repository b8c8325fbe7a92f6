//! Readers and pages that want more than they may.

use crate::page_client::{Reader, page, registry, request, send};
use http::header::SET_COOKIE;
use serde_json::{Value, json};
use toolkit_ai::LiveRegistry;
use toolkit_ai::prelude::*;
use toolkit_page::{PageRights, ToolPage};

#[tokio::test]
async fn a_token_is_exchanged_once() {
    let page = page();
    let path = page.logins().new_path();
    let app = page.into_router().unwrap();
    let response = send(&app, request("GET", &path)).await;
    let cookie = response.headers()[SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let stolen = send(&app, request("GET", &path)).await;
    assert_eq!((stolen.status().as_u16(), stolen.headers().get(SET_COOKIE)), (401, None));
}

#[tokio::test]
async fn tokens_and_cookies_cannot_be_made() {
    let reader = Reader::enter(page()).await;
    let (name, value) = reader.cookie.split_once('=').unwrap();
    let (number, seal) = value.split_once('.').unwrap();
    let forged = format!("{}{}", if seal.starts_with('0') { '1' } else { '0' }, &seal[1..]);
    for cookie in [
        format!("{name}={number}.{forged}"),
        format!("{name}=1.{seal}"),
        format!("{name}={number}."),
        format!("{name}="),
        format!("other={value}"),
    ] {
        let response = send(&reader.app, request("GET", "/api/tools").header("cookie", &cookie)).await;
        assert_eq!(response.status(), 401, "{cookie}");
    }
    // The seals of another purpose, and of another page.
    for token in [value, &reader.csrf, "", "0", "0.00"] {
        let response = send(&reader.app, request("GET", &format!("/?token={token}"))).await;
        assert_eq!(response.status(), 401, "{token}");
    }
    let other = Reader::enter(page()).await;
    let response = send(&reader.app, request("GET", "/api/tools").header("cookie", &other.cookie)).await;
    assert_eq!(response.status(), 401);
}

#[tokio::test]
async fn another_page_gets_and_changes_nothing() {
    let reader = Reader::enter(page()).await;
    let call = json!({"id": "1", "arguments": r#"{"n": 1}"#});
    for (header, value) in [
        ("origin", "http://evil.example"),
        ("origin", "http://localhost:3000"), // another program of this machine, which has the same cookies
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        for (method, path) in [("GET", "/api/session"), ("POST", "/api/tools/math-double/call")] {
            let request =
                reader.request(method, path).header("x-toolkit-csrf", &reader.csrf).header(header, value);
            let response = reader.send(request, &call).await;
            assert_eq!(response.status(), 403, "{header}: {value}, {method} {path}");
            assert!(!response.headers().contains_key("access-control-allow-origin"));
        }
    }
    let own = reader
        .request("POST", "/api/tools/math-double/call")
        .header("x-toolkit-csrf", &reader.csrf)
        .header("origin", "http://localhost:8000")
        .header("sec-fetch-site", "same-origin");
    assert_eq!(reader.send(own, &call).await.status(), 200);
}

#[tokio::test]
async fn a_link_elsewhere_leads_to_the_index_only() {
    let reader = Reader::enter(page()).await;
    for (path, expected) in [("/", 200), ("/api/tools", 403)] {
        let request = reader
            .request("GET", path)
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", "navigate");
        assert_eq!(reader.send(request, &Value::Null).await.status(), expected, "{path}");
    }
}

#[tokio::test]
async fn a_name_that_was_bound_to_this_machine_is_refused() {
    let reader = Reader::enter(page()).await;
    for host in ["evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.1"] {
        let request =
            http::Request::builder().uri("/api/tools").header("host", host).header("cookie", &reader.cookie);
        assert_eq!(send(&reader.app, request).await.status(), 403, "{host}");
    }
}

#[tokio::test]
async fn each_post_needs_the_token_of_the_page() {
    let reader = Reader::enter(page()).await;
    let body = json!({"id": "1", "arguments": r#"{"n": 1}"#});
    for csrf in [None, Some(""), Some("0.00"), Some(reader.cookie.split_once('=').unwrap().1)] {
        for path in ["call", "check", "state"] {
            let mut request = reader.request("POST", &format!("/api/tools/math-double/{path}"));
            if let Some(csrf) = csrf {
                request = request.header("x-toolkit-csrf", csrf);
            }
            assert_eq!(reader.send(request, &body).await.status(), 403, "{csrf:?}");
        }
    }
}

#[tokio::test]
async fn reading_calling_and_deciding_are_three_rights() {
    let live = LiveRegistry::new(registry()).unwrap();
    let disable = json!({"enabled": false, "reason": "not today"});
    for (rights, calls, decides) in [
        (PageRights::read_only(), 403, 403),
        (PageRights::read_only().with_calls(), 200, 403),
        (PageRights::read_only().with_decisions(), 403, 200),
        (PageRights::all(), 200, 200),
    ] {
        live.change(|tools| tools.enable("math-double")).unwrap();
        let page = ToolPage::new(Dispatcher::new(live.clone()).unwrap()).with_rights(rights.clone());
        let reader = Reader::enter(page).await;
        assert_eq!(reader.get("/api/tools").await["tools"].as_array().unwrap().len(), 2);
        assert_eq!(reader.call("math-double", &json!({"n": 2})).await.0, calls, "{rights:?}");
        let check = json!({"id": "1", "arguments": "{}"});
        assert_eq!(reader.post("/api/tools/math-double/check", &check).await.0, calls, "{rights:?}");
        assert_eq!(reader.post("/api/tools/math-double/state", &disable).await.0, decides, "{rights:?}");
        assert_eq!(live.snapshot().disabled_reason("math-double").is_some(), decides == 200);
    }
}

#[tokio::test]
async fn a_page_for_other_machines_needs_an_authoriser() {
    let hosts = ["tools.example.com"];
    let error = page().with_allowed_hosts(hosts).into_router().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`tools.example.com` is reachable from other machines; say who may read it with `with_authoriser`"
    );
    let everywhere = "0.0.0.0:0".parse().unwrap();
    assert!(page().bind(everywhere).await.is_err());
    assert!(page().with_allowed_hosts(hosts).bind(everywhere).await.is_err());
    let page = page().with_allowed_hosts(hosts).with_authoriser(|request| {
        let user = request.headers.get("user")?;
        Some(if user == "ada" { PageRights::all() } else { PageRights::read_only() })
    });
    let path = page.logins().new_path();
    let app = page.into_router().unwrap();
    let get = |path: &str, user: Option<&str>| {
        let request = http::Request::builder().uri(path).header("host", "tools.example.com");
        match user {
            Some(user) => request.header("user", user),
            None => request,
        }
    };
    assert_eq!(send(&app, get("/api/tools", Some("ada"))).await.status(), 200);
    assert_eq!(send(&app, get("/api/tools", None)).await.status(), 401);
    // One-time addresses are no second way in.
    let response = send(&app, get(&path, None)).await;
    assert_eq!((response.status().as_u16(), response.headers().get(SET_COOKIE)), (401, None));
}

#[tokio::test]
async fn every_answer_forbids_markup_frames_and_other_sources() {
    let reader = Reader::enter(page()).await;
    for path in ["/", "/main.js", "/api/tools", "/api/nothing", "/nothing"] {
        let response = reader.send(reader.request("GET", path), &Value::Null).await;
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert_eq!(response.headers()["cache-control"], "no-store");
    }
}

#[test]
fn the_scripts_have_no_way_to_make_markup() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
    let mut scripts = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        scripts += usize::from(path.extension().is_some_and(|extension| extension == "js"));
        for sink in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
            "http://",
            "https://",
        ] {
            assert!(!text.contains(sink), "{}: {sink}", path.display());
        }
    }
    assert_eq!(scripts, 8);
}
