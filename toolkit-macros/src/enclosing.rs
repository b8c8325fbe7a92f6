//! The block around an attribute.

use std::fs;

/// Returns `true` if the attribute being expanded is inside an `impl` block.
///
/// The tokens of the function do not show the block, so this function reads the source. The next line above
/// with less indentation opens the block. Returns `false` if there is no source file.
pub(crate) fn is_in_impl() -> bool {
    let lines_above = || {
        let span = proc_macro::Span::call_site();
        // Most tools are not indented, and cost no reading.
        let indent = span.column().checked_sub(1).filter(|indent| *indent > 0)?;
        let source = fs::read_to_string(span.local_file()?).ok()?;
        let above: Vec<&str> = source.lines().take(span.line().checked_sub(1)?).collect();
        Some(opens_impl(&above, indent))
    };
    proc_macro::is_available() && lines_above().unwrap_or(false)
}

/// Returns `true` if code at `indent` directly after `lines` is inside an `impl` block.
fn opens_impl(lines: &[&str], mut indent: usize) -> bool {
    for line in lines.iter().rev() {
        let text = line.trim_start();
        let own = line.len() - text.len();
        match text {
            // The header of the block is above.
            "{" if own < indent => indent = own + 1,
            _ if own >= indent || text.is_empty() || text.starts_with("where") => {}
            text => return text.starts_with("impl") || text.starts_with("unsafe impl"),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::opens_impl;

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
            assert_eq!(opens_impl(&lines, depth), expected, "{source}");
        }
    }
}
