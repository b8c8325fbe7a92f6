//! The cases: each starts a fleet, disturbs it under load, and counts what has happened.

use super::processes::{Process, Site};
use super::verdict;
use async_nats::HeaderMap;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// The deadline of each call.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Returns the number of calls at the same time of a caller with this number of calls.
fn concurrency(calls: usize) -> usize {
    if calls < 1_000 { 3 } else { 32 }
}

/// Runs a case, and prints its row. Returns whether all invariants hold.
pub(crate) async fn run(name: &str, calls: usize) -> bool {
    let has_ledger = name.starts_with("ledger");
    let mut site = Site::new(name, has_ledger);
    let options: &[(&str, &str)] = match name {
        "full" => &[("max_calls", "1")],
        // Calls run when their worker or their caller is stopped, and some run on afterwards.
        "stopped-caller" => &[("time", "300")],
        "ledger-stopped" => &[("time", "200"), ("longest", "7000")],
        "large" => &[("size", "5000000")],
        _ => &[],
    };
    let workers: Vec<Process> = (0..3).map(|_| site.worker_at(site.port, options)).collect();
    if name.ends_with("duplicates") {
        tokio::spawn(duplicate(site.port));
    }
    sleep(ms(500)).await;
    let started = Instant::now();
    let mut callers: Vec<Process> = match name {
        // All at once.
        "large" => vec![site.caller("large", calls.min(60), 60)],
        _ => (0..2)
            .map(|number| site.caller(&format!("{name}{number}"), calls / 2, concurrency(calls / 2)))
            .collect(),
    };
    disturb(name, &mut site, workers, &mut callers, calls / 2).await;
    let seconds = started.elapsed().as_secs_f64();
    let is_whole = verdict::print(name, &site, seconds).await;
    drop(site);
    is_whole
}

fn all_ended(callers: &mut [Process]) -> bool {
    callers.iter_mut().all(Process::has_ended)
}

/// Kills a caller that still runs, and starts it again. With a ledger, it comes back with the same ids. Without one, it
/// makes other calls.
fn restart(name: &str, site: &Site, caller: &mut Process, number: usize, calls: usize) {
    if caller.has_ended() {
        return;
    }
    caller.kill();
    let again = if site.has_ledger { format!("{name}{number}") } else { format!("{name}{number}b") };
    *caller = site.caller(&again, calls, concurrency(calls));
}

/// Stops a process for a time, half a second from now.
async fn pause(process: &Process, milliseconds: u64) {
    sleep(ms(500)).await;
    process.signal("STOP");
    sleep(ms(milliseconds)).await;
    process.signal("CONT");
}

/// Starts a worker with other tools, and asks the old one to leave.
async fn upgrade(site: &Site, worker: &mut Process) {
    let new = site.worker_at(site.port, &[("version", "2")]);
    sleep(ms(500)).await;
    worker.signal("TERM");
    while !worker.has_ended() {
        sleep(ms(20)).await;
    }
    *worker = new;
}

/// Disturbs the fleet while the callers run, and waits for their end.
async fn disturb(
    name: &str,
    site: &mut Site,
    mut workers: Vec<Process>,
    callers: &mut [Process],
    calls: usize,
) {
    let mut round = 0_usize;
    let proxy = if name == "split" { Some(Proxy::start(site.port).await) } else { None };
    if let Some(proxy) = &proxy {
        workers[0] = site.worker_at(proxy.port, &[]);
    }
    while !all_ended(callers) {
        let turn = round % workers.len();
        match name.trim_start_matches("ledger-") {
            "workers" => {
                sleep(ms(400)).await;
                workers[turn].kill();
                workers[turn] = site.worker();
            }
            "callers" if round < 2 => {
                sleep(ms(600)).await;
                restart(name, site, &mut callers[round], round, calls);
            }
            "server" if round < 2 => {
                sleep(ms(700)).await;
                site.kill_nats();
                sleep(ms(500)).await;
                site.start_nats();
                sleep(ms(1_500)).await;
            }
            "postgres" if round < 2 => {
                sleep(ms(700)).await;
                site.kill_postgres();
                sleep(ms(500)).await;
                site.start_postgres();
                sleep(ms(1_000)).await;
            }
            "stopped" if round < 2 => {
                pause(&workers[turn], 5_000).await;
            }
            "stopped-caller" if round < 2 => {
                while !site.has_begun(&format!("{name}{round}")) {
                    sleep(ms(20)).await;
                }
                pause(&callers[round], 4_500).await;
            }
            "upgrade" if round < 3 => {
                sleep(ms(500)).await;
                upgrade(site, &mut workers[turn]).await;
            }
            "split" if round < 2 => {
                sleep(ms(500)).await;
                if let Some(proxy) = &proxy {
                    let side = if round == 0 { &proxy.to_worker } else { &proxy.to_server };
                    side.store(false, Ordering::Relaxed);
                    sleep(ms(5_000)).await;
                    side.store(true, Ordering::Relaxed);
                }
            }
            _ => sleep(ms(50)).await,
        }
        round += 1;
    }
    // Calls that nobody waits for any more end, too.
    sleep(ms(500)).await;
}

/// Delivers each message of a call twice more: at once, and when the call has ended.
async fn duplicate(port: u16) {
    let client = async_nats::connect(format!("127.0.0.1:{port}")).await.unwrap();
    let mut calls = client.subscribe("fleet.to.*.*.*.*.*").await.unwrap();
    while let Some(call) = calls.next().await {
        // A copy of a copy would be copied without end.
        if call.headers.is_some() {
            continue;
        }
        let client = client.clone();
        tokio::spawn(async move {
            for pause in [0, 500] {
                sleep(ms(pause)).await;
                let mut headers = HeaderMap::new();
                headers.insert("copy", "yes");
                let (subject, reply) = (call.subject.clone(), call.reply.clone().unwrap());
                let copy = call.payload.clone();
                client.publish_with_reply_and_headers(subject, reply, headers, copy).await.unwrap();
            }
        });
    }
}

/// A proxy between a worker and the server that can drop the bytes of one direction. The connection that has lost bytes
/// stays silent in this direction until it is closed.
struct Proxy {
    port: u16,
    to_worker: Arc<AtomicBool>,
    to_server: Arc<AtomicBool>,
}

impl Proxy {
    async fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let to_worker = Arc::new(AtomicBool::new(true));
        let to_server = Arc::new(AtomicBool::new(true));
        let open = [to_worker.clone(), to_server.clone()];
        tokio::spawn(async move {
            loop {
                let (worker, _) = listener.accept().await.unwrap();
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let (from_worker, to_worker) = worker.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(forward(from_server, to_worker, open[0].clone()));
                tokio::spawn(forward(from_worker, to_server, open[1].clone()));
            }
        });
        Self { port, to_worker, to_server }
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, is_open: Arc<AtomicBool>) {
    let mut bytes = vec![0; 65_536];
    let mut has_lost = false;
    loop {
        let Ok(length @ 1..) = from.read(&mut bytes).await else { return };
        has_lost |= !is_open.load(Ordering::Relaxed);
        if !has_lost && to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
