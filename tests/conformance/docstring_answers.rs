//! Predicates on our reading of a docstring.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::known::Case;

pub(crate) fn named(name: &str) -> Option<fn(&Case<'_>) -> bool> {
    Some(match name {
        "theirs without blanks around" => theirs_without_blanks,
        "a beginning of theirs" => beginning_of_theirs,
        "theirs and a further paragraph" => theirs_and_a_paragraph,
        "the last word of their names" => last_word_of_their_names,
        "names with marks in the text" => names_with_marks,
        "names at the beginning of a line" => names_at_the_beginning,
        "an end of theirs" => end_of_theirs,
        "theirs and the next line" => theirs_and_the_next_line,
        "names under an underlined title" => names_under_a_title,
        _ => return None,
    })
}

fn theirs_without_blanks(case: &Case<'_>) -> bool {
    case.theirs.as_str().is_some_and(|theirs| *case.ours == theirs.trim())
}

/// Whether the texts of `[[name, text], …]` fit for each parameter.
fn texts_fit(case: &Case<'_>, fit: impl Fn(&str, &str) -> bool) -> bool {
    let theirs = case.theirs.as_array();
    let ours = case.ours.as_array();
    let (Some(theirs), Some(ours)) = (theirs, ours) else { return false };
    let mut pairs = theirs.iter().zip(ours);
    theirs.len() == ours.len()
        && pairs.all(|(theirs, ours)| {
            let texts = theirs[1].as_str().zip(ours[1].as_str());
            theirs[0] == ours[0] && texts.is_some_and(|(theirs, ours)| fit(theirs, ours))
        })
}

fn beginning_of_theirs(case: &Case<'_>) -> bool {
    texts_fit(case, |theirs, ours| {
        theirs.strip_prefix(ours).is_some_and(|rest| rest.is_empty() || rest.starts_with(" :"))
    })
}

fn theirs_and_a_paragraph(case: &Case<'_>) -> bool {
    texts_fit(case, |theirs, ours| {
        ours.strip_prefix(theirs).is_some_and(|rest| rest.is_empty() || rest.starts_with("\n\n"))
    })
}

fn end_of_theirs(case: &Case<'_>) -> bool {
    texts_fit(case, |theirs, ours| theirs.ends_with(ours))
}

fn theirs_and_the_next_line(case: &Case<'_>) -> bool {
    texts_fit(case, |theirs, ours| {
        let rest = ours.strip_prefix(theirs);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(' ') && lines(case).any(|line| rest.ends_with(line))
        })
    })
}

/// A line names each parameter, after marks, a field's name and a type.
fn names_at_the_beginning(case: &Case<'_>) -> bool {
    let named: BTreeSet<&str> = lines(case)
        .flat_map(|line| {
            let line = if line.starts_with([':', '@']) {
                line.split_once(' ').map_or("", |(_, rest)| rest)
            } else {
                line
            };
            let end = [": ", " - ", " – ", " — ", "："].into_iter().filter_map(|end| line.find(end)).min();
            line[..end.unwrap_or(line.len())].split([',', ' '])
        })
        .map(|name| name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let ours = names(case.ours);
    !ours.is_empty() && ours.is_subset(&named)
}

fn lines<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a str> {
    case.input["docstring"].as_str().unwrap_or_default().lines().map(str::trim)
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Ours are the last words before the colon of `:param`, theirs all.
fn last_word_of_their_names(case: &Case<'_>) -> bool {
    let fields = lines(case).filter_map(|line| line.strip_prefix(":param ")?.split_once(':'));
    let (whole, last): (BTreeSet<&str>, BTreeSet<&str>) =
        fields.filter_map(|(name, _)| Some((name, name.rsplit(' ').next()?))).unzip();
    match case.place.rsplit('.').next() {
        Some("only_ours") => names(case.ours) == last,
        _ => names(case.theirs) == whole && names(case.ours).is_empty(),
    }
}

fn names_with_marks(case: &Case<'_>) -> bool {
    let marked = |name: &&str| {
        lines(case).any(|line| {
            let bare = line.trim_start_matches(['*', '`', '-', '+', ' ']);
            bare.len() < line.len() && bare.starts_with(*name)
        })
    };
    let ours = names(case.ours);
    !ours.is_empty() && ours.iter().all(marked)
}

/// A line below the underline begins with each name.
fn names_under_a_title(case: &Case<'_>) -> bool {
    let below = lines(case).skip_while(|line| !line.starts_with("---")).skip(1);
    let listed: BTreeSet<&str> =
        below.flat_map(|line| line.split(':').next().unwrap_or_default().split(',')).map(str::trim).collect();
    let ours = names(case.ours);
    !ours.is_empty() && ours.is_subset(&listed)
}
