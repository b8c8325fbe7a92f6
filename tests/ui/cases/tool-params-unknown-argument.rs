use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Filter {
    #[param(aliass = "title")]
    name: String,
}

fn main() {}
