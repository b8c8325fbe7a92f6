//! Sorting that a program contains once.
//!
//! The standard sort is compiled for each type and comparison, in about ten kilobytes. This one sorts
//! positions, so it is compiled once apart from moving items. A comparison costs a call.

use std::cmp::Ordering;

/// Sorts `items`, with equal ones in their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = positions(items.len(), &|one, other| compare(&items[one], &items[other]));
    for at in 0..items.len() {
        let mut from = order[at];
        // The item there has been swapped to another position.
        while from < at {
            from = order[from];
        }
        order[at] = from;
        items.swap(at, from);
    }
}

fn positions(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// Returns each name once, in order.
pub fn distinct<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    sort_names(&mut names);
    names.dedup();
    names
}

/// Sorts names.
pub fn sort_names(names: &mut [&str]) {
    sort_by(names, Ord::cmp);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_in_the_order_of_the_standard_sort(keys in prop::collection::vec(0_u8..20, 0..200)) {
            let mut items: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            sort_by(&mut items, |(one, _), (other, _)| one.cmp(other));
            prop_assert_eq!(items, expected);
        }
    }

    #[test]
    fn names_are_distinct_and_sorted() {
        assert_eq!(distinct(["b", "a", "b", "c", "a"]), ["a", "b", "c"]);
        assert_eq!(distinct([]), [""; 0]);
    }
}
