use toolkit_ai::ClosureTool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Serialize)]
struct Page;

fn main() {
    let _ = ClosureTool::new("page", "", |_: Nothing| async { Page });
    let _ = ClosureTool::new("page", "", |_: Nothing| Page);
}
