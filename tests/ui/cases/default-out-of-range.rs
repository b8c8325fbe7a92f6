use toolkit_ai::tool;

#[tool]
fn search(#[param(range = 1..=50, default = 100)] limit: u32, #[param(range = 0.0..=1.0, default = -0.5)] share: f64) -> String {
    format!("{limit} {share}")
}

fn main() {}
