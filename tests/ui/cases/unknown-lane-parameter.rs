use toolkit_ai::tool;

#[tool(lane = "paht")]
fn write(path: String) -> String {
    path
}

fn main() {}
