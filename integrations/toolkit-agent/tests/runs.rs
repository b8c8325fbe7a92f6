//! Runs that somebody owns.

mod client_tools;
mod complaints;
mod crashes;
mod owned;
mod reloads;
mod rewinds;
mod table;

use toolkit_agent::session::MemoryStore;

#[tokio::test(flavor = "multi_thread")]
async fn an_input_does_what_its_mode_says_in_each_state() {
    table::check(async || MemoryStore::new()).await;
}
