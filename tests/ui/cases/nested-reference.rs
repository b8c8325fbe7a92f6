use std::path::Path;
use toolkit_ai::tool;

#[tool]
fn shout(rest: Vec<(&str, i64)>, paths: &[&Path], few: Option<&[&str]>, twice: Option<&&str>) -> String {
    format!("{rest:?} {paths:?} {few:?} {twice:?}")
}

fn main() {}
