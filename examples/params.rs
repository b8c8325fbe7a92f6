//! Parameters of your own types: nested, with constraints, and the error for a wrong call.
//!
//! Run `cargo run --example params`.

#![allow(clippy::print_stdout)]

use toolkit_ai::prelude::*;

#[derive(ToolParams)]
struct Reservation {
    /// Who comes.
    guest: Guest,
    #[param(range = 1..=12, default = 2)]
    seats: u8,
    #[param(length = ..=3, default)]
    wishes: Vec<String>,
    place: Option<Place>,
}

#[derive(ToolParams)]
struct Guest {
    #[param(length = 1..=80)]
    name: String,
    #[param(format = "email")]
    mail: Option<String>,
}

#[derive(ToolParams, Debug)]
#[serde(rename_all = "lowercase")]
enum Place {
    Window,
    Garden,
}

/// Reserve a table.
#[tool]
fn reserve(reservation: Reservation) -> String {
    let Reservation { guest, seats, wishes, place } = reservation;
    let mail = guest.mail.as_deref().unwrap_or("no address");
    format!("{seats} seats for {} ({mail}), place: {place:?}, wishes: {wishes:?}", guest.name)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = ToolRegistry::discover()?;
    println!("The schema:\n{:#}\n", reserve::tool().definition().parameters);
    for arguments in [
        r#"{"reservation": {"guest": {"name": "Ada"}, "seats": 4, "place": "garden"}}"#,
        r#"{"reservation": {"guest": {"name": "", "mail": "ada"}, "seats": 40, "place": "roof"}}"#,
    ] {
        println!("The model calls: {arguments}");
        match registry.call("reserve", arguments).await {
            Ok(output) => println!("It reads: {}\n", output.to_text()),
            Err(error) => println!("It reads: {}\n", error.message()),
        }
    }
    Ok(())
}
