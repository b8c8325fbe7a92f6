//! What ends with a call, a connection or a client.

use super::faults::{Faulty, builder};
use super::raw::Raw;
use super::{call, within};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use toolkit_ai::ErrorKind;
use toolkit_mcp::client::{ElicitationAnswer, ElicitationRequest, McpBackoff, McpClient, McpEndpoint};

/// A question that stays with an absent user.
async fn asked(server: &Raw<Faulty>) -> (McpClient, Arc<()>, tokio::task::JoinHandle<()>) {
    let open = Arc::new(());
    let guard = open.clone();
    let handler = move |_: ElicitationRequest| {
        let guard = guard.clone();
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            ElicitationAnswer::Cancel
        }
    };
    let builder = builder(server).elicitation(handler).call_timeout(Duration::from_millis(200));
    let client = within(builder.connect()).await.unwrap();
    let calling = client.clone();
    let calling = tokio::spawn(async move { drop(call(&calling, "ask", "{}").await) });
    within(async {
        while Arc::strong_count(&open) < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    (client, open, calling)
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_when_the_server_withdraws_it() {
    let server = Raw::new(Faulty);
    let (client, open, calling) = asked(&server).await;
    server.client().notify("notifications/cancelled", &json!({"requestId": 77}));
    within(async {
        while Arc::strong_count(&open) > 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(call(&client, "stall", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    within(calling).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_connection() {
    let server = Raw::new(Faulty);
    let (client, open, calling) = asked(&server).await;
    server.client().hang_up();
    within(calling).await.unwrap();
    assert!(within(client.ready()).await);
    assert_eq!(call(&client, "stall", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(Arc::strong_count(&open), 2, "nobody waits for the answer");
}

#[tokio::test]
async fn a_closed_client_has_stopped_to_connect_again() {
    let server = Raw::new(Faulty);
    let opening = Arc::new(());
    let raw = server.clone();
    let alive = opening.clone();
    let endpoint = McpEndpoint::streams_from(move || {
        let (alive, raw, is_first) = (alive.clone(), raw.clone(), raw.clients.lock().unwrap().is_empty());
        async move {
            let _alive = alive;
            if !is_first {
                std::future::pending::<()>().await;
            }
            let (near, far) = tokio::io::duplex(1 << 16);
            raw.serve(far);
            Ok(tokio::io::split(near))
        }
    });
    let backoff = McpBackoff::default().with_first(Duration::from_millis(5));
    let client = within(McpClient::builder(endpoint).backoff(backoff).connect()).await.unwrap();
    server.client().hang_up();
    within(async {
        while Arc::strong_count(&opening) < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    within(client.close()).await;
    assert_eq!(Arc::strong_count(&opening), 2, "an attempt to connect goes on");
}
