//! Servers that break their schemas, waste memory and time, and press the user.

use super::bare::{Bare, tool};
use super::raw::{Behaviour, Client, Raw};
use super::{call, event, within};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use toolkit_ai::ToolProvider;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{
    ElicitationAnswer, ElicitationKind, ElicitationRequest, McpClient, McpClientBuilder, McpEvent,
    McpProtocol, ToolIssue, ToolIssueKind,
};

struct Liar {
    list: fn(&Value) -> Value,
    call: fn(&Value) -> Value,
}

impl Behaviour for Liar {
    fn list(&self, params: &Value) -> Value {
        (self.list)(params)
    }

    fn call(&self, id: Value, params: &Value, client: &Client) {
        client.result(&id, &(self.call)(params));
    }
}

fn builder(list: fn(&Value) -> Value, call: fn(&Value) -> Value) -> McpClientBuilder {
    let server = Raw::new(Liar { list, call });
    let builder = McpClient::builder(server.endpoint()).name("shop");
    builder.protocol(McpProtocol::Handshake)
}

/// Counts rows, and may break the output schema.
fn counter() -> McpClientBuilder {
    let list = |_: &Value| {
        let mut count = tool("count", json!({"type": "object"}));
        count["outputSchema"] = json!({"type": "object", "required": ["rows"],
            "properties": {"rows": {"type": "integer"}}});
        json!({ "tools": [count] })
    };
    builder(list, |params| params["arguments"].clone())
}

#[tokio::test]
async fn a_result_that_breaks_the_output_schema_is_an_error_with_its_text() {
    let client = within(counter().connect()).await.unwrap();
    let text = json!([{"type": "text", "text": "5 rows"}]);
    let result = |more: Value| {
        let mut result = json!({ "content": text });
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        result.to_string()
    };
    let output = call(&client, "count", &result(json!({"structuredContent": {"rows": 5}}))).await.unwrap();
    assert_eq!((output.to_text().as_ref(), output.structured()), ("5 rows", Some(&json!({"rows": 5}))));
    for (more, fault) in [
        (json!({"structuredContent": {"rows": "five"}}), "`rows`: expected integer, got string \"five\""),
        (json!({"structuredContent": {}}), "`rows`: required, but missing; expected integer"),
        (json!({"structuredContent": null}), "structured content is missing"),
        (json!({}), "structured content is missing"),
    ] {
        let error = call(&client, "count", &result(more)).await.unwrap_err();
        let expected = format!(
            "Error running tool: MCP server `shop` broke the output schema of the tool: {fault}; \
             the tool has run, so check before trying again. It returned: 5 rows"
        );
        assert_eq!((error.message(), error.is_retryable()), (expected.as_str(), false));
    }
    // JSON values hold no integer beyond 64 bits or NaN, but the text of a result may.
    for rows in [json!(1.234_567_890_123_456_8e29), json!(-1.8e19)] {
        let output =
            call(&client, "count", &result(json!({"structuredContent": {"rows": rows}}))).await.unwrap();
        assert_eq!((output.to_text().as_ref(), output.structured()), ("5 rows", None));
    }
    let text = json!({"content": [{"type": "text", "text": "{\"rows\": 18446744073709551617}"}]}).to_string();
    let output = call(&client, "count", &text).await.unwrap();
    assert_eq!((output.to_text().as_ref(), output.structured()), ("{\"rows\": 18446744073709551617}", None));
    // An error has no structured content.
    let failed = call(&client, "count", &result(json!({"isError": true}))).await.unwrap_err();
    assert_eq!(failed.message(), "5 rows");
    let lenient = within(counter().result_check(false).connect()).await.unwrap();
    let output = call(&lenient, "count", &result(json!({"structuredContent": {}}))).await.unwrap();
    assert_eq!((output.to_text().as_ref(), output.structured()), ("5 rows", Some(&json!({}))));
}

#[tokio::test(start_paused = true)]
async fn a_list_of_slow_pages_has_one_time_limit() {
    let server = Bare::new();
    *server.pause.lock().unwrap() = Duration::from_secs(29);
    *server.tools.lock().unwrap() =
        (0..1_800).map(|n| tool(&format!("t{n}"), json!({"type": "object"}))).collect();
    let builder = McpClient::builder(server.endpoint()).name("slow").protocol(McpProtocol::Handshake);
    let started = Instant::now();
    let error = builder.connect().await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::TimedOut);
    assert_eq!(error.to_string(), "MCP server `slow`: the server did not answer `tools/list` within 90 s");
    assert_eq!(started.elapsed().as_secs(), 90);
}

