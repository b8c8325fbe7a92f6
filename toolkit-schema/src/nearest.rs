//! Similar names, for hints of "did you mean".

use crate::order::sort_by;

/// The minimum similarity of a suggested name, from 0 to 1.
const SIMILAR: f64 = 0.6;

/// The minimum similarity of two names if one contains the other, as `files-read` contains `read`.
const PART: f64 = 0.7;

/// The maximum length in bytes of a name that gets suggestions.
const LONGEST: usize = 256;

/// The minimum length in bytes of a contained name that makes two names similar.
const SHORTEST_PART: usize = 3;

/// The maximum number of names compared letter by letter.
const COMPARED: usize = 1_000;

/// Returns up to three of the `known` names similar to `name`, best first.
///
/// Letter case and separators do not count. A name that is otherwise equal is the only result. Among over
/// 1,000 known names, only those are compared that contain the name or share the most first letters. A `name`
/// longer than 256 bytes gets none.
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
    // Mistakes at the start are rare, so the same first letters are preferred.
    let mut candidates = Vec::with_capacity(known.len());
    for known in known {
        let folded = fold(known);
        let same_start = wanted.chars().zip(folded.chars()).take_while(|(a, b)| a == b).count();
        candidates.push((contains(&folded, &wanted), same_start, folded, known));
    }
    if candidates.len() > COMPARED {
        sort_by(&mut candidates, |a, b| (b.0, b.1, a.3).cmp(&(a.0, a.1, b.3)));
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
    sort_by(&mut scored, |a, b| b.0.total_cmp(&a.0).then((b.1, a.2).cmp(&(a.1, b.2))));
    // Only letter case and separators are wrong.
    let is_certain = scored.first().is_some_and(|(score, ..)| *score >= 1.0);
    scored.truncate(if is_certain { 1 } else { 3 });
    scored.into_iter().map(|(.., known)| known).collect()
}

fn contains(a: &str, b: &str) -> bool {
    a.len().min(b.len()) >= SHORTEST_PART && (a.contains(b) || b.contains(a))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
