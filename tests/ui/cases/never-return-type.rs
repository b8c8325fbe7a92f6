use toolkit_ai::tool;

#[tool]
fn forever() -> ! {
    loop {}
}

fn main() {}
