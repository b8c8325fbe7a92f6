//! The current official SDK as a client of our server: `conformance_rmcp client COMMAND…`.

#![allow(clippy::print_stdout)]

mod rmcp_client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((mode, command)) if mode == "client" => rmcp_client::run(command).await,
        _ => {
            println!("usage: conformance_rmcp client COMMAND ARGUMENT…");
            Ok(())
        }
    }
}
