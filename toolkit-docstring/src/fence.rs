//! Fenced code: lines that are shown, never read.

use crate::lines::Line;

/// Where a line stands with regard to fenced code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// Ordinary text.
    Outside,
    /// The line that opens the code.
    Open,
    /// The code and the line that closes it.
    Inside,
}

/// Marks fenced code; a fence that nothing closes is ordinary text.
pub(crate) fn mark(mut lines: &mut [Line]) {
    while let [line, after @ ..] = lines {
        let length = Marker::opening(&line.text)
            .and_then(|marker| after.iter().position(|line| marker.closes(&line.text)));
        lines = match length {
            None => after,
            Some(length) => {
                line.fence = Fence::Open;
                let (inside, after) = after.split_at_mut(length + 1);
                for line in inside {
                    line.fence = Fence::Inside;
                }
                after
            }
        };
    }
}

#[derive(Clone, Copy)]
struct Marker {
    symbol: char,
    length: usize,
}

impl Marker {
    fn opening(text: &str) -> Option<Self> {
        let symbol = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = text.trim_start_matches(symbol);
        let length = text.len() - info.len();
        let inline_code = symbol == '`' && info.contains('`');
        (length >= 3 && !inline_code).then_some(Self { symbol, length })
    }

    fn closes(self, text: &str) -> bool {
        text.len() >= self.length && text.chars().all(|c| c == self.symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::Fence;
    use crate::lines;

    fn check(text: &str, expected: &str) {
        let found: String = lines::read(text)
            .iter()
            .map(|line| match line.fence {
                Fence::Outside => '.',
                Fence::Open => '<',
                Fence::Inside => '#',
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn finds_closed_fences() {
        check("a\n```\nb\n```\nc", ".<##.");
        check("```rust,ignore\nb\n\nc\n  ```\nd", "<####.");
        check("~~~\n```\n~~~\nd", "<##.");
        check("````\n```\n````\nd", "<##.");
        check("```\na\n````\nd", "<##.");
    }

    #[test]
    fn leaves_the_rest_alone() {
        check("```\na\nb", "...");
        check("```code``` is\na\n```", "...");
        check("``\na\n``", "...");
        check("~~~\na\n```\nb\n```", "..<##");
        check("```\na\n``` b", "...");
    }
}