#[tokio::test]
async fn what_a_server_says_is_cut_before_it_is_kept() {
    let list = |_: &Value| {
        let long = "x".repeat(200_000);
        let object = json!({"type": "object"});
        let mut annotated = tool("annotated", object.clone());
        annotated["annotations"] = long.clone().into();
        let reference = tool("reference", json!({"$ref": format!("https://{long}")}));
        json!({"tools": [tool("good", object), annotated, reference, tool("fat", json!({"$comment": "x".repeat(9 << 20)}))]})
    };
    let client = within(builder(list, |_| json!({"content": []})).connect()).await.unwrap();
    let names: Vec<String> = client.tools().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["good"]);
    let issues = client.issues();
    assert_eq!(issues.len(), 3);
    for issue in issues {
        assert!(issue.message.chars().count() <= 513, "{:?}: {}", issue.kind, issue.message.len());
    }
    let loud =
        Raw::new(Liar { list: |_| json!({"tools": 5, "x": "y".repeat(1 << 20)}), call: |_| json!({}) });
    let error = within(McpClient::builder(loud.endpoint()).connect()).await.unwrap_err();
    assert!(error.to_string().len() < 3_000, "{}", error.to_string().len());
}

#[tokio::test]
async fn schemas_that_unfold_without_end_are_harmless() {
    let list = |_: &Value| {
        let mut definitions = json!({"d0": {"type": "integer"}});
        for n in 1..60 {
            let earlier = json!({"$ref": format!("#/$defs/d{}", n - 1)});
            definitions[format!("d{n}")] = json!({"allOf": [earlier, earlier], "anyOf": [earlier, earlier]});
        }
        let bomb = tool(
            "bomb",
            json!({"type": "object", "$defs": definitions,
            "properties": {"a": {"$ref": "#/$defs/d59"}}}),
        );
        let mut circle = tool(
            "circle",
            json!({"type": "object", "$defs": {"c": {"$ref": "#/$defs/c"}},
            "properties": {"a": {"$ref": "#/$defs/c"}, "b": {"allOf": [{"$ref": "#/properties/b"}]}}}),
        );
        circle["outputSchema"] = bomb["inputSchema"].clone();
        let pattern = tool(
            "pattern",
            json!({"type": "object",
            "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}),
        );
        json!({"tools": [bomb, circle, pattern]})
    };
    let client = builder(list, |_| json!({"content": [], "structuredContent": {"a": "x"}}));
    let client = within(client.connect()).await.unwrap();
    let names: Vec<String> = client.tools().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["circle", "pattern"]);
    let issues = client.issues();
    let bomb = issues.iter().find(|issue| issue.tool == "bomb").unwrap();
    assert!(bomb.message.contains("was left out: the schema is nested too deep"), "{}", bomb.message);
    let started = std::time::Instant::now();
    let arguments = format!(r#"{{"a": "{}!"}}"#, "a".repeat(40));
    for name in ["circle", "pattern"] {
        // Any answer will do.
        let _ = call(&client, name, &arguments).await;
        let _ = call(&client, name, r#"{"a": 1, "b": {}}"#).await;
    }
    client.refresh().await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_flood_of_questions_does_not_reach_the_user() {
    let server = Raw::new(Liar { list: |_| json!({"tools": []}), call: |_| json!({}) });
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let builder = McpClient::builder(server.endpoint()).protocol(McpProtocol::Handshake);
    let builder = builder.elicitation(move |_: ElicitationRequest| {
        counted.fetch_add(1, Ordering::Relaxed);
        std::future::pending()
    });
    let client = within(builder.connect()).await.unwrap();
    let form = json!({"message": "Really?", "requestedSchema": {"type": "object", "properties": {}}});
    let page = json!({"mode": "url", "message": "Look!", "url": "javascript:alert(1)", "elicitationId": "1"});
    let ask = |id: usize, params: &Value| {
        let question = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
        server.client().line(question.to_string());
    };
    ask(1_000, &page);
    for id in 0..100 {
        ask(id, &form);
    }
    let declined = || {
        let received = server.received.lock().unwrap();
        let answers: Vec<Value> = received
            .iter()
            .filter(|message| message["result"]["action"] == "decline")
            .map(|message| message["id"].clone())
            .collect();
        answers
    };
    within(async {
        while declined().len() < 85 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(asked.load(Ordering::Relaxed), 16);
    assert!(declined().contains(&json!(1_000)), "only pages of the web are opened");
    drop(client);
}

#[tokio::test]
async fn the_user_sees_no_hidden_characters_in_a_form() {
    let server = Raw::new(Liar { list: |_| json!({"tools": []}), call: |_| json!({}) });
    let (sender, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let builder = McpClient::builder(server.endpoint()).protocol(McpProtocol::Handshake);
    let builder = builder.elicitation(move |request: ElicitationRequest| {
        sender.send(request).unwrap();
        async { ElicitationAnswer::Cancel }
    });
    let client = within(builder.connect()).await.unwrap();
    let form = |name: &str, field: Value| {
        let schema = json!({"type": "object", "properties": {name: field}});
        json!({"message": "Your\u{202e} name\u{1b}[2J?", "requestedSchema": schema})
    };
    let page = |url: &str| json!({"mode": "url", "message": "Look!", "url": url, "elicitationId": "1"});
    let questions = [
        form("a\u{202e}b", json!({"type": "string"})),
        form("a", json!({"type": "string", "enum": ["yes", "n\u{200b}o"]})),
        form("a", json!({"type": "string", "default": "\u{1b}[2J"})),
        page("https://example.com/\u{202e}moc.knab"),
        form("a", json!({"type": "string", "title": "Na\u{202e}me", "description": "Tell\u{e0041}!"})),
    ];
    for (id, params) in questions.iter().enumerate() {
        let question = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
        server.client().line(question.to_string());
    }
    let request = within(asked.recv()).await.unwrap();
    assert_eq!(request.message, "Your name[2J?");
    let ElicitationKind::Form { schema, .. } = request.kind else { panic!("a page") };
    let field = &schema["properties"]["a"];
    assert_eq!((&field["title"], &field["description"]), (&json!("Name"), &json!("Tell!")));
    let answered = |id: usize, action: &str| {
        let received = server.received.lock().unwrap();
        received.iter().any(|message| message["id"] == id && message["result"]["action"] == action)
    };
    within(async {
        while !((0..4).all(|id| answered(id, "decline")) && answered(4, "cancel")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(asked.try_recv().is_err(), "a declined question does not reach the user");
    drop(client);
}

#[tokio::test]
async fn a_closed_client_stays_closed() {
    // Closing during a reconnection.
    for round in 0..50 {
        let server = Bare::new();
        let backoff =
            toolkit_mcp::client::McpBackoff::default().with_first(Duration::from_micros(round * 40));
        let client = within(McpClient::builder(server.endpoint()).backoff(backoff).connect()).await.unwrap();
        let mut events = client.events();
        server.hang_up();
        event(&mut events, |event| matches!(event, McpEvent::Disconnected { .. }).then_some(())).await;
        tokio::time::sleep(Duration::from_micros(round * 50)).await;
        within(client.close()).await;
        tokio::task::yield_now().await;
        assert!(!client.is_connected(), "{round}");
        assert!(!within(client.ready()).await, "{round}");
    }
}

const NAMES: [&str; 8] = ["straße", "買う", "賣う", "🦀", "a\u{0}b", "x\u{202e}y", " ", "ΣΣ"];

#[tokio::test]
async fn tools_with_names_of_any_script_are_called_by_their_own_names() {
    let list = |_: &Value| {
        let object = json!({"type": "object"});
        json!({"tools": NAMES.map(|name| tool(name, object.clone()))})
    };
    let client = within(
        builder(list, |params| json!({"content": [{"type": "text", "text": params["name"]}]})).connect(),
    )
    .await
    .unwrap();
    let tools = client.tools();
    assert_eq!(tools.len(), 8, "{:?}", client.issues());
    for tool in tools {
        // The server hears its own name, whatever the tool is called here.
        let heard = call(&client, tool.name.as_str(), "{}").await.unwrap().to_text().into_owned();
        assert!(NAMES.contains(&heard.as_str()), "{heard}");
    }
    let renamed = |issue: &ToolIssue| issue.kind == ToolIssueKind::Renamed;
    assert_eq!(client.issues().into_iter().filter(renamed).count(), 8);
}
