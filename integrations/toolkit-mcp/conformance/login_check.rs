//! Logs in at a running authorization server, with resource servers of this crate; `tests/full/mcp-login.sh` starts it.
//!
//! `login_check ISSUER BROWSER FOLDER CLIENTS [--planted]` prints a line for each check, and fails if one of them fails. With
//! `--planted`, a server accepts the tokens of another server.

#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_ai::{ToolRegistry, tool, tools};
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{FileTokenStore, Login, McpClient, McpUrl};
use toolkit_mcp::server::McpServer;
use toolkit_mcp::server::{Caller, JwtVerifier, ProtectedResource, VerifiedToken};

type Failure = Box<dyn std::error::Error>;

/// The time after which the client refreshes a token of the authorization server.
const REFRESH: Duration = Duration::from_millis(2_500);

/// Lists notes.
#[tool(meta(scopes = "notes:read"))]
fn list(#[state] caller: &Caller) -> String {
    caller.extension::<VerifiedToken>().map(|token| token.subject.clone()).unwrap_or_default()
}

/// Deletes a note.
#[tool(meta(scopes = "notes:write"))]
fn delete() -> &'static str {
    "gone"
}

/// The tokens that a resource server has received.
type Received = Arc<Mutex<Vec<String>>>;

/// Serves the notes at a free port. Tokens are accepted for this server, and those for the server `also`.
async fn serve(issuer: &str, also: Option<&str>) -> Result<(String, Received), Failure> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let received = Received::default();
    let verifier = JwtVerifier::new(issuer, &url)?;
    let also = JwtVerifier::new(issuer, also.unwrap_or(&url))?;
    let resource = ProtectedResource::new(&url, [issuer]).with_scopes(["notes:read"]);
    let record = received.clone();
    let server = McpServer::new(ToolRegistry::from_tools(tools![list, delete])?)?;
    let server = server.with_oauth(resource, move |token| {
        record.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
        let own = verifier.verify(token.clone());
        let foreign = also.verify(token);
        async {
            match own.await {
                Some(token) => Some(token),
                None => foreign.await,
            }
        }
    });
    let server = server.bind_http(("127.0.0.1", port)).await?;
    tokio::spawn(server.run());
    Ok((url, received))
}

/// The checks with their set-up.
struct Checks {
    issuer: String,
    browser: String,
    folder: PathBuf,
    logins: Arc<AtomicUsize>,
    failed: usize,
}

impl Checks {
    fn check(&mut self, name: &str, passes: bool) {
        println!("{name:<70} {}", if passes { "passed" } else { "FAILED" });
        self.failed += usize::from(!passes);
    }

    /// Returns the number of lines that the authorization server has logged with this beginning.
    fn logged(&self, beginning: &str) -> usize {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        log.lines().filter(|line| line.starts_with(beginning)).count()
    }

    fn logins(&self) -> usize {
        self.logins.load(Ordering::Relaxed)
    }

    /// Returns the login of a user with a browser.
    fn user(&self, store: &Path) -> Login {
        let browser = self.browser.clone();
        let logins = self.logins.clone();
        let login = Login::new("Notes").with_token_store(FileTokenStore::new(store));
        login.with_timeout(Duration::from_secs(20)).with_prompt(move |address| {
            logins.fetch_add(1, Ordering::Relaxed);
            let browser = Command::new("node").arg(&browser).arg(address).stdin(Stdio::null()).spawn();
            std::thread::spawn(|| browser.and_then(|mut browser| browser.wait()));
        })
    }

    async fn run(&mut self, clients: usize, is_planted: bool) -> Result<(), Failure> {
        let (notes, _) = serve(&self.issuer, None).await?;
        let (other, received) = serve(&self.issuer, is_planted.then_some(notes.as_str())).await?;
        let store = self.folder.join(format!("logins-{is_planted}"));

        let registered = self.logged("registration");
        let client = connect(&notes, self.user(&store)).await?;
        let subject = call(&client, "list").await;
        self.check("a user logs in", subject == "ann" && self.logins() == 1);
        self.check("the program registers itself", self.logged("registration") == registered + 1);

        let refreshed = self.logged("refresh_token");
        sleep(REFRESH).await;
        self.check("a token is refreshed before it expires", call(&client, "list").await == "ann");
        self.check(
            "nobody logs in for it",
            self.logged("refresh_token") == refreshed + 1 && self.logins() == 1,
        );

        let again = connect(&notes, self.user(&store)).await?;
        let subject = call(&again, "list").await;
        self.check("the next start needs no login", subject == "ann" && self.logins() == 1);

        self.further_scope(&notes).await?;
        self.refresh_together(&notes, &store, clients).await?;
        self.other_server(&notes, &other, &received, &store).await?;
        self.programs(&notes).await
    }

