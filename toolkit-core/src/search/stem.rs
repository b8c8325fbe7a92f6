//! Stems: what the English forms of a word have in common.

/// Endings of verbs and their nouns. A word loses at most one.
const ENDINGS: [&str; 5] = ["ing", "ed", "er", "ion", "or"];

/// Words that say nothing about what a tool does, sorted.
const STOP_WORDS: &str = "a an and any are as at be been being but by can could did do does for from had has have \
    having he her hers him his how i if in into is it its just let like may me might more most my no not of on one or \
    our out over own please shall she should so some such than that the their them then there these they this those \
    to under up upon us was we were what when where which who whom whose why will with without would you your yours";

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split(' ').any(|stop| stop == word)
}

/// Returns `word`, in lowercase, without an English ending.
///
/// Stems are only compared, never shown. A word that only looks like another form loses its ending in the
/// index and the query alike, so it is still found. The verbs by which services name their four basic
/// operations have one stem each.
pub(super) fn stem(word: &str) -> &str {
    if word.len() <= 3 || !word.is_ascii() {
        return word;
    }
    match without_last_vowel(without_ending(singular(word))) {
        "show" => "list",
        "fetch" => "get",
        "creat" => "add",
        "delet" => "remov",
        "updat" | "edit" => "chang",
        stem => stem,
    }
}

/// Cuts a plural ending.
fn singular(word: &str) -> &str {
    if let Some(stem) = word.strip_suffix("ies")
        && stem.len() >= 2
    {
        return stem;
    }
    if let Some(stem) = word.strip_suffix("es")
        && stem.len() >= 2
        && stem.ends_with(['s', 'x', 'z', 'h'])
    {
        return stem;
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 2 && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

/// Cuts one of `ENDINGS`, and a consonant doubled before it: `merging` and `starred` become `merg` and
/// `star`.
fn without_ending(word: &str) -> &str {
    for ending in ENDINGS {
        let Some(stem) = word.strip_suffix(ending) else { continue };
        if stem.len() < 3 || !stem.contains(['a', 'e', 'i', 'o', 'u', 'y']) || stem.ends_with('e') {
            continue;
        }
        return match stem.as_bytes() {
            [_, .., a, b] if a == b && !b"lszf".contains(b) && stem.len() > 3 => &stem[..stem.len() - 1],
            _ => stem,
        };
    }
    word
}

/// Cuts the last letter if a word's forms differ in it: `city` and `cities`, `merge` and `merging`.
fn without_last_vowel(word: &str) -> &str {
    word.strip_suffix(['e', 'y', 'i']).filter(|stem| stem.len() >= 3).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        for forms in [
            "file files",
            "city cities",
            "box boxes",
            "match matches matching matched",
            "class classes",
            "follow follows follower followers following followed",
            "star stars starred starring",
            "merge merges merged merging",
            "commit commits committed committer committing",
            "reply replies replied",
            "translate translates translated translation translator",
            "activate activated activation",
            "list lists listing show shows",
            "get fetch fetching",
            "add adds adding create creating creation creator",
            "remove removed delete deletes deletion",
            "change changing update updated edit editing editor",
        ] {
            let mut stems: Vec<&str> = forms.split(' ').map(stem).collect();
            stems.dedup();
            assert_eq!(stems.len(), 1, "{forms}: {stems:?}");
        }
    }

    #[test]
    fn other_words_keep_their_ends() {
        for word in
            ["status", "analysis", "gas", "bus", "thing", "need", "user", "red", "über", "größer", "json"]
        {
            assert_eq!(stem(word), word);
        }
        assert_ne!(stem("process"), stem("procedure"));
        assert_ne!(stem("number"), stem("name"));
    }

    #[test]
    fn stop_words_are_whole_words() {
        assert!(["a", "which", "yours"].into_iter().all(is_stop_word));
        assert!(!["", " ", "star", "list", "whi"].into_iter().any(is_stop_word));
    }
}
