//! The secrets of a login, in logs and between processes.

use super::authorization_server::{Secured, browse};
use super::login::{connect, sum, user};
use std::fmt::{Debug, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_mcp::client::{FileTokenStore, Login, McpUrl};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}: {value:?}").unwrap();
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        attributes.record(&mut self.clone());
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut self.clone());
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut self.clone());
    }
}

#[tokio::test]
async fn no_log_names_a_secret_of_a_login() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(tracing_subscriber::registry().with(log.clone()));
    let logins = [
        user(Login::new("shop")).0,
        Login::client_credentials("robot", "s3cret-client"),
        Login::private_key_jwt("robot", include_str!("../rsa_key.pem")).unwrap(),
        Login::workload_identity("robot", || Ok("s3cret-workload".to_owned())),
    ];
    for login in logins {
        let server = Secured::serve().await;
        server.known.lock().unwrap().calls_need_scope = true;
        let client = connect(&server.url, login.clone()).await.unwrap();
        assert_eq!(sum(&client).await, "5");
        server.revoke();
        assert_eq!(sum(&client).await, "5");
        server.known.lock().unwrap().forget_logins();
        server.known.lock().unwrap().redirect.insert("code".to_owned(), "s3cret-guess".to_owned());
        let failing = user(Login::new("shop")).0.with_timeout(Duration::from_secs(5));
        let error = connect(&server.url, failing).await.unwrap_err();
        let url = McpUrl::new(&server.url).with_login(login.clone());
        writeln!(log.0.lock().unwrap(), "{error} {error:?} {client:?} {login:?} {url:?}").unwrap();
        client.close().await;
    }
    let log = log.0.lock().unwrap();
    assert!(log.contains("tools/call") || log.contains("CallTool"), "the SDK logs its requests");
    let found = log.lines().find(|line| line.contains("s3cret") || line.contains("client_assertion="));
    assert_eq!(found, None);
}

const URL: &str = "TOOLKIT_MCP_LOGIN_URL";
const FOLDER: &str = "TOOLKIT_MCP_LOGIN_FOLDER";

/// Calls a tool with stored tokens, if started by the test below.
#[tokio::test]
#[ignore = "the client of another test"]
async fn another_process() {
    let Ok(url) = std::env::var(URL) else { return };
    let store = FileTokenStore::new(std::env::var(FOLDER).unwrap());
    let client = connect(&url, Login::new("shop").with_token_store(store).with_prompt(|_| panic!("no user")));
    assert_eq!(sum(&client.await.unwrap()).await, "5");
}

#[tokio::test]
async fn processes_refresh_a_stored_token_once() {
    let server = Secured::serve().await;
    let folder = tempfile::tempdir().unwrap();
    let login = Login::new("shop").with_token_store(FileTokenStore::new(folder.path())).with_prompt(browse);
    connect(&server.url, login).await.unwrap();
    server.revoke();
    let mut processes = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let process = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "client::login_secrets::another_process", "--ignored"])
            .env(URL, &server.url)
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .output();
        processes.spawn(process);
    }
    for output in processes.join_all().await {
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(server.exchanges("refresh_token"), 1);
}
