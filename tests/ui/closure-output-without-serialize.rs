use toolkit::FunctionTool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Serialize)]
struct Page;

fn main() {
    let _ = FunctionTool::from_fn("page", "", |_: Nothing| async { Page });
    let _ = FunctionTool::from_fn("page", "", |_: Nothing| Page);
}
