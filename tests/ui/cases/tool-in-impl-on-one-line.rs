use toolkit_ai::tool;

struct Counter;

#[rustfmt::skip]
impl Counter { #[tool] fn zero() -> i64 { 0 } }

fn main() {}
