use toolkit::tool;

#[tool]
fn forever() -> ! {
    loop {}
}

fn main() {}
