use toolkit::tool;

#[tool]
fn shout(text: Option<&str>, rest: Vec<(&str, i64)>) -> String {
    format!("{text:?} {rest:?}")
}

fn main() {}
