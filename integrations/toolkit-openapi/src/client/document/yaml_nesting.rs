//! The nesting of lists and objects, counted before YAML is parsed.
//!
//! The parser's work for each token grows with the number of open brackets and block collections, and its
//! limit comes after its work. This reader only knows where brackets and `-`, `?` and `:` are not text: in
//! quotes, comments, block scalars (`|`, `>`) and plain scalars.

/// The maximum number of open brackets and block collections, as in the parser.
const DEEPEST: usize = 128;

/// Checks that the parser accepts the nesting.
///
/// # Errors
/// Too many lists and objects are open at once.
pub(super) fn check_nesting(text: &str) -> Result<(), String> {
    let mut reader = NestingReader {
        text: text.as_bytes(),
        at: 0,
        line: 0,
        depth: 0,
        expects_value: true,
        is_plain: false,
        token: None,
        blocks: Vec::new(),
    };
    while reader.at < reader.text.len() {
        reader.step();
        if reader.blocks.len() + reader.depth > DEEPEST {
            return Err(format!(
                "has more than {DEEPEST} lists and objects in one another at byte {}",
                reader.at
            ));
        }
    }
    Ok(())
}

struct NestingReader<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    depth: usize,
    /// Whether a value may begin here.
    expects_value: bool,
    /// Whether a plain scalar has begun, which may continue on the next line.
    is_plain: bool,
    /// The column of the token that may be a key.
    token: Option<usize>,
    /// The columns of the open block collections, outermost first.
    blocks: Vec<usize>,
}

