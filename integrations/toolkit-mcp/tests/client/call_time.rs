//! Calls' time, and questions without end.

use super::bare::tool;
use super::raw::{Behaviour, Client, Raw};
use super::{call, within};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_ai::ErrorKind;
use toolkit_mcp::client::{ElicitationAnswer, ElicitationRequest, McpClient, McpProtocol};

/// The time between reports.
const PAUSE: Duration = Duration::from_secs(1);

/// A server that reports for ever, as the called tool's name says.
struct Reporting;

impl Behaviour for Reporting {
    fn list(&self, _: &Value) -> Value {
        let names = ["growing", "same", "shrinking", "silent", "asking"];
        json!({"tools": names.map(|name| tool(name, json!({"type": "object"})))})
    }

    fn call(&self, id: Value, params: &Value, client: &Client) {
        if params["name"] == "asking" {
            let questions = 0..100;
            for id in questions {
                let form =
                    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
                let question =
                    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form});
                client.line(question.to_string());
            }
            return client.text(&id, "asked");
        }
        let step = match params["name"].as_str().unwrap() {
            "growing" => 1.0,
            "same" => 0.0,
            "shrinking" => -1.0,
            _ => return,
        };
        let token = params["_meta"]["progressToken"].clone();
        let client = client.clone();
        tokio::spawn(async move {
            let mut progress = 1_000.0;
            loop {
                client
                    .notify("notifications/progress", &json!({"progressToken": token, "progress": progress}));
                progress += step;
                sleep(PAUSE).await;
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn only_progress_extends_the_time_of_a_call_and_never_beyond_its_maximum() {
    let builder = McpClient::builder(Raw::new(Reporting).endpoint()).protocol(McpProtocol::Handshake);
    let builder = builder.call_timeout(Duration::from_secs(10)).max_call_time(Duration::from_secs(30));
    let client = within(builder.connect()).await.unwrap();
    for (name, seconds) in [("growing", 30), ("same", 10), ("shrinking", 10), ("silent", 10)] {
        let started = Instant::now();
        let error = call(&client, name, "{}").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{name}");
        assert_eq!(error.message(), format!("Tool `{name}` timed out after {seconds}s"));
        assert_eq!(started.elapsed().as_secs(), seconds, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_asks_the_user_at_most_sixty_times_a_minute() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let server = Raw::new(Reporting);
    let builder = McpClient::builder(server.endpoint()).protocol(McpProtocol::Handshake);
    let builder = builder.elicitation(move |_: ElicitationRequest| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { ElicitationAnswer::Cancel }
    });
    let client = within(builder.connect()).await.unwrap();
    for (calls, expected) in [(1, 60), (2, 120)] {
        call(&client, "asking", "{}").await.unwrap();
        let answered = || {
            let received = server.received.lock().unwrap();
            received.iter().filter(|message| message["result"]["action"].is_string()).count()
        };
        within(async {
            while answered() < calls * 100 {
                sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        assert_eq!(asked.load(Ordering::Relaxed), expected);
        sleep(Duration::from_secs(61)).await;
    }
}
