//! Finding the names that somebody probably meant.

/// The share of letters that two names must have in common before one is offered for the other.
const ALIKE: f64 = 0.6;

/// How alike a name is to one that it is a part of, as `read` is of `files-read`.
const PART: f64 = 0.7;

/// A longer name was not meant for any other.
const LONGEST: usize = 256;

/// A shorter part says nothing.
const SHORTEST_PART: usize = 3;

/// The at most three names of `known` that are most like `name`, best first.
///
/// Letter case and the kind of separator do not count.
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
        .map(|known| (likeness(&wanted, &fold(known)), known))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    // The same letters leave no doubt.
    let certain = scored.first().is_some_and(|(score, _)| *score >= 1.0);
    scored.truncate(if certain { 1 } else { 3 });
    scored.into_iter().map(|(_, known)| known).collect()
}

fn likeness(a: &str, b: &str) -> f64 {
    let shorter = a.len().min(b.len());
    let part = shorter >= SHORTEST_PART && (a.contains(b) || b.contains(a));
    strsim::normalized_damerau_levenshtein(a, b).max(if part { PART } else { 0.0 })
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
