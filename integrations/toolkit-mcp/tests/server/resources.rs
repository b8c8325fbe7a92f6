//! Resources of a program: texts, files and functions.

use super::client::Client;
use serde_json::{Value, json};
use toolkit_ai::{LiveRegistry, Media, ToolError, ToolParams, ToolRegistry, tool};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, ServerResource};

#[derive(ToolParams)]
enum Part {
    Name,
    Age,
}

/// A part of the profile of a user.
#[tool(register = false)]
fn profile(id: u32, part: Part, #[state] caller: &Caller) -> Result<String, ToolError> {
    let part = if matches!(part, Part::Name) { "name" } else { "age" };
    match id {
        0 => Err(ToolError::failed("the database is closed")),
        id => Ok(format!("the {part} of {id} for {}", caller.client_name().unwrap_or_default())),
    }
}

/// The logo.
#[tool(register = false)]
fn logo() -> Media {
    Media::new("image/png", b"png")
}

fn registry(file: &str) -> ToolRegistry {
    let config = ServerResource::text("config://app", "app", "debug = false").expect("legal");
    ToolRegistry::from_tools([
        config.with_media_type("application/toml").with_title("Settings").with_description("The settings."),
        ServerResource::file("file:///log", "log", file).expect("legal"),
        ServerResource::function("logo://", logo::tool()),
        ServerResource::function("users://{id}/{part}", profile::tool()),
    ])
    .expect("legal")
}

fn server() -> McpServer {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/main.rs");
    McpServer::new(ToolRegistry::new()).expect("complete").with_resources(registry(file)).expect("complete")
}

async fn read(client: &mut Client, uri: &str) -> Result<Value, Value> {
    client.request("resources/read", json!({ "uri": uri })).await.map(|mut result| result["contents"].take())
}

#[tokio::test]
async fn resources_and_templates_are_listed() {
    let mut client = Client::connect(server());
    let capabilities = client.initialize(json!({})).await["capabilities"].take();
    assert_eq!(capabilities["resources"], json!({"subscribe": true}));
    let list = client.request("resources/list", json!({})).await.expect("a list");
    let expected = json!([
        {
            "uri": "config://app",
            "name": "app",
            "title": "Settings",
            "description": "The settings.",
            "mimeType": "application/toml",
        },
        {"uri": "file:///log", "name": "log"},
        {"uri": "logo://", "name": "logo", "description": "The logo."},
    ]);
    assert_eq!(list["resources"], expected);
    let list = client.request("resources/templates/list", json!({})).await.expect("a list");
    let template = json!({
        "uriTemplate": "users://{id}/{part}", "name": "profile", "description": "A part of the profile of a user.",
    });
    assert_eq!(list["resourceTemplates"], json!([template]));
    let reference = json!({"type": "ref/resource", "uri": "users://{id}/{part}"});
    let params = json!({"ref": reference, "argument": {"name": "part", "value": ""}});
    let completed = client.request("completion/complete", params).await.expect("values");
    assert_eq!(completed["completion"]["values"], json!(["Name", "Age"]));
}

#[tokio::test]
async fn texts_files_and_functions_are_read() {
    let file = include_str!("../main.rs");
    for mut client in [Client::session(server(), json!({})).await, Client::stateless(server(), json!({}))] {
        for (uri, kind, member, content) in [
            ("config://app", "application/toml", "text", "debug = false"),
            ("file:///log", "text/plain", "text", file),
            ("logo://", "image/png", "blob", "cG5n"),
            ("users://7/Age", "text/plain", "text", "the age of 7 for tester"),
        ] {
            let contents = read(&mut client, uri).await.expect(uri);
            assert_eq!(contents, json!([{"uri": uri, "mimeType": kind, member: content}]));
        }
    }
}

#[tokio::test]
async fn a_resource_that_cannot_be_read_is_an_error_with_a_reason() {
    let missing = registry("/no/such/file");
    let server =
        McpServer::new(ToolRegistry::new()).expect("complete").with_resources(missing).expect("complete");
    let mut client = Client::session(server, json!({})).await;
    for (uri, code, message) in [
        ("config://other", -32_002, "Resource `config://other` not found"),
        ("users://7", -32_002, "Resource `users://7` not found"),
        ("users://x/Age", -32_602, "`id`"),
        ("users://0/Age", -32_603, "the database is closed"),
        ("file:///log", -32_603, "the file cannot be read"),
    ] {
        let error = read(&mut client, uri).await.expect_err(uri);
        assert_eq!(error["code"], code, "{error}");
        let text = error["message"].as_str().unwrap_or_default();
        assert!(text.contains(message) && !text.contains("/no/such"), "{error}");
    }
}

