//! The positions for cutting a text, and the marker for the missing part.

use super::TruncationStrategy;

/// How many characters to keep at both ends of a text, and the marker in between.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    head: usize,
    tail: usize,
    marker: String,
}

impl Cut {
    /// Decides how to cut `total` characters to `limit`, including the marker.
    ///
    /// The marker states the number of missing characters and, if there is room, the `note`.
    pub(super) fn new(total: usize, limit: usize, strategy: TruncationStrategy, note: &str) -> Self {
        Self::in_words(total, limit, strategy, note)
            .or_else(|| Self::in_words(total, limit, strategy, ""))
            .unwrap_or_else(|| Self::without_words(limit, strategy))
    }

    /// Decides on a cut with the number in the marker, if there is room.
    fn in_words(total: usize, limit: usize, strategy: TruncationStrategy, note: &str) -> Option<Self> {
        let mut missing = total.saturating_sub(limit);
        loop {
            let words = format!("... (truncated {missing} chars{note}) ...");
            let marker = match strategy {
                TruncationStrategy::Head => format!("\n{words}"),
                TruncationStrategy::Tail => format!("{words}\n"),
                TruncationStrategy::HeadTail => format!("\n{words}\n"),
            };
            let room = limit.checked_sub(marker.chars().count())?;
            let actual = total.saturating_sub(room);
            // A longer marker leaves less room, so `missing` may grow. It never shrinks, so the loop ends.
            if actual <= missing {
                let (head, tail) = match strategy {
                    TruncationStrategy::Head => (room, 0),
                    TruncationStrategy::Tail => (0, room),
                    TruncationStrategy::HeadTail => (room / 2, room - room / 2),
                };
                return Some(Self { head, tail, marker });
            }
            missing = actual;
        }
    }

    fn without_words(limit: usize, strategy: TruncationStrategy) -> Self {
        let marker = if limit == 0 { "" } else { "…" }.to_owned();
        let room = limit.saturating_sub(1);
        match strategy {
            TruncationStrategy::Tail => Self { head: 0, tail: room, marker },
            TruncationStrategy::Head | TruncationStrategy::HeadTail => Self { head: room, tail: 0, marker },
        }
    }

    pub(super) fn apply(&self, text: &str, total: usize) -> String {
        let before = text.get(..end_of(text, self.head)).unwrap_or_default();
        let after = text.get(end_of(text, total.saturating_sub(self.tail))..).unwrap_or_default();
        format!("{before}{}{after}", self.marker)
    }
}

fn end_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
