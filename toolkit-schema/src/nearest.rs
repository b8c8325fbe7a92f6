//! Similar names, for "did you mean" hints.

use crate::order::sort_by;

/// The minimum similarity of a suggested name to the given name, from 0 to 1.
const SIMILAR: f64 = 0.6;

/// The similarity of two names if one contains the other, unless they are more similar anyway. For example,
/// `files-read` contains `read`.
const PART: f64 = 0.7;

/// The maximum length of a name in bytes. [`nearest`] suggests nothing for longer names.
const LONGEST: usize = 256;

/// The minimum length in bytes of a name contained in another name. Shorter names do not make the two names similar.
const SHORTEST_PART: usize = 3;

/// The maximum number of known names that are compared letter by letter.
const COMPARED: usize = 1_000;

/// Returns up to three of the `known` names similar to `name`, best first.
///
/// The comparison ignores letter case and separators. If a known name is equal in this comparison, only this name is
/// returned. Among more than 1,000 known names, only those are compared that contain the name or have the most first
/// letters in common with it. Returns no names if `name` is longer than 256 bytes.
///
/// ```
/// let known = ["search_web", "read_file", "send_mail"];
/// assert_eq!(toolkit_schema::nearest("searchWeb", known), ["search_web"]);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    nearest_of(name, known.into_iter().collect())
}

fn nearest_of<'a>(name: &str, known: Vec<&'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = fold(name);
    // Mistakes at the start are rare: among equally similar names, one with the same first letters is preferred.
    let mut candidates = Vec::with_capacity(known.len());
    for known in known {
        let folded = fold(known);
        let same_start = wanted.chars().zip(folded.chars()).take_while(|(a, b)| a == b).count();
        candidates.push((contains(&folded, &wanted), same_start, folded, known));
    }
    if candidates.len() > COMPARED {
        sort_by(&mut candidates, |a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.3.cmp(b.3)));
        candidates.truncate(COMPARED);
    }
    let mut scored: Vec<(f64, usize, &str)> = Vec::new();
    for (contains, start, folded, known) in candidates {
        let similarity = strsim::normalized_damerau_levenshtein(&wanted, &folded);
        let score = similarity.max(if contains { PART } else { 0.0 });
        if score >= SIMILAR {
            scored.push((score, start, known));
        }
    }
    sort_by(&mut scored, |(a, start, x), (b, other, y)| {
        b.total_cmp(a).then(other.cmp(start)).then_with(|| x.cmp(y))
    });
    // The name is correct except for letter case and separators, so it is the only suggestion.
    let is_certain = scored.first().is_some_and(|(score, ..)| *score >= 1.0);
    scored.truncate(if is_certain { 1 } else { 3 });
    scored.into_iter().map(|(.., known)| known).collect()
}

/// Returns whether one name contains the other.
fn contains(a: &str, b: &str) -> bool {
    a.len().min(b.len()) >= SHORTEST_PART && (a.contains(b) || b.contains(a))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
