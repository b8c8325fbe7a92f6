use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Filter {
    #[param(range = 1..)]
    name: String,
}

fn main() {}
