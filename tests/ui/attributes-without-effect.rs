use toolkit::tool;

#[tool(retries = 0, max_result_size = 0)]
fn nothing(
    #[param(one_of = [1, 18446744073709551616])] _a: u128,
    #[param(one_of = [-1, 18446744073709551615])] _b: i128,
) {
}

fn main() {}
