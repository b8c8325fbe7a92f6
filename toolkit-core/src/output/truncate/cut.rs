//! Where a text is cut, and the words that say so.

use super::TruncationStrategy;

/// The kept characters, counted over all pieces, and the marker in place of the others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    head: usize,
    tail: usize,
    marker: String,
}

impl Plan {
    /// A plan for `total` characters, of which `limit` may stay; the marker is among these. `note` is what
    /// the marker says beside the number, if there is room.
    pub(super) fn new(total: usize, limit: usize, strategy: TruncationStrategy, note: &str) -> Self {
        Self::in_words(total, limit, strategy, note)
            .or_else(|| Self::in_words(total, limit, strategy, ""))
            .unwrap_or_else(|| Self::without_words(limit, strategy))
    }

    /// `None` if the words have no room.
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
            // The number may have one digit more than was thought; it only grows.
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

    /// Returns the cut form of a piece of `length` characters after `start` of `total`; `None` if it is kept whole.
    pub(super) fn cut(&self, piece: &str, start: usize, length: usize, total: usize) -> Option<String> {
        let end = start + length;
        let front = self.head.saturating_sub(start).min(length);
        let back = end.saturating_sub(total.saturating_sub(self.tail)).min(length);
        if front + back >= length {
            return None;
        }
        let (before, after) = (end_of(piece, front), end_of(piece, length - back));
        let is_first_cut = start <= self.head && self.head < end;
        let marker = if is_first_cut { self.marker.as_str() } else { "" };
        let (before, after) = (piece.get(..before)?, piece.get(after..)?);
        Some(format!("{before}{marker}{after}"))
    }
}

/// The byte behind the first so many characters.
fn end_of(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
