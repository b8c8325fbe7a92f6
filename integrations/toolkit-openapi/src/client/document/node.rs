//! A place in a document, and the value there.

use serde_json::Value;

/// A value in a document, with its place as a JSON pointer.
#[derive(Debug, Clone)]
pub(crate) struct Node<'d> {
    pub(crate) value: &'d Value,
    pub(crate) place: String,
}

impl<'d> Node<'d> {
    pub(crate) fn get(&self, name: &str) -> Option<Self> {
        Some(Self { value: self.value.get(name)?, place: below(&self.place, name) })
    }

    pub(crate) fn members(&self, name: &str) -> Vec<(&'d str, Self)> {
        let Some(Self { value: Value::Object(members), place }) = self.get(name) else { return Vec::new() };
        let mut nodes = Vec::with_capacity(members.len());
        for (name, value) in members {
            nodes.push((name.as_str(), Self { value, place: below(&place, name) }));
        }
        nodes
    }

    pub(crate) fn items(&self, name: &str) -> Vec<Self> {
        let Some(Self { value: Value::Array(items), place }) = self.get(name) else { return Vec::new() };
        let items = items.iter().enumerate();
        items.map(|(index, value)| Self { value, place: format!("{place}/{index}") }).collect()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'d str> {
        self.value.get(name)?.as_str()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value.get(name) == Some(&Value::Bool(true))
    }
}

/// Returns the place of the member called `name` of the value at `place`.
pub(crate) fn below(place: &str, name: &str) -> String {
    let mut place = place.to_owned();
    push_below(&mut place, name);
    place
}

pub(super) fn push_below(place: &mut String, name: &str) {
    place.push('/');
    if name.contains(['~', '/']) {
        place.push_str(&name.replace('~', "~0").replace('/', "~1"));
    } else {
        place.push_str(name);
    }
}
