//! Detection of the `impl` block that contains an attribute, and of other `#[toolset]` blocks of a type.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The file, line, column and type of each `#[toolset]` block expanded so far.
static TOOLSETS: Mutex<Vec<(PathBuf, usize, usize, String)>> = Mutex::new(Vec::new());

/// Returns the line of another `#[toolset]` block of the type called `ty`. Returns `None` if it is not certain that
/// another block belongs to the same type.
///
/// Blocks in the same module of one file belong to the same type. Two blocks are in the same module if no line between
/// them has less indentation and no module begins between them.
pub(crate) fn other_toolset(ty: &str) -> Option<usize> {
    if !proc_macro::is_available() {
        return None;
    }
    let span = proc_macro::Span::call_site();
    let (file, line, column) = (span.local_file()?, span.line(), span.column());
    let mut toolsets = TOOLSETS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |(in_file, _, at, of): &&(PathBuf, usize, usize, String)| {
        (in_file, *at, of.as_str()) == (&file, column, ty)
    };
    let others: Vec<usize> = toolsets.iter().filter(is_same).map(|(_, line, ..)| *line).collect();
    toolsets.push((file.clone(), line, column, ty.to_owned()));
    let source = if others.is_empty() { String::new() } else { fs::read_to_string(file).ok()? };
    let in_module = |other: usize| {
        let between = source.lines().take(line.max(other)).skip(line.min(other));
        line != other && between.into_iter().all(|line| is_in_module(line, column - 1))
    };
    others.into_iter().find(|other| in_module(*other))
}

/// Returns `true` if code before and after `line` may be in the same module. `indent` is the indentation of items in
/// this module.
///
/// The line must neither have less indentation, which ends the module, nor begin another module at `indent`.
fn is_in_module(line: &str, indent: usize) -> bool {
    let text = line.trim_start();
    let own = line.len() - text.len();
    text.is_empty() || own > indent || own == indent && !text.split(' ').any(|word| word == "mod")
}

/// Returns `true` if the attribute being expanded is inside an `impl` block or a trait.
///
/// The macro receives only the tokens of the function, so this function reads the source file. The enclosing block
/// begins in the line of the attribute, or in the nearest line above with less indentation. Returns `false` if there is
/// no source file.
pub(crate) fn is_in_block() -> bool {
    let lines_above = || {
        let span = proc_macro::Span::call_site();
        // Most tools are not indented. For these tools, no file is read.
        let indent = span.column().checked_sub(1).filter(|indent| *indent > 0)?;
        let source = fs::read_to_string(span.local_file()?).ok()?;
        let mut lines: Vec<&str> = source.lines().take(span.line()).collect();
        let line: String = lines.pop()?.chars().take(indent).collect();
        lines.push(&line);
        Some(opens_block(&lines, indent))
    };
    proc_macro::is_available() && lines_above().unwrap_or(false)
}

/// Returns `true` if code directly after `lines` with the indentation `indent` is inside an `impl` block or a trait.
fn opens_block(lines: &[&str], mut indent: usize) -> bool {
    for line in lines.iter().rev() {
        let text = line.trim_start();
        let own = line.len() - text.len();
        if own >= indent || text.is_empty() || text.starts_with("where") || text.starts_with("#[") {
            continue;
        }
        let (opened, closed) = (text.matches('{').count(), text.matches('}').count());
        if text == "{" || opened > 0 && opened == closed {
            // The header of the block is in a line above.
            indent = own + 1;
            continue;
        }
        let mut words = text.split([' ', '<']).filter(|word| !word.starts_with("pub") && *word != "unsafe");
        return opened <= closed + 1 && matches!(words.next(), Some("impl" | "trait"));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::opens_block;

    #[test]
    fn the_line_of_the_attribute_counts() {
        for (source, expected) in [
            ("impl A { ", true),
            ("impl A { #[allow(unused)] ", true),
            ("pub(crate) trait A { ", true),
            ("impl A {\n    fn a() {} ", true),
            ("impl A {} ", false),
            ("impl A { fn a() { ", false),
            ("mod a { ", false),
            ("pub mod a {\n    pub fn a() {} ", false),
        ] {
            let lines: Vec<&str> = source.lines().collect();
            assert_eq!(opens_block(&lines, lines.last().map_or(0, |line| line.len())), expected, "{source}");
        }
    }

    #[test]
    fn only_an_open_impl_block_counts() {
        for (source, expected) in [
            ("impl A {", true),
            ("impl A {\n    fn a() {\n    }\n", true),
            ("mod a {\n    impl<T> A<T>\n    where\n        T: B,\n    {", true),
            ("impl A {\n    fn a() {}\n}", false),
            ("mod a {", false),
            ("impl A {\n    fn a() {\n        mod b {", false),
            ("", false),
        ] {
            let lines: Vec<&str> = source.lines().collect();
            let depth = if source.contains("mod b") {
                12
            } else if source.contains("mod a {\n") {
                8
            } else {
                4
            };
            assert_eq!(opens_block(&lines, depth), expected, "{source}");
        }
    }
}
