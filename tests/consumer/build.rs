//! Writes the Rust programs of the READMEs and of the guide as modules, for `tests/guide.rs`.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs/guide", "integrations/toolkit-agent", "integrations/toolkit-mcp"] {
        let folder = root.join(folder);
        let mut inside = fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<PathBuf>, std::io::Error>>()?;
        inside.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        inside.sort();
        pages.append(&mut inside);
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let mut out = String::new();
    for page in pages {
        println!("cargo::rerun-if-changed={}", page.display());
        let name: String = page.strip_prefix(&root)?.with_extension("").display().to_string().to_lowercase();
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        for (line, program) in programs(&fs::read_to_string(&page)?) {
            write_module(&mut out, &format!("{name}_line_{line}"), &program)?;
        }
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("guide.rs"), out)?;
    Ok(())
}

/// Returns the blocks that rustdoc compiles, each with its first line.
fn programs(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    // Within a block, whether it is a program.
    let mut block = None;
    for (line, text) in (1..).zip(page.lines()) {
        match (text.trim_start().strip_prefix("```"), block) {
            (Some(_), Some(_)) => block = None,
            (Some(language), None) => {
                let is_program =
                    language.split(',').all(|word| matches!(word, "" | "rust" | "no_run" | "should_panic"));
                block = Some(is_program);
                if is_program {
                    found.push((line, String::new()));
                }
            }
            (None, Some(true)) => {
                if let Some((_, program)) = found.last_mut() {
                    *program += text;
                    program.push('\n');
                }
            }
            (None, _) => {}
        }
    }
    found
}

/// A program's `main` counts as called. A block without a `main` may have unused items. Nothing is run.
fn write_module(out: &mut String, name: &str, program: &str) -> std::fmt::Result {
    let program = program.replace("#[test]", "#[test]\n#[ignore = \"only compiled\"]");
    if program.contains("fn main()") {
        writeln!(out, "mod {name} {{\n{program}\nconst _: () = {{ let _ = main; }};\n}}")
    } else {
        writeln!(out, "#[allow(dead_code, reason = \"a part of a program\")]\nmod {name} {{\n{program}\n}}")
    }
}
