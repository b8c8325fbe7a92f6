use toolkit_ai::tool;

/// Tells the time.
///
/// # Arguments
///
/// * `zone` - The time zone
#[tool]
fn now() -> String {
    "12:00".into()
}

fn main() {}
