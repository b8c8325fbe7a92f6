use toolkit_ai::tool;

#[tool]
unsafe fn read(address: usize) -> usize {
    address
}

fn main() {}
