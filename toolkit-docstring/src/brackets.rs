//! Brackets that stay open at the end of a line.

#[derive(Debug, Default)]
pub(crate) struct Brackets {
    depth: usize,
    /// The open `<` of types such as `Vec<u8>`.
    angles: usize,
}

impl Brackets {
    pub(crate) fn push(&mut self, text: &str) {
        let mut before = ' ';
        for c in text.chars() {
            match c {
                '(' | '[' | '{' | '（' => self.depth += 1,
                ')' | ']' | '}' | '）' => self.depth = self.depth.saturating_sub(1),
                '<' if before.is_alphanumeric() => self.angles += 1,
                '>' if !matches!(before, '-' | '=') => self.angles = self.angles.saturating_sub(1),
                _ => {}
            }
            before = c;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.depth > 0 || self.angles > 0
    }
}

/// Appends a line of a type to `text`, with a space unless it is at the inner side of a bracket.
pub(crate) fn push_type_line(text: &mut String, line: &str) {
    if !text.ends_with(['(', '[', '{', '（', '<']) && !line.starts_with([')', ']', '}', '）', '>', ',']) {
        text.push(' ');
    }
    text.push_str(line);
}
