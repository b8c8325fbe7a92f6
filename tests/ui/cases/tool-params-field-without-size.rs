use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Data {
    bytes: [u8],
}

fn main() {}
