//! The values of a file.

/// A value with its byte offset in the file.
pub(crate) struct Node {
    pub(crate) offset: usize,
    pub(crate) tree: Tree,
}

pub(crate) enum Tree {
    Null,
    Flag(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
}

pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) offset: usize,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn kind(&self) -> &'static str {
        match self.tree {
            Tree::Null => "null",
            Tree::Flag(_) => "a boolean",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a string",
            Tree::List(_) => "a list",
            Tree::Table(_) => "an object",
        }
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.tree {
            Tree::Table(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> Option<&[Self]> {
        match &self.tree {
            Tree::List(items) => Some(items),
            _ => None,
        }
    }

    /// Numbers and booleans count as strings.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.tree {
            Tree::Text(text) | Tree::Number(text) => Some(text.clone()),
            Tree::Flag(flag) => Some(flag.to_string()),
            _ => None,
        }
    }

    pub(crate) fn flag(&self) -> Option<bool> {
        match self.tree {
            Tree::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.tree, Tree::Null)
    }

    /// Returns `true` for `false`, null, and nothing at all.
    pub(crate) fn is_off(&self) -> bool {
        match &self.tree {
            Tree::Null | Tree::Flag(false) => true,
            Tree::Text(text) => text.is_empty(),
            Tree::List(items) => items.is_empty(),
            Tree::Table(members) => members.is_empty(),
            Tree::Flag(true) | Tree::Number(_) => false,
        }
    }

    /// Returns the value behind a path of keys, such as `mcp/servers`; `.` is the value itself.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        let mut node = self;
        for key in path.split('/') {
            if key != "." {
                node = node.get(key)?;
            }
        }
        Some(node)
    }

    /// Returns whether both have the same values, in the same order.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.tree, &other.tree) {
            (Tree::List(own), Tree::List(items)) => {
                for (own, item) in own.iter().zip(items) {
                    if !own.is_same(item) {
                        return false;
                    }
                }
                own.len() == items.len()
            }
            (Tree::Table(own), Tree::Table(members)) => {
                for (own, member) in own.iter().zip(members) {
                    if own.key != member.key || !own.value.is_same(&member.value) {
                        return false;
                    }
                }
                own.len() == members.len()
            }
            (Tree::Null, Tree::Null) => true,
            _ => self.kind() == other.kind() && self.text() == other.text() && self.text().is_some(),
        }
    }

    /// Null is no value.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let found = self.members()?.iter().rfind(|member| member.key == key)?;
        if found.value.is_null() { None } else { Some(&found.value) }
    }
}

/// Returns the members with a value, each with whether a later one replaces it.
pub(crate) fn members_with_value(members: &[Member]) -> Vec<(bool, &Member)> {
    let mut with_value = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if !member.value.is_null() {
            let is_replaced = members[at + 1..].iter().any(|later| later.key == member.key);
            with_value.push((is_replaced, member));
        }
    }
    with_value
}
