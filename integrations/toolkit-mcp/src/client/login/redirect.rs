//! The end of a login in the browser: a redirect to a port of this machine.

use oauth2::url::Url;
use rmcp::transport::auth::AuthorizationCallback;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolkit_core::foreign::clean;

const PATH: &str = "/callback";

/// The limit in bytes.
const HEAD: u64 = 16 * 1024;

const REQUEST: Duration = Duration::from_secs(10);

/// The pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener for the redirect, on the loopback interface.
pub(super) struct RedirectListener {
    listener: TcpListener,
    pub(super) port: u16,
}

impl RedirectListener {
    /// Listens on a port; 0 for a free one.
    pub(super) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}:{}{PATH}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Waits for the redirect with this `state`. Other requests, such as those for an icon, are answered with
    /// an error.
    pub(super) async fn redirect(&self, state: &str) -> Result<AuthorizationCallback, String> {
        // Browsers open connections in advance, so one connection does not wait for another.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let answer = answer(stream, self.url(), state.to_owned());
                        connections.spawn(timeout(REQUEST, answer));
                    }
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
                Some(answered) = connections.join_next() => {
                    if let Ok(Ok(Some(callback))) = answered {
                        return callback;
                    }
                }
            }
        }
    }
}

/// Answers one request. Returns the outcome of the login if it is the redirect.
async fn answer(
    mut stream: TcpStream,
    base: String,
    state: String,
) -> Option<Result<AuthorizationCallback, String>> {
    let mut outcome = None;
    if let Some(target) = target(&mut stream).await
        && let Ok(base) = Url::parse(&base)
        && let Ok(url) = base.join(&target)
    {
        outcome = callback(&url, &state);
    }
    let (status, text) = match &outcome {
        Some(Ok(_)) => ("200 OK", "The login is complete. You can close this page."),
        Some(Err(_)) => ("200 OK", "The login was refused. You can close this page."),
        None => ("404 Not Found", "This page does not belong to a login."),
    };
    let length = text.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}");
    let response = format!("{head}\r\nconnection: close\r\n\r\n{text}");
    // The browser may have closed the connection.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    outcome
}

async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut lines = BufReader::new(stream.take(HEAD)).lines();
    let first = lines.next_line().await.ok()??;
    while !lines.next_line().await.ok()??.is_empty() {}
    let target = first.strip_prefix("GET ")?.split(' ').next()?;
    if target.starts_with('/') { Some(target.to_owned()) } else { None }
}

fn parameter(url: &Url, name: &str) -> Option<String> {
    for (key, value) in url.query_pairs() {
        if key == name {
            return Some(value.into_owned());
        }
    }
    None
}

/// Returns the outcome of the login with this `state`; `None` if the URL belongs to no login or to another.
fn callback(url: &Url, state: &str) -> Option<Result<AuthorizationCallback, String>> {
    if url.path() != PATH || parameter(url, "state").as_deref() != Some(state) {
        return None;
    }
    if let Some(error) = parameter(url, "error") {
        let description = parameter(url, "error_description").unwrap_or_default();
        return Some(Err(format!(
            "the login was refused: {}",
            clean(&format!("{error} {description}")).trim()
        )));
    }
    Some(AuthorizationCallback::from_redirect_url(url.as_str()).map_err(|error| clean(&error.to_string())))
}
