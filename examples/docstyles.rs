//! One tool in five styles of documentation, with the same definition for the model. Run `cargo run --example
//! docstyles`.
#![allow(clippy::print_stdout, unused_variables)]
use toolkit_ai::prelude::*;

/// Find places near a city.
///
/// :param city: The city, in English
/// :param radius: How far around, in kilometres
#[tool]
fn sphinx(city: &str, radius: Option<f64>) {}

/// Find places near a city.
///
/// Args:
///     city: The city, in English
///     radius: How far around, in kilometres
#[tool]
fn google(city: &str, radius: Option<f64>) {}

/// Find places near a city.
///
/// Parameters
/// ----------
/// city : str
///     The city, in English
/// radius : float, optional
///     How far around, in kilometres
#[tool]
fn numpy(city: &str, radius: Option<f64>) {}

/// Find places near a city.
///
/// # Arguments
///
/// * `city` - The city, in English
/// * `radius` - How far around, in kilometres
#[tool]
fn rustdoc(city: &str, radius: Option<f64>) {}

/// Find places near a city.
#[tool]
fn beside(
    /// The city, in English
    city: &str,
    /// How far around, in kilometres
    radius: Option<f64>,
) {
}

fn main() {
    let tools = [sphinx::tool(), google::tool(), numpy::tool(), rustdoc::tool(), beside::tool()];
    let first = tools[0].definition();
    println!("{}\n{:#}\n", first.description, first.parameters);
    for other in tools.iter().map(Tool::definition) {
        let equal = (&other.description, &other.parameters) == (&first.description, &first.parameters);
        println!("{:<8} {}", other.name, if equal { "says the same" } else { "says something else" });
    }
}
