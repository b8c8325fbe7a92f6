//! A scripted server on loopback.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// Sends this until the client disconnects.
    Endless(Vec<u8>),
    /// Stays open and silent.
    Silence,
}

#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn wants_stream(&self) -> bool {
        self.head.contains(":streamgeneratecontent")
            || self.head.contains("/converse-stream ")
            || self.body.contains("\"stream\":true")
    }
}

/// Creates the reply to a request, which may ask for a stream.
pub(crate) type Reply = Arc<dyn Fn(bool) -> Vec<Step> + Send + Sync>;

/// A server with a reply for each request, the last one repeatedly.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(answer(connection, replies.clone(), seen.clone()));
            }
        });
        Self { url, asked, task }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut connection: TcpStream, replies: Vec<Reply>, asked: Arc<Mutex<Vec<Asked>>>) {
    let Some(request) = read(&mut connection).await else { return };
    let wants_stream = request.wants_stream();
    let number = {
        let mut asked = asked.lock().unwrap();
        asked.push(request);
        asked.len() - 1
    };
    let reply = &replies[number.min(replies.len() - 1)];
    for step in reply(wants_stream) {
        let done = match step {
            Step::Send(bytes) => connection.write_all(&bytes).await,
            Step::Pause(time) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
            Step::Endless(bytes) => loop {
                if let Err(error) = connection.write_all(&bytes).await {
                    break Err(error);
                }
            },
            Step::Silence => connection.read(&mut [0]).await.map(drop),
        };
        if done.is_err() {
            return;
        }
    }
    let _ = connection.shutdown().await;
}

async fn read(connection: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = connection.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let line = head.lines().next().unwrap_or_default().to_owned();
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1)?.lines().next()?.trim().parse().ok()?;
        if body.len() >= length {
            return Some(Asked { line, head, body: body.to_owned() });
        }
    }
}

pub(crate) fn respond(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    vec![Step::Send([head.as_bytes(), body].concat())]
}

pub(crate) fn stream_head() -> Step {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    Step::Send(head.into())
}

pub(crate) fn chunk(text: &str) -> Step {
    Step::Send(format!("{:x}\r\n{text}\r\n", text.len()).into())
}

pub(crate) fn stream_end() -> Step {
    Step::Send("0\r\n\r\n".into())
}