impl NestingReader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    /// Returns the length of a line break of YAML 1.1, or 0.
    fn line_break(&self, at: usize) -> usize {
        match self.text.get(at..).unwrap_or_default() {
            [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
            _ => 0,
        }
    }

    fn column(&self) -> usize {
        self.at - self.line
    }

    /// Reads a character, or all of a comment, a quoted scalar or a block scalar.
    fn step(&mut self) {
        let byte = self.peek(0);
        let ends_word = self.peek(1).is_ascii_whitespace();
        let is_first = self.at == self.line || self.text[self.at - 1].is_ascii_whitespace();
        let in_block = self.depth == 0;
        match byte {
            _ if self.line_break(self.at) > 0 => self.next_line(),
            b' ' | b'\t' => self.at += 1,
            b'#' if is_first => self.skip_line(),
            b'[' | b'{' if !in_block || self.expects_value => self.bracket(true),
            b']' | b'}' if !in_block => self.bracket(false),
            b',' if !in_block => self.indicator(),
            b':' if !in_block => self.indicator(),
            b':' if ends_word => {
                self.open_block(self.token.unwrap_or(self.column()));
                self.indicator();
            }
            b'-' if in_block && self.column() == 0 && self.text[self.at..].starts_with(b"---") => {
                self.blocks.clear();
                self.at += 2;
                self.indicator();
            }
            b'-' | b'?' if self.expects_value && ends_word => {
                if in_block {
                    self.open_block(self.column());
                }
                self.indicator();
            }
            b'"' | b'\'' if self.expects_value => self.skip_quoted(byte),
            b'|' | b'>' if in_block && self.expects_value => self.skip_block_scalar(),
            b'&' | b'!' | b'*' if self.expects_value => self.skip_property(),
            _ => {
                self.begin_token();
                self.is_plain = true;
                self.expects_value = false;
                self.at += 1;
            }
        }
    }

    /// Opens or continues the block collection at a column. Those further inside end.
    fn open_block(&mut self, column: usize) {
        while self.blocks.last().is_some_and(|inner| *inner >= column) {
            self.blocks.pop();
        }
        self.blocks.push(column);
    }

    fn indent(&self) -> Option<usize> {
        self.blocks.last().copied()
    }

    /// Goes behind a character after which a value may begin.
    fn indicator(&mut self) {
        self.at += 1;
        self.expects_value = true;
        self.is_plain = false;
        self.token = None;
    }

    fn bracket(&mut self, opens: bool) {
        self.begin_token();
        let token = self.token;
        self.indicator();
        self.depth = if opens { self.depth + 1 } else { self.depth - 1 };
        self.expects_value = opens;
        self.token = token;
    }

    fn begin_token(&mut self) {
        self.token = self.token.or(Some(self.column()));
    }

    /// Goes to the next line, where an indented plain scalar continues.
    fn next_line(&mut self) {
        self.at += self.line_break(self.at);
        self.line = self.at;
        while self.at < self.text.len() && self.peek(0) == b' ' {
            self.at += 1;
        }
        let is_inside = self.indent().is_none_or(|indent| self.column() > indent);
        if self.depth == 0 && !(self.is_plain && is_inside) && self.line_break(self.at) == 0 {
            self.expects_value = true;
            self.is_plain = false;
            self.token = None;
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.line_break(self.at) == 0 {
            self.at += 1;
        }
        self.is_plain = false;
    }

    fn skip_quoted(&mut self, quote: u8) {
        self.begin_token();
        self.at += 1;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                (b'\\', _) if quote == b'"' => self.at += 1,
                (b'\'', b'\'') if quote == b'\'' => self.at += 1,
                (end, _) if end == quote => break,
                (b'\n', _) => self.line = self.at + 1,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        self.expects_value = false;
        self.is_plain = false;
    }

    /// Skips an anchor, a tag or an alias, which a value may follow.
    fn skip_property(&mut self) {
        self.begin_token();
        while !self.peek(0).is_ascii_whitespace() && !matches!(self.peek(0), b'[' | b'{' | b']' | b'}' | b',')
        {
            self.at += 1;
        }
    }

    /// Skips a block scalar: the lines below its header that are empty or indented enough.
    fn skip_block_scalar(&mut self) {
        let start = self.at + 1;
        self.skip_line();
        let header = self.text[start..self.at].iter().take_while(|byte| !byte.is_ascii_whitespace());
        let digit = header.copied().find(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0'));
        let least = self.indent().map_or(1, |indent| indent + 1);
        let mut indent = digit.map(|digit| self.indent().unwrap_or_default() + digit);
        while self.at < self.text.len() {
            let line = self.at + self.line_break(self.at);
            let spaces = self.text[line..].iter().take_while(|byte| **byte == b' ').count();
            let is_empty = self.line_break(line + spaces) > 0;
            if !is_empty && spaces < *indent.get_or_insert(spaces.max(least)) {
                break;
            }
            self.at = line;
            self.skip_line();
        }
        self.expects_value = true;
        self.token = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects_are_counted_where_they_are_no_text() {
        let open = |part: &str| part.repeat(DEEPEST + 1);
        for text in [
            open("["),
            open("{a: "),
            open("[a, "),
            open("[{"),
            format!("a:\n  b: {}", open("[\n")),
            format!("- &a !t {}", open("[ \"]\", ']]', # ]\n")),
            format!("a: |\n  text\nb: {}", open("[")),
            format!("- a: |\n  b: {}", open("[")),
            format!("a: >-\n\n  text [\n \n  more\n? {}", open("[")),
            format!("--- |\n [\n--- {}", open("[")),
            format!("a: it's\nb: {}", open("['it''s', ")),
            format!("a: text\n  more\nb: {}", open("[")),
            open("- "),
            open("? "),
            format!("a:\n {}[a]", open("- ? ")),
            format!("{}a: [[[1]]]", "- ".repeat(DEEPEST - 2)),
        ] {
            assert!(check_nesting(&text).is_err(), "{text}");
        }
        for text in [
            "a: [1, [2], {b: [3]}]\n".repeat(1_000),
            format!("a: text {}", open("[")),
            format!("a: text\n  {}\nb: 1", open("[ ")),
            format!("a: \"{}\"\nb: '{}'", open("["), open("{")),
            format!("a: |\n  {}\n\n  {}\nb: 1", open("["), open("{")),
            format!("- a: >2\n    {}\n", open("[")),
            format!("a: 1 # {}\n# {}\n", open("["), open("{")),
            "# a [0, 10)\na: from [0, 10)\n".repeat(1_000),
            "a: >\n  [0, 10)\nb:\n  - |\n    {\n".repeat(1_000),
            "a: ['it''s [', \"a \\\" [\", don't]\n".repeat(1_000),
            "- ".repeat(DEEPEST),
            format!("a: [{}]", "? b: 1, ".repeat(1_000)),
            "- - a\n- ? - b\n  : - c: 1\n      d:\n      - e\n".repeat(1_000),
            format!("a: text\n {}\nb: \"{}\"", open("- "), open("? ")),
        ] {
            assert_eq!(check_nesting(&text), Ok(()), "{text}");
        }
    }
}
