//! A proxy that ends connections after executed statements, whose answers are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Starts a proxy that loses each third answer to a change of a log or an inbox, and returns client settings and the
/// losses.
pub(crate) async fn start(config: &str) -> (Config, Arc<AtomicU32>) {
    let server: Config = config.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = Config::new();
    client.host("127.0.0.1").port(listener.local_addr().unwrap().port());
    client.user(server.get_user().unwrap()).dbname(server.get_dbname().unwrap());
    client.options(server.get_options().unwrap()).password(server.get_password().unwrap_or_default());
    let lost = Arc::new(AtomicU32::new(0));
    let counter = lost.clone();
    tokio::spawn(async move {
        let changes = Arc::new(AtomicU32::new(0));
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let server = connect(&server).await;
            tokio::spawn(forward(Box::new(client), server, changes.clone(), counter.clone()));
        }
    });
    (client, lost)
}

async fn connect(server: &Config) -> Box<dyn Stream> {
    let port = server.get_ports().first().copied().unwrap_or(5432);
    match &server.get_hosts()[0] {
        Host::Tcp(host) => Box::new(TcpStream::connect((host.as_str(), port)).await.unwrap()),
        Host::Unix(folder) => {
            Box::new(UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await.unwrap())
        }
    }
}

/// Forwards both directions until a side ends or an answer is lost.
async fn forward(
    client: Box<dyn Stream>,
    server: Box<dyn Stream>,
    changes: Arc<AtomicU32>,
    lost: Arc<AtomicU32>,
) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = tokio::io::split(server);
    let mut request = vec![0; 100_000];
    let mut answer = vec![0; 100_000];
    let mut is_lost = false;
    loop {
        tokio::select! {
            read = from_client.read(&mut request) => {
                let Ok(length @ 1..) = read else { return };
                let mut words = request[..length].windows(27);
                let changed = [b"INSERT INTO toolkit_entries", b"INSERT INTO toolkit_inbox A"];
                if words.any(|word| changed.iter().any(|changed| word == *changed)) {
                    is_lost = changes.fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
                }
                to_server.write_all(&request[..length]).await.unwrap();
            }
            read = from_server.read(&mut answer) => {
                let Ok(length @ 1..) = read else { return };
                if is_lost {
                    lost.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                if to_client.write_all(&answer[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
