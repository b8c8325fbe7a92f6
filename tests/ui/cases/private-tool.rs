use toolkit_ai::tools;

mod math {
    use toolkit_ai::tool;

    #[tool]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }
}

fn main() {
    let _ = tools![math::add];
}
