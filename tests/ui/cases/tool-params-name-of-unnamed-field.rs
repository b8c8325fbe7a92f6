use toolkit_ai::ToolParams;

#[derive(ToolParams)]
enum Shape {
    Circle(#[param(rename = "radius", range = 0.0..)] f64),
}

fn main() {}
