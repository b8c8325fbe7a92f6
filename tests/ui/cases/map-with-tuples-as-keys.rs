use std::collections::{BTreeMap, HashMap};
use toolkit_ai::{ToolParams, tool};

#[derive(ToolParams)]
struct Grid {
    cells: Vec<HashMap<(i32, i32), String>>,
    named: HashMap<String, u8>,
    numbered: BTreeMap<u32, [u8; 2]>,
}

#[tool]
fn draw(grid: Grid, heights: Option<BTreeMap<[u8; 2], f64>>) {
    drop((grid, heights));
}

fn main() {}
