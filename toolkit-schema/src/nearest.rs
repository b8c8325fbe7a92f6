//! Names like a given one, for "did you mean" hints.

/// Similarity from which a name is offered.
const SIMILAR: f64 = 0.6;

/// Similarity of a name to one that it is a part of, as `read` is of `files-read`.
const PART: f64 = 0.7;

/// Longer names, in bytes, have no near ones.
const LONGEST: usize = 256;

/// Shorter parts, in bytes, are no hint.
const SHORTEST_PART: usize = 3;

/// Returns the names of `known` that are most like `name`, three at most, best first.
///
/// Letter case and separators do not count.
///
/// ```
/// let known = ["search_web", "read_file", "send_mail"];
/// assert_eq!(toolkit_schema::nearest("searchWeb", known), ["search_web"]);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = fold(name);
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (similarity(&wanted, &fold(known)), known))
        .filter(|(score, _)| *score >= SIMILAR)
        .collect();
    // Few typing mistakes are in the first letters.
    let same_start =
        |known: &str| wanted.chars().zip(fold(known).chars()).take_while(|(a, b)| a == b).count();
    scored.sort_by(|(a, x), (b, y)| {
        b.total_cmp(a).then_with(|| same_start(y).cmp(&same_start(x))).then_with(|| x.cmp(y))
    });
    // The same letters leave no doubt.
    let is_certain = scored.first().is_some_and(|(score, _)| *score >= 1.0);
    scored.truncate(if is_certain { 1 } else { 3 });
    scored.into_iter().map(|(_, known)| known).collect()
}

fn similarity(a: &str, b: &str) -> f64 {
    let shorter = a.len().min(b.len());
    let part = shorter >= SHORTEST_PART && (a.contains(b) || b.contains(a));
    strsim::normalized_damerau_levenshtein(a, b).max(if part { PART } else { 0.0 })
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