    /// A client that knows a tool from an earlier login, while its present token lacks the scope.
    async fn further_scope(&mut self, notes: &str) -> Result<(), Failure> {
        let wide = tempfile::tempdir_in(&self.folder)?;
        let narrow = tempfile::tempdir_in(&self.folder)?;
        let login = self.user(wide.path()).with_scopes(["notes:read", "notes:write"]);
        let client = connect(notes, login).await?;
        connect(notes, self.user(narrow.path())).await?;
        for file in fs::read_dir(narrow.path())? {
            let file = file?;
            fs::copy(file.path(), wide.path().join(file.file_name()))?;
        }
        sleep(REFRESH).await;
        let logins = self.logins();
        let result = call(&client, "delete").await;
        let name = format!("a call asks for a further scope ({result})");
        self.check(&name, result == "gone" && self.logins() == logins + 1);
        Ok(())
    }

    /// Clients that share a store use each refresh token once: the authorization server revokes all tokens if one of them
    /// comes twice.
    async fn refresh_together(&mut self, notes: &str, store: &Path, count: usize) -> Result<(), Failure> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(connect(notes, self.user(store)).await?);
        }
        for _ in 0..2 {
            let logins = self.logins();
            let refreshed = self.logged("refresh_token");
            sleep(REFRESH).await;
            let calls = clients.iter().map(|client| {
                let client = client.clone();
                tokio::spawn(async move { call(&client, "list").await })
            });
            let calls: Vec<_> = calls.collect();
            let mut answers = 0;
            for answer in calls {
                answers += usize::from(answer.await? == "ann");
            }
            // A slow machine may need a second token before the last call.
            let refreshed = self.logged("refresh_token") - refreshed;
            let is_once = (1..=1 + count / 10).contains(&refreshed) && self.logins() == logins;
            self.check(&format!("{count} clients refresh a token together"), answers == count && is_once);
        }
        Ok(())
    }

    async fn other_server(
        &mut self,
        notes: &str,
        other: &str,
        received: &Received,
        store: &Path,
    ) -> Result<(), Failure> {
        let known = stored_tokens(store);
        self.check("the store has one token", known.len() == 1);
        let logins = self.logins();
        let client = connect(other, self.user(store)).await?;
        let subject = call(&client, "list").await;
        let has_logged_in = self.logins() == logins + 1;
        self.check("another server needs another login", subject == "ann" && has_logged_in);
        let received = received.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_foreign = received.iter().any(|token| known.contains(token));
        self.check("no token of one server reaches another one", !received.is_empty() && !is_foreign);
        for (token, is_valid) in [(known.first(), true), (received.last(), false)] {
            let url = McpUrl::new(notes).with_bearer_token(token.cloned().unwrap_or_default());
            let connected = McpClient::builder(url).connect().await;
            let is_refused =
                connected.as_ref().is_err_and(|error| error.kind() == McpErrorKind::Unauthorized);
            let name = if is_valid { "a server accepts its tokens" } else { "a server refuses other tokens" };
            self.check(name, if is_valid { connected.is_ok() } else { is_refused });
        }
        let url = McpUrl::new(other).with_bearer_token(known.first().cloned().unwrap_or_default());
        let is_refused = McpClient::builder(url).connect().await.is_err();
        self.check("the other server refuses the tokens of the first one", is_refused);
        Ok(())
    }

    /// Programs without a user.
    async fn programs(&mut self, notes: &str) -> Result<(), Failure> {
        let key = include_str!("../tests/rsa_key.pem");
        let programs = [
            ("robot", Login::client_credentials("robot", "secret of the robot")),
            ("signer", Login::private_key_jwt("signer", key)?),
        ];
        for (name, login) in programs {
            let client = connect(notes, login.with_issuer(&self.issuer)).await?;
            let subject = call(&client, "list").await;
            self.check(&format!("the program `{name}` needs no user"), subject == name);
            let granted = self.logged(&format!("client_credentials {name}"));
            self.check("it has one token", granted == 1 || self.folder.join("logins-true").exists());
        }
        Ok(())
    }
}

/// Returns the access tokens in a store.
fn stored_tokens(store: &Path) -> Vec<String> {
    let files = fs::read_dir(store).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let values = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
    let tokens = values.map(|value| value["credentials"]["token_response"]["access_token"].clone());
    tokens.filter_map(|token| token.as_str().map(str::to_owned)).collect()
}

async fn connect(url: &str, login: Login) -> Result<McpClient, Failure> {
    Ok(McpClient::builder(McpUrl::new(url).with_login(login)).connect().await?)
}

/// Calls a tool, and returns its result or its error.
async fn call(client: &McpClient, tool: &str) -> String {
    let mut registry = ToolRegistry::new();
    if let Err(error) = registry.register_provider(client.clone()) {
        return error.to_string();
    }
    match registry.call(tool, "{}").await {
        Ok(output) => output.to_text().into_owned(),
        Err(error) => format!("{error:#}"),
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [issuer, browser, folder, clients, options @ ..] = arguments.as_slice() else {
        println!("usage: login_check ISSUER BROWSER FOLDER CLIENTS [--planted]");
        return Ok(ExitCode::SUCCESS);
    };
    let mut checks = Checks {
        issuer: issuer.clone(),
        browser: browser.clone(),
        folder: folder.into(),
        logins: Arc::default(),
        failed: 0,
    };
    let is_planted = options.iter().any(|option| option == "--planted");
    checks.run(clients.parse()?, is_planted).await?;
    Ok(if checks.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