#[tokio::test]
async fn updates_reach_the_clients_that_have_subscribed() {
    let server = server();
    let updates = server.resource_updates();
    let mut client = Client::session(server.clone(), json!({})).await;
    let unknown = client.request("resources/subscribe", json!({"uri": "config://other"})).await;
    assert_eq!(unknown.expect_err("no such resource")["code"], -32_002);
    for uri in ["config://app", "users://7/Age"] {
        client.request("resources/subscribe", json!({ "uri": uri })).await.expect("a subscription");
    }
    client.request("resources/unsubscribe", json!({"uri": "config://app"})).await.expect("no subscription");
    let mut modern = Client::stateless(server, json!({}));
    let wanted = json!({"resourceSubscriptions": ["config://app"]});
    modern.start("subscriptions/listen", json!({ "notifications": wanted })).await;
    modern.next("notifications/subscriptions/acknowledged").await;
    tokio::task::yield_now().await;
    for uri in ["logo://", "config://app", "users://7/Age"] {
        updates.send(uri);
    }
    let update = client.next("notifications/resources/updated").await;
    assert_eq!(update["params"]["uri"], "users://7/Age");
    let update = modern.next("notifications/resources/updated").await;
    assert_eq!(update["params"]["uri"], "config://app");
}

#[tokio::test]
async fn changed_resources_are_announced() {
    let live = LiveRegistry::new(ToolRegistry::new()).expect("complete");
    let server =
        McpServer::new(ToolRegistry::new()).expect("complete").with_resources(&live).expect("complete");
    let mut client = Client::session(server, json!({})).await;
    client.request("resources/list", json!({})).await.expect("a list");
    let added = ServerResource::text("config://app", "app", "debug = true").expect("legal");
    live.change(|registry| registry.register(added)).expect("it changes");
    client.next("notifications/resources/list_changed").await;
    assert_eq!(read(&mut client, "config://app").await.expect("a text")[0]["text"], "debug = true");
}

#[tokio::test]
async fn a_tool_without_a_uri_is_no_resource() {
    let word = ServerResource::text("config app", "app", "").expect("a legal name");
    let plain = ToolRegistry::from_tools(toolkit_ai::tools![logo]).expect("legal");
    let refused = |resources: ToolRegistry| {
        let server = McpServer::new(ToolRegistry::new()).expect("complete");
        server.with_resources(resources).expect_err("no resources").to_string()
    };
    let no_uri = refused(ToolRegistry::from_tools([word.clone()]).expect("legal"));
    assert!(no_uri.ends_with("was refused: `config app` is no URI, for example `config://app`"), "{no_uri}");
    let no_resource = refused(plain.clone());
    let cure = "it is no resource; write `ServerResource::function(\"logo://{id}\", logo::tool())`";
    assert!(no_resource.starts_with("tool `logo`") && no_resource.ends_with(cure), "{no_resource}");
    // A live registry is checked now and at each change.
    let server = McpServer::new(ToolRegistry::new()).expect("complete");
    server.clone().with_resources(LiveRegistry::new(plain).expect("complete")).expect_err("no resources");
    let live = LiveRegistry::new(ToolRegistry::new()).expect("complete");
    let _server = server.with_resources(&live).expect("complete");
    let error = live.change(|registry| registry.register(word)).expect_err("no URI").to_string();
    assert!(error.ends_with("`config app` is no URI, for example `config://app`"), "{error}");
}

/// Says hello.
#[tool(register = false)]
fn hello(name: String) -> String {
    name
}

#[tokio::test]
async fn resources_templates_and_prompts_are_listed_in_pages() {
    let resources = ToolRegistry::from_tools([
        ServerResource::text("text://a", "a", "a").expect("legal"),
        ServerResource::function("users://{id}/{part}", profile::tool()),
        ServerResource::text("text://b", "b", "b").expect("legal"),
        ServerResource::text("text://z", "z", "z").expect("legal"),
    ]);
    let prompts = ToolRegistry::from_tools(toolkit_ai::tools![hello]).expect("legal");
    let server = McpServer::new(ToolRegistry::new()).expect("complete").with_page_size(2);
    let server = server.with_resources(resources.expect("legal")).expect("complete");
    let mut client = Client::connect(server.with_prompts(prompts).expect("complete"));
    client.initialize(json!({})).await;
    for (method, member, pages) in [
        ("resources/list", "resources", vec![vec!["a", "b"], vec!["z"]]),
        ("resources/templates/list", "resourceTemplates", vec![vec!["profile"]]),
        ("prompts/list", "prompts", vec![vec!["hello"]]),
    ] {
        let mut cursor = json!({});
        for expected in &pages {
            let page = client.request(method, cursor).await.expect("a page");
            let names: Vec<_> =
                page[member].as_array().expect("a list").iter().map(|entry| &entry["name"]).collect();
            assert_eq!(names, *expected, "{method}");
            cursor = json!({"cursor": page["nextCursor"]});
        }
        assert_eq!(cursor["cursor"], Value::Null, "{method}");
        let error = client.request(method, json!({"cursor": "forged"})).await.expect_err("no such cursor");
        assert_eq!(error["code"], -32602);
    }
}
