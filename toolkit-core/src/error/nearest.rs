//! Finding the names that somebody probably meant.

/// How alike two names must be (Jaro-Winkler, 0 to 1) before one is offered for the other.
const ALIKE: f64 = 0.8;

/// The at most three names of `known` that are most like `name`, best first.
///
/// Letter case and the kind of separator do not count.
///
/// ```
/// let known = ["search_web", "read_file", "send_mail"];
/// assert_eq!(toolkit_core::nearest("searchWeb", known), ["search_web"]);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = fold(name);
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&wanted, &fold(known)), known))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    scored.truncate(3);
    scored.into_iter().map(|(_, known)| known).collect()
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
