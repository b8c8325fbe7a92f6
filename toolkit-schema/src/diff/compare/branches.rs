//! The comparison of the branches of unions and of `allOf`.

use super::Comparison;
use crate::describe::describe_in;
use crate::diff::SchemaChangeKind::{Altered, Narrowed, Widened};
use crate::disjoint::are_disjoint;
use crate::effective::{Keywords, canonical};
use crate::reference::SchemaRef;
use serde_json::Value;
use std::collections::HashMap;

impl Comparison<'_> {
    pub(super) fn branches(&mut self, keyword: &str, old: &Keywords, new: &Keywords) {
        let is_all_of = keyword == "allOf";
        let came = |_| {
            if is_all_of {
                "more is demanded (`allOf`)".to_owned()
            } else {
                format!("only some variants are accepted now (`{keyword}`)")
            }
        };
        let went = |_| {
            if is_all_of {
                "less is demanded (`allOf`)".to_owned()
            } else {
                format!("the list of variants is gone (`{keyword}`)")
            }
        };
        let (old, new) = (old.get(keyword), new.get(keyword));
        let list =
            |branches: Option<&Value>| branches?.as_array().filter(|branches| !branches.is_empty()).cloned();
        let Some((before, after)) = self.both(list(old), list(new), came, went) else { return };
        let found = self.found.len();
        self.paired_branches(keyword, &before, &after);
        let are_disjoint = |root, branches: &[Value]| {
            let branches: Vec<_> = branches.iter().map(|branch| SchemaRef::new(root, branch)).collect();
            are_disjoint(&branches)
        };
        if keyword == "oneOf"
            && self.has_changed_since(found)
            && !(are_disjoint(self.old, &before) && are_disjoint(self.new, &after))
        {
            self.add(Altered, "a value may fit more than one variant (`oneOf`), or no longer");
        }
    }

    fn paired_branches(&mut self, keyword: &str, before: &[Value], after: &[Value]) {
        let mut equal: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, branch) in after.iter().enumerate().rev() {
            equal.entry(canonical(branch)).or_default().push(index);
        }
        let mut rest: Vec<Option<&Value>> = after.iter().map(Some).collect();
        let mut lost = Vec::new();
        for (index, branch) in before.iter().enumerate() {
            let at = equal.get_mut(&canonical(branch)).and_then(Vec::pop);
            match at.and_then(|at| rest.get_mut(at)?.take()) {
                // Equal branches may contain references to changed schemas.
                Some(other) => self.branch(keyword, index, branch, other),
                None => lost.push((index, branch)),
            }
        }
        let rest: Vec<&Value> = rest.into_iter().flatten().collect();
        if let ([(index, before)], [after]) = (lost.as_slice(), rest.as_slice()) {
            self.branch(keyword, *index, before, after);
            return;
        }
        let (fewer, more) = if keyword == "allOf" { (Widened, Narrowed) } else { (Narrowed, Widened) };
        let words = |root, branch: &Value| describe_in(root, branch).unwrap_or_else(|| branch.to_string());
        for (_, branch) in lost {
            self.add(fewer, format!("gone from `{keyword}`: {}", words(self.old, branch)));
        }
        for branch in rest {
            self.add(more, format!("new in `{keyword}`: {}", words(self.new, branch)));
        }
    }

    pub(super) fn branch(&mut self, keyword: &str, index: usize, old: &Value, new: &Value) {
        self.below(&[keyword, &index.to_string()], |this| this.schemas(old, new));
    }
}
