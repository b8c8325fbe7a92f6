//! Detection of fenced code blocks, which the parser copies unchanged.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fence {
    /// Ordinary text.
    Outside,
    /// The opening line of a block.
    Open,
    /// The code or the closing line of a block.
    Inside,
}

/// Classifies trimmed lines. A code block without a closing line counts as ordinary text.
pub(crate) fn classify<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut ahead = lines;
    while let Some(line) = ahead.next() {
        let Some(marker) = Marker::opening(line) else {
            fences.push(Fence::Outside);
            continue;
        };
        match ahead.clone().position(|line| marker.closes(line)) {
            None => fences.push(Fence::Outside),
            Some(place) => {
                fences.push(Fence::Open);
                fences.resize(fences.len() + place + 1, Fence::Inside);
                ahead.nth(place);
            }
        }
    }
    fences
}

#[derive(Clone, Copy)]
struct Marker {
    symbol: char,
    length: usize,
}

impl Marker {
    fn opening(text: &str) -> Option<Self> {
        let symbol = text.chars().next()?;
        if !matches!(symbol, '`' | '~') {
            return None;
        }
        let info = text.trim_start_matches(symbol);
        let length = text.len() - info.len();
        let inline_code = symbol == '`' && info.contains('`');
        if length >= 3 && !inline_code { Some(Self { symbol, length }) } else { None }
    }

    fn closes(self, text: &str) -> bool {
        text.len() >= self.length && text.chars().all(|c| c == self.symbol)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fence, classify};

    fn check(text: &str, expected: &str) {
        let symbol = |fence: Fence| match fence {
            Fence::Outside => '.',
            Fence::Open => '<',
            Fence::Inside => '#',
        };
        let found: String = classify(text.lines().map(str::trim)).into_iter().map(symbol).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn a_fence_ends_at_a_marker_of_its_symbol_and_length() {
        check("a\n```\nb\n```\nc", ".<##.");
        check("```rust,ignore\nb\n\nc\n  ```\nd", "<####.");
        check("~~~\n```\n~~~\nd", "<##.");
        check("````\n```\n````\nd", "<##.");
        check("```\na\n````\nd", "<##.");
    }

    #[test]
    fn unclosed_fences_and_inline_code_are_ordinary_text() {
        check("```\na\nb", "...");
        check("```code``` is\na\n```", "...");
        check("``\na\n``", "...");
        check("~~~\na\n```\nb\n```", "..<##");
        check("```\na\n``` b", "...");
    }
}
