//! Chaos on one machine: workers, callers and servers are killed, stopped and separated under load, and every call is
//! counted in the files of the tools. `tests/full/fleet.sh` runs all cases and prints the table.
//!
//! ```sh
//! chaos case NAME CALLS        # one case; NATS_SERVER, POSTGRES_BIN and CHAOS_FOLDER are set
//! chaos worker | caller …      # the processes of a case
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod faults;
mod processes;
mod roles;
mod verdict;

use std::env;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["worker", rest @ ..] => roles::worker(&roles::Options::read(rest)).await,
        ["caller", rest @ ..] => roles::caller(&roles::Options::read(rest)).await,
        ["case", name, calls] => {
            if !faults::run(name, calls.parse().unwrap()).await {
                std::process::exit(1);
            }
        }
        _ => println!("run `tests/full/fleet.sh`"),
    }
}
