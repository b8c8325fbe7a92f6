//! Loads documents and prints what became of them, one line each: `document_tools FILE…`. With `--dump FOLDER`, it also
//! writes the definitions in every API form for `tests/sdk/sdk_check.py`.

use std::error::Error;
use std::time::Instant;
use std::{env, fs};
use toolkit_openapi::client::OpenApiToolset;

fn main() -> Result<(), Box<dyn Error>> {
    for path in env::args().skip(1) {
        let start = Instant::now();
        let text = fs::read_to_string(&path)?;
        let toolset = OpenApiToolset::from_document(&text)?;
        drop(text);
        let read = start.elapsed();
        let registry = toolset.registry()?;
        println!(
            "{path}: {} tools, {} issues, {read:?}, {:?} with registry {}",
            toolset.len(),
            toolset.issues().len(),
            start.elapsed(),
            registry.len()
        );
        println!(
            "{}",
            fs::read_to_string("/proc/self/status")?
                .lines()
                .filter(|l| l.starts_with("VmHWM") || l.starts_with("VmRSS"))
                .collect::<Vec<_>>()
                .join(" ")
        );
        for issue in toolset.issues() {
            println!("   {issue}");
        }
    }
    Ok(())
}
