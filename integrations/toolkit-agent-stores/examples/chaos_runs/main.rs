//! Chaos around runs with an owner: processes that work on them are killed, stopped and started again, stores fail, and
//! inputs, decisions and forks arrive meanwhile. `tests/full/runs.sh` starts it and prints the table.
//!
//! ```sh
//! chaos_runs control files | sqlite RUNS SEED   # one row of the table
//! chaos_runs work FOLDER PERMILLE               # a process of it: how many of 1,000 changes fail in its store
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod controller;
mod errand;
mod failing_store;
mod script;
mod verdict;
mod workers;

use std::env;
use std::path::Path;
use toolkit_agent_stores::{FileStore, SqliteStore};

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["work", folder, permille] => {
            let (folder, permille) = (Path::new(folder), permille.parse().unwrap());
            if folder.ends_with("files") {
                workers::work(FileStore::new(folder), folder, permille).await;
            } else {
                workers::work(SqliteStore::open(folder.join("a.db")).await.unwrap(), folder, permille).await;
            }
        }
        ["control", kind, runs, seed] => {
            let temporary = tempfile::tempdir().unwrap();
            let folder = temporary.path().join(kind);
            std::fs::create_dir(&folder).unwrap();
            let (runs, seed) = (runs.parse().unwrap(), seed.parse().unwrap());
            let is_sound = if *kind == "files" {
                controller::control(FileStore::new(&folder), &folder, runs, seed).await
            } else {
                let store = SqliteStore::open(folder.join("a.db")).await.unwrap();
                controller::control(store, &folder, runs, seed).await
            };
            if !is_sound {
                std::process::exit(1);
            }
        }
        _ => println!("run `tests/full/runs.sh`"),
    }
}
