//! Similar names, for "did you mean" hints.

/// The minimum similarity of a suggested name to the given name, from 0 to 1.
const SIMILAR: f64 = 0.6;

/// The similarity of two names if one contains the other, unless they are more similar anyway. For example,
/// `files-read` contains `read`.
const PART: f64 = 0.7;

/// The maximum length of a name in bytes. [`nearest`] suggests nothing for longer names.
const LONGEST: usize = 256;

/// The minimum length in bytes of a name contained in another name. Shorter names do not make the two names similar.
const SHORTEST_PART: usize = 3;

/// Returns up to three of the `known` names similar to `name`, best first.
///
/// The comparison ignores letter case and separators. If a known name is equal in this comparison, only this name is
/// returned. Returns no names if `name` is longer than 256 bytes.
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
    // Among equally similar names, prefer a name with the same first letters: mistakes at the start are rare.
    let same_start =
        |known: &str| wanted.chars().zip(fold(known).chars()).take_while(|(a, b)| a == b).count();
    scored.sort_by(|(a, x), (b, y)| {
        b.total_cmp(a).then_with(|| same_start(y).cmp(&same_start(x))).then_with(|| x.cmp(y))
    });
    // The name is correct except for letter case and separators, so it is the only suggestion.
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
