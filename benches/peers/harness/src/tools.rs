use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// The work of `search_web`.
pub fn search(query: &str, max_results: Option<u32>) -> Vec<String> {
    (0..max_results.unwrap_or(5)).map(|index| format!("https://example.com/{query}/{index}")).collect()
}

/// How fast an order is handled.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    Normal,
    Express,
}

/// One line of an order.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub sku: String,
    pub quantity: u32,
    pub unit_price: f64,
}

/// Where an order goes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    pub street: String,
    pub city: String,
    pub postal_code: String,
    pub country: String,
}

/// The details of an order.
#[derive(Debug, Serialize)]
pub struct Summary {
    customer: String,
    quantity: u32,
    total: f64,
}

/// The work of `create_order`. Unneeded values are passed too, so that they are decoded.
pub fn summary(
    customer: String,
    lines: impl Iterator<Item = (u32, f64)> + Clone,
    discount: f64,
    express: bool,
    unused: impl Sized,
) -> Summary {
    black_box(unused);
    let goods: f64 = lines.clone().map(|(quantity, price)| f64::from(quantity) * price).sum();
    let postage = if express { 0.0 } else { 5.0 };
    Summary {
        customer,
        quantity: lines.map(|(quantity, _)| quantity).sum(),
        total: goods * (1.0 - discount) + postage,
    }
}

/// Quantities and unit prices.
pub fn lines(items: &[Item]) -> impl Iterator<Item = (u32, f64)> + Clone {
    items.iter().map(|item| (item.quantity, item.unit_price))
}
