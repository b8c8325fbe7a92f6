use toolkit_ai::ToolParams;

#[derive(ToolParams)]
struct Place {
    city: String,
    #[param(rename = "city")]
    town: Option<String>,
    #[serde(rename = "street", alias = "city")]
    road: Option<String>,
    #[serde(skip, rename = "city")]
    hidden: u8,
}

#[derive(ToolParams)]
#[serde(rename_all = "camelCase")]
struct Renamed {
    a_city: String,
    #[serde(rename = "a_city")]
    town: String,
}

fn main() {}
